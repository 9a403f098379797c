import type { Position } from '../../kinds/finding.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import { isResource } from '../../kinds/lookup.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { sameId } from '../../lib/same-id.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { Before } from './duplicate-keys.ts'
import { endpointIn, isUpserted, serviceIdentities, type ServiceIs } from './service-identity.ts'

/** What a key asks for in this reading: by a valid manifest, or by its last valid one while that has errors or cannot be read. */
export interface Wish {
  readonly key: Key
  readonly manifest: ResourceManifest
  readonly position: Position
  /** Undefined: it cannot be read, and nothing can be said of it. */
  readonly document: ParsedDocument | undefined
}

/** A key that has the query endpoint of a service, or asks for it. */
export interface EndpointClaim extends Pick<Wish, 'key' | 'position' | 'document'> {
  /** As {@link endpointIn}. */
  readonly endpoint: string
  /** Its manifest was not found by the last reading or two. */
  readonly isAway: boolean
}

/** What speaks for something being somebody's. Each outweighs all that follow: their sum says how surely it is. */
const CLAIM = {
  /** The ledger says so. */
  recorded: 4,
  /** It may be what was made for whoever names it, says the ledger. */
  awaited: 2,
  /** The reading before said so. */
  before: 1,
} as const

/** What stands in a reading: only that claims anything. */
export interface Standing {
  readonly wishes: readonly Wish[]
  /** Which service a name means: its ids, or the name itself where no manifest says them. */
  readonly serviceIs: ServiceIs
  /** Also those of manifests that say nothing now: they cannot be read, or were not found by the last reading or two. */
  readonly endpoints: readonly EndpointClaim[]
  /** How surely: a sum of {@link CLAIM}. */
  hadEndpoint(claim: EndpointClaim): number
  hadPipe(key: Key, id: string): number
  /** Whether the ledger names a pipe of it: no Lock says anything new about that. */
  hasPipe(key: Key): boolean
}

/**
 * @param documents those that have their key
 * @param held keys whose manifests cannot be read now
 * @param pending keys that were not found, by fewer than three readings in a row
 */
export function standingIn(
  documents: readonly ParsedDocument[],
  before: Before,
  {
    isInvalid,
    held,
    pending,
  }: {
    readonly isInvalid: (document: ParsedDocument) => boolean
    readonly held: ReadonlySet<Key>
    readonly pending: ReadonlySet<Key>
  },
): Standing {
  const byKey = new Map<Key, Wish>()
  for (const document of documents) {
    const { key, manifest, position } = document
    if (key === undefined || byKey.has(key)) continue
    const wanted =
      isResource(manifest) && !isInvalid(document) ? manifest : before.catalog.entries.get(key)?.manifest
    if (wanted !== undefined) byKey.set(key, { key, manifest: wanted, position, document })
  }
  for (const wish of remembered(held, before)) byKey.set(wish.key, wish)
  const wishes = [...byKey.values()]
  // What is not found for a moment asks for nothing, and keeps what it has.
  const all = [...wishes, ...remembered(pending, before).filter(({ key }) => !byKey.has(key))]
  const serviceIs = serviceIdentities(all.map(({ manifest }) => manifest))
  const unsaid = [...documents, ...[...held, ...pending].map((key) => ({ key }))]
  return {
    wishes,
    serviceIs,
    endpoints: endpointClaims({ all, unsaid, pending, serviceIs }, before),
    hadEndpoint({ key, endpoint }) {
      const recorded = recordedEndpoint(key, before) === endpoint ? CLAIM.recorded : 0
      return recorded + (before.endpoints.get(endpoint) === key ? CLAIM.before : 0)
    },
    hadPipe(key, id) {
      const record = before.recorded.get(key)
      const { entries, locks } = before.catalog
      const adopted = entries.get(key)?.manifest?.policy?.adopt
      const isRecorded = sameId(id, record?.pipeId)
      const wasNamed = sameId(id, adopted) || sameId(id, locks.get(key))
      return (
        (isRecorded ? CLAIM.recorded : 0) +
        (record?.isAwaiting === true ? CLAIM.awaited : 0) +
        (wasNamed ? CLAIM.before : 0)
      )
    },
    hasPipe: (key) => before.recorded.get(key)?.pipeId !== undefined,
  }
}

/** What keys asked for that say nothing now, as far as this process knows it. */
function remembered(keys: ReadonlySet<Key>, { catalog }: Before): readonly Wish[] {
  return [...keys].flatMap((key) => {
    const entry = catalog.entries.get(key)
    return entry?.manifest === undefined
      ? []
      : [{ key, manifest: entry.manifest, position: entry.position, document: undefined }]
  })
}

/** The endpoint that a key configured last. */
function recordedEndpoint(key: Key, { recorded }: Before): string | undefined {
  const service = recorded.get(key)?.endpointOf
  return service === undefined ? undefined : `${kindOf(key)} ${service}`
}

/**
 * @param from `unsaid`: keys of which there is no valid manifest, and never was one in this process; those that are in `all`, too.
 * What the ledger says of them is all there is.
 */
function endpointClaims(
  from: Pick<Standing, 'serviceIs'> & {
    readonly all: readonly Wish[]
    readonly pending: ReadonlySet<Key>
    readonly unsaid: readonly Partial<Pick<ParsedDocument, 'key' | 'position'>>[]
  },
  before: Before,
): readonly EndpointClaim[] {
  const claims = new Map<Key, EndpointClaim>()
  for (const { key, manifest, position, document } of from.all) {
    if (!isUpserted(manifest)) continue
    const service = serviceOf(manifest) ?? ''
    // Where no manifest says which service that is, the ledger does.
    const known = from.serviceIs(service) === service ? recordedEndpoint(key, before) : undefined
    const endpoint = known ?? endpointIn(manifest, from.serviceIs)
    claims.set(key, { key, position, document, endpoint, isAway: from.pending.has(key) })
  }
  for (const { key, position } of from.unsaid) {
    const endpoint = key && recordedEndpoint(key, before)
    if (key === undefined || endpoint === undefined || claims.has(key)) continue
    const file = before.recorded.get(key)?.file ?? ''
    const place = position ?? { file, line: 1, column: 1 }
    claims.set(key, { key, position: place, document: undefined, endpoint, isAway: from.pending.has(key) })
  }
  return [...claims.values()]
}

/** The one that had something before all others of a group; undefined where that is none, or several. */
export function firstOf<T>(group: readonly T[], had: (item: T) => number): T | undefined {
  const claims = group.map((item) => ({ item, weight: had(item) }))
  const most = claims.reduce((known, { weight }) => Math.max(known, weight), 0)
  const having = most === 0 ? [] : claims.filter(({ weight }) => weight === most)
  return having.length === 1 ? having[0]?.item : undefined
}
