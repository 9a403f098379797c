import type { CreateOnceKind } from '../../kinds/definition.ts'
import { kindOf, nameOf, type Key } from '../../kinds/key.ts'
import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { Entry } from '../../contract/catalog.ts'
import type { StateStore } from './store.ts'

type Known = Pick<StateStore, 'catalog' | 'records' | 'record' | 'service' | 'lifecycleOf'>

/** Whose the pipes of a list are. */
export interface HeldPipes {
  /** The key of a record, a manifest or a Lock that names the pipe. */
  namedBy(id: string): Key | undefined
  /** A key that has no pipe yet, and may get this one: it asks for a pipe of that name, or its create may have made this one. */
  wantedBy(pipe: Pick<RemoteResource, 'name'>, serviceId: string): Key | undefined
}

/**
 * As it is known now: records, then manifests, then Locks. A Lock counts for a key that has a manifest.
 * @param kind the one that they are of
 */
export function heldPipes(store: Known, { name: kind }: Pick<CreateOnceKind, 'name'>): HeldPipes {
  const ids = new Map<string, Key>()
  const names = new Map<string, Key>()
  const hold = (id: string | undefined, key: Key) => {
    if (id !== undefined && !ids.has(id.toLowerCase())) ids.set(id.toLowerCase(), key)
  }
  const want = (wish: Wish | undefined, key: Key) => {
    if (wish !== undefined && !names.has(nameIn(wish))) names.set(nameIn(wish), key)
  }
  for (const record of store.records()) {
    if (kindOf(record.key) !== kind) continue
    hold(record.remote?.id, record.key)
    hold(record.former?.remote.id, record.key)
    want(underWay(record), record.key)
  }
  for (const entry of store.catalog?.entries.values() ?? []) {
    if (kindOf(entry.key) !== kind) continue
    hold(watchedId(entry), entry.key)
    if (store.lifecycleOf(entry.key) !== 'create-once') continue
    hold(entry.manifest?.policy?.adopt, entry.key)
    hold(store.catalog?.locks.get(entry.key), entry.key)
    want(wishOf(store, entry), entry.key)
  }
  return {
    namedBy: (id) => ids.get(id.toLowerCase()),
    wantedBy: ({ name }, serviceId) =>
      typeof name === 'string'
        ? (names.get(nameIn({ name, serviceId })) ?? names.get(nameIn({ name, serviceId: undefined })))
        : undefined,
  }
}

/** What a manifest only looks at has a manifest, too. */
function watchedId({ manifest }: Entry): string | undefined {
  const id = manifest?.spec['id']
  return typeof id === 'string' ? id : undefined
}

/** A pipe by its name there. */
interface Wish {
  readonly name: string
  /** Undefined: nobody knows which. */
  readonly serviceId: string | undefined
}

function nameIn({ name, serviceId }: Wish): string {
  return `${serviceId?.toLowerCase() ?? ''} ${name}`
}

/** What a create that is under way, or of unknown outcome, may have made. */
function underWay(record: LedgerRecord): Wish | undefined {
  if (undecidedIntent(record) === undefined) return undefined
  return { name: record.platformName ?? nameOf(record.key), serviceId: record.service?.serviceId }
}

/** What a manifest asks for that has no pipe yet; of one that was never valid, only the name is known. */
function wishOf(store: Known, { key, manifest, stated }: Entry): Wish | undefined {
  const isNamed = manifest?.policy?.adopt !== undefined || store.catalog?.locks.has(key) === true
  if (isNamed || store.record(key)?.remote !== undefined) return undefined
  if (manifest === undefined) return { name: nameOf(key), serviceId: serviceIdOf(store, stated?.service) }
  return isCreateOnce(manifest)
    ? { name: remoteNameOf(manifest), serviceId: serviceIdOf(store, serviceOf(manifest)) }
    : undefined
}

function serviceIdOf(store: Known, service: string | undefined): string | undefined {
  return service === undefined ? undefined : store.service(service)?.spec.serviceId
}
