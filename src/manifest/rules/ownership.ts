import type { Path, Position, Statement } from '../../kinds/finding.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import type { Catalog } from '../../contract/catalog.ts'
import { isResource, isUpserted } from '../../kinds/lookup.ts'
import { asService, serviceIdentity } from '../../kinds/service/kind.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { sameId } from '../../lib/same-id.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { RELATED, groupsOf, othersIn, type CrossReport } from './cross-finding.ts'
import type { Before } from './duplicate-keys.ts'

/** The manifest of a key. For a broken or unreadable document, it is the last valid manifest. */
interface KnownManifest {
  readonly key: Key
  readonly manifest: ResourceManifest
  readonly position: Position
  readonly document: ParsedDocument | undefined
}

const SERVICE: Path = ['spec', 'service']

export interface OwnershipClaim extends Omit<KnownManifest, 'manifest'> {
  /** Id of the pipe, or name of the endpoint. */
  readonly id: string
  readonly path: Path
  readonly isAway?: boolean
}

/** Evidence that a key is the owner. Each weight is more than all smaller weights together. */
const CLAIM = {
  recorded: 4,
  /** A create for this key has an unknown outcome, and might have made the object. */
  awaited: 2,
  before: 1,
} as const

export type OwnershipEvidence = ReturnType<typeof ownershipEvidence>

/**
 * @param documents documents that own their key
 * @param held keys in unreadable files
 * @param pending keys missing in fewer than three readings in a row
 */
