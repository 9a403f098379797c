import type { CreateOnceKind } from '../../kinds/definition.ts'
import { kindOf, nameOf, type Key } from '../../kinds/key.ts'
import { isCreateOnce, remoteNameOf } from '../../kinds/lookup.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { Entry } from '../../contract/catalog.ts'
import type { StateStore } from './store.ts'

export function pipeOwners(store: StateStore, { name: kind }: Pick<CreateOnceKind, 'name'>) {
  const ids = new Map<string, Key>()
  const names = new Map<string, Key>()
  const hold = (id: string | undefined, key: Key) => {
    if (id !== undefined && !ids.has(id.toLowerCase())) ids.set(id.toLowerCase(), key)
  }
  const want = (pipe: PipeName | undefined, key: Key) => {
    if (pipe !== undefined && !names.has(nameIn(pipe))) names.set(nameIn(pipe), key)
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
    hold(store.lockedId(entry.key), entry.key)
    want(pipeNameOf(store, entry), entry.key)
  }
  return {
    namedBy: (id: string) => ids.get(id.toLowerCase()),
    /** The key without a pipe that wants this name, or whose create of unknown outcome used it. */
    wantedBy: ({ name }: Pick<RemoteResource, 'name'>, serviceId: string) =>
      typeof name === 'string'
        ? (names.get(nameIn({ name, serviceId })) ?? names.get(nameIn({ name, serviceId: undefined })))
        : undefined,
  }
}

function watchedId({ manifest }: Entry): string | undefined {
  const id = manifest?.spec['id']
  return typeof id === 'string' ? id : undefined
}

interface PipeName {
  readonly name: string
  readonly serviceId: string | undefined
}

function nameIn({ name, serviceId }: PipeName): string {
  return `${serviceId?.toLowerCase() ?? ''} ${name}`
}

/** The pipe that a create in flight or with an unknown outcome might make. */
function underWay(record: LedgerRecord): PipeName | undefined {
  if (undecidedIntent(record) === undefined) return undefined
  return { name: record.platformName ?? nameOf(record.key), serviceId: record.service?.serviceId }
}

function pipeNameOf(store: StateStore, { key, manifest, stated }: Entry): PipeName | undefined {
  const isNamed = manifest?.policy?.adopt !== undefined || store.lockedId(key) !== undefined
  if (isNamed || store.record(key)?.remote !== undefined) return undefined
  if (manifest === undefined) return { name: nameOf(key), serviceId: serviceIdOf(store, stated?.service) }
  return isCreateOnce(manifest)
    ? { name: remoteNameOf(manifest), serviceId: serviceIdOf(store, serviceOf(manifest)) }
    : undefined
}

function serviceIdOf(store: StateStore, service: string | undefined): string | undefined {
  return service === undefined ? undefined : store.service(service)?.spec.serviceId
}
