import { viewMessage } from '../support/messages.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import { keyOf, type Key } from '../../src/kinds/key.ts'
import type { Policy } from '../../src/kinds/manifest.ts'
import { planMessage } from '../../src/contract/plan.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import type { Way } from '../../src/kinds/changes.ts'
import type { Looks } from '../../src/contract/platform.ts'
import type { Event } from '../../src/contract/events.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { BASE } from './ask.ts'
import type { PlatformOptions } from '../../src/platform/clients.ts'
import { withAt } from './edits.ts'
import { Killed, manifestOf, newLedger, reach, SERVICE, settled, startAround, startProcess } from './reach.ts'
import { withRefs } from './refs.ts'
import type { Interfere } from './strict-wire.ts'
import type { Seen, StrictOptions } from './strict-server.ts'

/* The client, with a manifest of one resource, against the strict server: in this process, so that hundreds of edits take no time. */

const NAMES = { Pipe: 'edited', Alert: 'lag', QueryEndpoint: 'analytics' } as const

const NOWHERE = '00000000-0000-4000-8000-000000000000'
const SERVICES = {
  there: { 'service.json': SERVICE },
  broken: { 'service.json': { ...SERVICE, spec: {} } },
  elsewhere: {
    'service.json': { ...SERVICE, spec: { ...SERVICE.spec, organizationId: NOWHERE, serviceId: NOWHERE } },
  },
  gone: {},
} as const
export type ServiceIs = keyof typeof SERVICES

export interface KillPlace {
  readonly way: Way | 'state' | 'delete' | 'upsert'
  readonly when: 'before' | 'after'
  readonly nth?: number
}

export type Client = Awaited<ReturnType<typeof startEmpty>>

/** With a pipe of this body, which it made itself and found in sync. */
export async function startClient(body: JsonObject, options: Partial<StrictOptions> = {}): Promise<Client> {
  const client = await startEmpty('Pipe', options)
  await client.want(body)
  await client.settle()
  client.changes()
  return client
}