export function ownershipEvidence(
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
) {
  const byKey = new Map<Key, KnownManifest>()
  for (const document of documents) {
    const { key, manifest, position } = document
    if (key === undefined || byKey.has(key)) continue
    const wanted =
      isResource(manifest) && !isInvalid(document) ? manifest : before.catalog.entries.get(key)?.manifest
    if (wanted !== undefined) byKey.set(key, { key, manifest: wanted, position, document })
  }
  for (const manifest of remembered(held, before)) byKey.set(manifest.key, manifest)
  const manifests = [...byKey.values()]
  const all = [...manifests, ...remembered(pending, before).filter(({ key }) => !byKey.has(key))]
  const serviceIs = serviceIdentities(all.map(({ manifest }) => manifest))
  const unsaid = [...documents, ...[...held, ...pending].map((key) => ({ key }))]
  return {
    manifests,
    serviceIs,
    /** Includes unreadable manifests, and manifests missing in fewer than three readings in a row. */
    endpoints: endpointClaims({ all, unsaid, pending, serviceIs }, before),
    /** Evidence that the key had the endpoint before: a sum of {@link CLAIM}. */
    hadEndpoint: ({ key, id: endpoint }: OwnershipClaim) => {
      const recorded = recordedEndpoint(key, before) === endpoint ? CLAIM.recorded : 0
      return recorded + (before.endpoints.get(endpoint) === key ? CLAIM.before : 0)
    },
    hadPipe: ({ key, id }: OwnershipClaim) => {
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
    hasPipe: (key: Key) => before.recorded.get(key)?.pipeId !== undefined,
  }
}

function remembered(keys: ReadonlySet<Key>, { catalog }: Before): readonly KnownManifest[] {
  return [...keys].flatMap((key) => {
    const entry = catalog.entries.get(key)
    return entry?.manifest === undefined
      ? []
      : [{ key, manifest: entry.manifest, position: entry.position, document: undefined }]
  })
}

function recordedEndpoint(key: Key, { recorded }: Before): string | undefined {
  const service = recorded.get(key)?.endpointOf
  return service === undefined ? undefined : `${kindOf(key)} ${service}`
}

function endpointClaims(
  from: {
    readonly serviceIs: ServiceIs
    readonly all: readonly KnownManifest[]
    readonly pending: ReadonlySet<Key>
    readonly unsaid: readonly Partial<Pick<ParsedDocument, 'key' | 'position'>>[]
  },
  before: Before,
): readonly OwnershipClaim[] {
  const claims = new Map<Key, OwnershipClaim>()
  for (const { key, manifest, position, document } of from.all) {
    if (!isUpserted(key)) continue
    const service = serviceOf(manifest) ?? ''
    const known = from.serviceIs(service) === service ? recordedEndpoint(key, before) : undefined
    const id = known ?? endpointIn(manifest, from.serviceIs)
    claims.set(key, { key, position, document, id, path: SERVICE, isAway: from.pending.has(key) })
  }
  for (const { key, position } of from.unsaid) {
    const id = key && recordedEndpoint(key, before)
    if (key === undefined || id === undefined || claims.has(key)) continue
    const file = before.recorded.get(key)?.file ?? ''
    const place = position ?? { file, line: 1, column: 1 }
    const isAway = from.pending.has(key)
    claims.set(key, { key, position: place, document: undefined, id, path: SERVICE, isAway })
  }
  return [...claims.values()]
}

export interface Contradiction {
  readonly same: 'id' | 'key'
  readonly other: 'id' | 'key'
  readonly code: Statement['code']
  /** @param about `holder`: the claim that stays valid. `named`: all claimed keys or ids */
  readonly wordsOn: (
    claim: OwnershipClaim,
    about: { readonly holder: OwnershipClaim | undefined; readonly named: ReadonlySet<string> },
  ) => Pick<Statement, 'message' | 'hint'>
  readonly related: (claim: OwnershipClaim) => string
}

/**
 * Reports claims that contradict each other, such as two keys with one pipe id.
 * @returns the claims without the most evidence
 */
export function refusedClaims(
  { same, other, code, wordsOn, related }: Contradiction,
  claims: readonly OwnershipClaim[],
  evidence: (claim: OwnershipClaim) => number,
  report: CrossReport,
): ReadonlySet<OwnershipClaim> {
  const refused = new Set<OwnershipClaim>()
  for (const [, group] of groupsOf(claims, (claim) => claim[same])) {
    const named = new Set<string>(group.map((claim) => claim[other]))
    if (named.size < 2) continue
    const first = firstOf([...Map.groupBy(group, (claim) => claim[other]).values()], ([claim]) =>
      claim === undefined ? 0 : evidence(claim),
    )
    const holder = first?.[0]
    const othersOf = first === undefined ? othersIn(group, (claim) => claim[other]) : () => first
    for (const claim of group) {
      const { document, path } = claim
      if (claim[other] === holder?.[other]) continue
      refused.add(claim)
      if (document === undefined) continue
      report.add({ document, path, severity: 'error', code }, () => ({
        ...wordsOn(claim, { holder, named }),
        others: othersOf(claim)
          .slice(0, RELATED)
          .map((one) => ({ document: one.document, path: one.path, message: related(one) })),
      }))
    }
  }
  return refused
}

/** The item with the most evidence. Undefined: no evidence, or a tie. */
function firstOf<T>(group: readonly T[], had: (item: T) => number): T | undefined {
  const claims = group.map((item) => ({ item, weight: had(item) }))
  const most = claims.reduce((known, { weight }) => Math.max(known, weight), 0)
  const having = most === 0 ? [] : claims.filter(({ weight }) => weight === most)
  return having.length === 1 ? having[0]?.item : undefined
}

/** @returns the ids of the Service with this name, or the name if there is no such Service */
export type ServiceIs = (name: string) => string

function serviceIdentities(manifests: Iterable<ResourceManifest>): ServiceIs {
  const identities = new Map<string, string>()
  for (const manifest of manifests) {
    const service = asService(manifest)
    if (service === undefined) continue
    identities.set(service.metadata.name, serviceIdentity(service.spec))
  }
  return (name) => identities.get(name) ?? name
}

function endpointIn(manifest: ResourceManifest, serviceIs: ServiceIs): string {
  return `${manifest.kind} ${serviceIs(serviceOf(manifest) ?? '')}`
}

export function endpointsIn({ entries }: Catalog): ReadonlyMap<string, Key> {
  const manifests = [...entries.values()].flatMap(({ manifest }) => manifest ?? [])
  const serviceIs = serviceIdentities(manifests)
  const upserted = [...entries.values()].flatMap(({ key, manifest }) =>
    manifest !== undefined && isUpserted(key) ? [[endpointIn(manifest, serviceIs), key] as const] : [],
  )
  return new Map(upserted)
}
