import type { Position } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import { isResource } from '../../kinds/lookup.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { sameId } from '../../lib/same-id.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import type { Before } from './duplicate-keys.ts'
import { endpointIn, serviceIdentities, type ServiceIs } from './service-identity.ts'

/** What a key asks for in this reading: by a valid manifest, or by its last valid one while that has errors or cannot be read. */
export interface Wish {
  readonly key: Key
  readonly manifest: ResourceManifest
  readonly position: Position
  /** Undefined: it cannot be read, and nothing can be said of it. */
  readonly document: ParsedDocument | undefined
}

/** How surely something was somebody's: the ledger says so, the reading before did, or nothing does. */
type Had = 'recorded' | 'before' | undefined

/** What stands in a reading: only that claims anything. */
export interface Standing {
  readonly wishes: readonly Wish[]
  /** Which service a name means: its ids, or the name itself where no manifest says them. */
  readonly serviceIs: ServiceIs
  hadEndpoint(wish: Wish): Had
  hadPipe(key: Key, id: string): Had
  /** Whether the ledger names a pipe of it: no Lock says anything new about that. */
  hasPipe(key: Key): boolean
}

/**
 * @param documents those that have their key
 * @param held keys whose manifests cannot be read now
 */
export function standingIn(
  documents: readonly ParsedDocument[],
  before: Before,
  {
    isInvalid,
    held,
  }: { readonly isInvalid: (document: ParsedDocument) => boolean; readonly held: ReadonlySet<Key> },
): Standing {
  const byKey = new Map<Key, Wish>()
  for (const document of documents) {
    const { key, manifest, position } = document
    if (key === undefined || byKey.has(key)) continue
    const wanted =
      isResource(manifest) && !isInvalid(document) ? manifest : before.catalog.entries.get(key)?.manifest
    if (wanted !== undefined) byKey.set(key, { key, manifest: wanted, position, document })
  }
  for (const key of held) {
    const entry = before.catalog.entries.get(key)
    if (entry?.manifest !== undefined)
      byKey.set(key, { key, manifest: entry.manifest, position: entry.position, document: undefined })
  }
  const wishes = [...byKey.values()]
  const serviceIs = serviceIdentities(wishes.map(({ manifest }) => manifest))
  return {
    wishes,
    serviceIs,
    hadEndpoint({ key, manifest }) {
      const service = serviceIs(serviceOf(manifest) ?? '')
      if (before.recorded.get(key)?.endpointOf === service) return 'recorded'
      return before.endpoints.get(endpointIn(manifest, serviceIs)) === key ? 'before' : undefined
    },
    hadPipe(key, id) {
      if (sameId(id, before.recorded.get(key)?.pipeId)) return 'recorded'
      const { entries, locks } = before.catalog
      const adopted = entries.get(key)?.manifest?.policy?.adopt
      return sameId(id, adopted) || sameId(id, locks.get(key)) ? 'before' : undefined
    },
    hasPipe: (key) => before.recorded.get(key)?.pipeId !== undefined,
  }
}

/** The one that had something before all others of a group; undefined where that is none, or several. */
export function firstOf<T>(group: readonly T[], had: (item: T) => Had): T | undefined {
  const claims = group.map((item) => ({ item, claim: had(item) }))
  for (const wanted of ['recorded', 'before'] as const) {
    const having = claims.filter(({ claim }) => claim === wanted)
    if (having.length > 0) return having.length === 1 ? having[0]?.item : undefined
  }
  return undefined
}