/** Without a manifest so far. */
export async function startEmpty(
  kind: keyof typeof NAMES,
  options: Partial<StrictOptions> = {},
  limits: Partial<PlatformOptions> = {},
) {
  const ownKey = keyOf(kind, NAMES[kind])
  const { asker, time, http, ledger: first } = await startAround(options)
  const { server } = asker
  const { client, mounted, shared: common } = reach(http.url, time, limits)
  const events: Event[] = []
  let ledger = first
  let before: (() => void | Promise<void>) | undefined
  let kill: (KillPlace & { readonly nth: number }) | undefined
  const dead = new WeakSet<object>()
  /** A request that a process may end before or after, and that something may come before. */
  async function mortal<Made, Done>(
    way: KillPlace['way'],
    make: (looks: Looks) => Promise<Made>,
    send: (made: (looks: Looks) => Promise<Made>) => Promise<Done>,
  ): Promise<Done> {
    const killed = (when: KillPlace['when']) => {
      if (kill?.way !== way || kill.when !== when) return
      kill = kill.nth > 1 ? { ...kill, nth: kill.nth - 1 } : undefined
      if (kill !== undefined) return
      dead.add(process)
      throw new Killed()
    }
    killed('before')
    const done = await send(async (looks) => {
      const act = before
      before = undefined
      await act?.()
      return make(looks)
    })
    killed('after')
    return done
  }
  const shared: Omit<ReconcileContext, 'store' | 'ledger'> = {
    ...common,
    platform: {
      ...client,
      change: (target, makeBody, readOptions) =>
        mortal(target.way, makeBody, (made) => client.change(target, made, readOptions)),
      remove: (target, check, readOptions) =>
        mortal('delete', check, (checked) => client.remove(target, checked, readOptions)),
      upsert: (of, service, makeBody, readOptions) =>
        mortal('upsert', makeBody, (made) => client.upsert(of, service, made, readOptions)),
    },
    emit: (event) => void events.push(event),
  }
  let olderThan: string | undefined
  async function begin(): Promise<Awaited<ReturnType<typeof startProcess>>> {
    const its = ledger
    // What a process does after its end writes nothing.
    const swap = async (...asked: Parameters<Ledger['swap']>) => {
      if (dead.has(begun)) throw new Killed()
      return its.swap(...asked)
    }
    const mine = Object.assign(Object.create(its) as Ledger, { swap }) // all else is that ledger's
    const begun = await startProcess({ ...shared, ledger: mine }, () => olderThan)
    return begun
  }
  let process = await begin()
  let seenBefore = 0
  let manifest: JsonObject | undefined
  const more = new Map<string, JsonObject>()
  let itsService: ServiceIs = 'there'

  const read = () =>
    process.read({
      ...Object.fromEntries(more),
      ...(manifest && { 'own.json': manifest }),
      ...SERVICES[itsService],
    })
  const recordOf = (key: Key = ownKey): LedgerRecord | undefined => process.context.store.record(key)
  const asked = () => {
    const seen = server.seen().slice(seenBefore)
    seenBefore += seen.length
    return seen
  }
  const id = () => recordOf()?.remote?.id ?? ''
  /** As the service has it now. */
  const body = () =>
    ({
      Pipe: server.pipes().get(id()),
      Alert: server.alerts().find((alert) => alert['id'] === id()),
      QueryEndpoint: server.endpoint(),
    })[kind]
  let wanted: JsonObject = {}

  return {
    ...asker,
    key: ownKey,
    /** The manifest asks for this body from now on, or for the last one. */
    async want(next = wanted, policy?: Policy) {
      wanted = next
      const { spec, secrets: refs } = withRefs(wanted)
      for (const { name, key, text } of refs) mounted.set(`${name}/${key}`, text)
      manifest = manifestOf(kind, NAMES[kind], { spec, policy })
      const wrong = await read()
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
    },
    /** The manifest is not valid from now on. */
    async spoil() {
      manifest = { ...manifest, spec: { service: 'analytics', source: 'nonsense' } }
      await read()
    },
    /** The manifest of its service is gone, has errors, leads to another one, or is there again. */
    async service(is: ServiceIs) {
      itsService = is
      await read()
    },
    /** There is no manifest from now on, and three readings agree. */
    async remove() {
      manifest = undefined
      for (let count = 0; count < 3; count += 1) await read()
    },
    /** Another process goes on with the same manifests and ledger, or with an empty one; whatever was in memory is gone. */
    async restart(is?: 'lost') {
      if (is === 'lost') ledger = newLedger()
      process = await begin()
      await read()
    },
    bodies: () => server.seen().flatMap((seen) => seen.body ?? []),
    /** Another file with a document; nothing: it is gone. */
    async put(file: string, document: JsonObject | undefined) {
      if (document === undefined) more.delete(file)
      else more.set(file, document)
      await read()
    },
    async drop(key: string) {
      const record = recordOf(key as never)
      if (record === undefined) throw new Error(`no ${key}`)
      await ledger.remove(record, [])
      process.context.store.drop(record.key)
    },
    /** One reconcile, of what was changed. @param how a person asked for it; or nothing but time has passed */
    reconcile: (how?: 'asked' | 'in passing', key: Key = ownKey): Promise<ReconcileResult> =>
      process.reconcile(key, how),
    async plan(key: Key = ownKey) {
      const item = await process.plan(key)
      return item && { ...item, message: planMessage(item, {}) }
    },
    /** Reconciles until it is at rest, as often as the queue would. @returns the last one */
    settle: () =>
      settled(
        () => process.reconcile(ownKey),
        () => kind === 'Pipe' && process.shown(ownKey)?.status !== 'Progressing',
        time,
      ),
    skip: (ms: number) => time.skip(ms),
    /** What becomes of requests on their way, from now on; nothing: all of them arrive. */
    interfere: (how: Interfere | undefined) => http.interfere(how),
    /** The process ends right before or right after such a request, once: the reconcile rejects with {@link Killed}. */
    killAt: (place: KillPlace) => void (kill = { nth: 1, ...place }),
    /** What happens right before the next request that changes something goes out, once. */
    meanwhile: (act: () => void | Promise<void>) => void (before = act),
    /** The last reading of the manifests, which found none, is not believed; or is. */
    doubt(is: 'there' | 'over') {
      const { store } = process.context
      if (store.catalog === undefined) throw new Error('nothing was read yet')
      const problem = { reason: 'SourceEmpty', message: 'It is empty.', unfound: 'all' } as const
      store.setCatalog({ ...store.catalog, problem: is === 'there' ? problem : undefined })
    },
    /** Another process has acted on this, and the manifests here may be older; or are not. */
    async older(than: string | undefined) {
      olderThan = than
      await read()
    },
    /** The Service manifest, as something that the pipe depends on. */
    dependency(is: 'ready' | 'not ready') {
      const { store } = process.context
      const key = keyOf('Service', 'analytics')
      const condition = { reason: 'InSync', message: '', since: 0 } as const
      const [well, ready] = [
        { status: 'True', ...condition },
        { status: is === 'ready' ? 'True' : 'False', ...condition },
      ] as const
      store.judged.add(key)
      store.note({ key, version: 1, conditions: { Valid: well, Synced: well, Ready: ready } })
    },
    /** What its process works with now. */
    context: () => process.context,
    /** Mounted secrets, by name and key. */
    mounted,
    record: recordOf,
    async write(record: LedgerRecord) {
      process.context.store.note(await ledger.swap(record, []))
    },
    history: () => ledger.history({ key: ownKey, limit: 1_000 }),
    events,
    shown: (key: Key = ownKey) => process.shown(key),
    status: () => process.shown(ownKey)?.status,
    state: () => server.states().get(id()),
    id,
    body,
    /** Somebody else edits it: other values at dotted paths; null: without it. */
    edit(fields: Readonly<Record<string, Json>>) {
      if (kind === 'Pipe') server.setBody(id(), having(body() ?? {}, fields))
      else Object.assign(body() ?? {}, fields)
    },
    /** What the service has of its kind. */
    count: () => (kind === 'Pipe' ? server.pipes() : new Set(server.alerts())).size,
    /** Requests since it was asked the last time. */
    asked,
    changes: () => asked().filter(({ method }) => method !== 'GET'),
    message: () => viewMessage(process.shown(ownKey)),
    reason: () => process.shown(ownKey)?.reason ?? '',
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await http[Symbol.asyncDispose]()
    },
  }
}

/** A request below the resource, as `PATCH /scaling`. */
export function told({ method, path }: Seen): string {
  const below = path.slice(BASE.length).replace(/^\/(clickpipes|clickstack\/alerts|\w+)(\/[^/]+)?/, '')
  return `${method} ${below}`.trim()
}

/** The body with other values at dotted paths; null: without it. */
export function having(body: JsonObject, fields: Readonly<Record<string, Json>>): JsonObject {
  return Object.entries(fields).reduce(
    (now, [path, value]) => withAt(now, path.split('.'), value ?? undefined) as JsonObject, // the root of a body is one
    body,
  )
}
