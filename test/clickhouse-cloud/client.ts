import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { recordedOf } from '../../src/reconcile/state/recorded.ts'
import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import { CLICKHOUSE_CLOUD } from '../../src/kinds/profiles/clickhouse-cloud/profile.ts'
import { keyOf, type Key } from '../../src/kinds/key.ts'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { catalogOfTexts } from '../../src/manifest/source.ts'
import type { Way } from '../../src/kinds/changes.ts'
import type { Event } from '../../src/contract/events.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { Status } from '../../src/plan/severity.ts'
import { BASE, startAsker, type Asker } from './ask.ts'
import { reach, REQUEST_TIMEOUT_MS, SERVICE } from './reach.ts'
import { withRefs } from './refs.ts'
import { createSkippedTime } from './skipped-time.ts'
import { serveStrict, type Interfere } from './strict-http.ts'
import type { Seen, StrictOptions } from './strict-server.ts'

/* The client, with a manifest of one pipe, against the strict server: in this process, so that hundreds of edits take no time. */

const PIPE_KEY = keyOf('Pipe', 'edited')

export interface Client extends AsyncDisposable, Asker {
  /** The manifest asks for this body from now on. */
  want(body: JsonObject, policy?: Policy): Promise<void>
  /** One reconcile, of what was changed. @param how a person asked for it; or nothing but time has passed */
  reconcile(how?: 'asked' | 'in passing', key?: Key): Promise<ReconcileResult>
  /** Reconciles until it is at rest, as often as the queue would. @returns the last one */
  settle(): Promise<ReconcileResult>
  /** Time passes. */
  skip(ms: number): void
  /** The manifest is not valid from now on. */
  spoil(): Promise<void>
  /** The manifest of its service is gone, has errors, or is there again. */
  service(is: 'gone' | 'broken' | 'there'): Promise<void>
  /** There is no manifest from now on, and three readings agree. */
  remove(): Promise<void>
  /** Another process goes on with the same ledger and the same manifests; whatever was in memory is gone. */
  restart(): Promise<void>
  /** The same, and its manifest is not found at first. */
  restartWithout(): Promise<void>
  /** Another file with a document; nothing: it is gone. */
  put(file: string, document: JsonObject | undefined): Promise<void>
  /** Another record is gone. */
  drop(key: string): Promise<void>
  /** What becomes of requests on their way, from now on; nothing: all of them arrive. */
  interfere(how: Interfere | undefined): void
  /** The process ends right before or right after such a request, once: the reconcile rejects with {@link Killed}. */
  killAt(place: KillPlace): void
  /** What happens right before the next request that changes something goes out, once. */
  meanwhile(act: () => void | Promise<void>): void
  /** The last reading of the manifests, which found none, is not believed; or is. */
  doubt(is: 'there' | 'over'): void
  /** Another process has acted on this, and the manifests here may be older; or are not. */
  older(than: string | undefined): Promise<void>
  /** The Service manifest, as something that the pipe depends on. */
  dependency(is: 'ready' | 'not ready'): void
  /** What its process works with now. */
  readonly context: () => ReconcileContext
  /** Mounted secrets, by name and key. */
  readonly mounted: Map<string, string>
  readonly record: (key?: Key) => LedgerRecord | undefined
  /** Its record says otherwise from now on. */
  write(record: LedgerRecord): Promise<void>
  readonly history: () => Promise<readonly HistoryEntry[]>
  readonly events: readonly Event[]
  readonly status: () => Status | undefined
  readonly state: () => string | undefined
  /** The pipe. */
  id(): string
  /** What it is made of now. */
  body(): JsonObject | undefined
  /** Requests that change something, since it was asked the last time. */
  changes(): readonly Seen[]
  readonly message: () => string
  readonly reason: () => string
}

/** A process that ends in the middle. */
export class Killed extends Error {}

export interface KillPlace {
  readonly way: Way | 'state' | 'delete'
  readonly when: 'before' | 'after'
  /** From 1. */
  readonly nth?: number
}

/** With a pipe of this body, which it made itself and found in sync. */
export async function startClient(body: JsonObject, options: Partial<StrictOptions> = {}): Promise<Client> {
  const asker = startAsker(options)
  const { server } = asker
  const clock = createSkippedTime()
  // The client finds out by its limit, which is over then.
  const http = await serveStrict(server, () => clock.skip(REQUEST_TIMEOUT_MS))
  const { client, mounted, shared: common } = reach(http.url, clock)
  const ledger = createMemoryLedger({ emit: () => undefined, hashKey: new Uint8Array(32).fill(7) })
  const events: Event[] = []
  let before: (() => void | Promise<void>) | undefined
  let kill: (KillPlace & { readonly nth: number }) | undefined
  const killed = (way: KillPlace['way'], when: KillPlace['when']) => {
    if (kill?.way !== way || kill.when !== when) return
    kill = kill.nth > 1 ? { ...kill, nth: kill.nth - 1 } : undefined
    if (kill === undefined) throw new Killed()
  }
  const passMeanwhile = async () => {
    const act = before
    before = undefined
    await act?.()
  }
  const mortal: ReconcileContext['platform'] = {
    ...client,
    async change(target, makeBody, readOptions) {
      killed(target.way, 'before')
      const made: typeof makeBody = async (looks) => {
        await passMeanwhile()
        return makeBody(looks)
      }
      const reply = await client.change(target, made, readOptions)
      killed(target.way, 'after')
      return reply
    },
    async remove(target, check, readOptions) {
      killed('delete', 'before')
      const checked: typeof check = async (looks) => {
        await passMeanwhile()
        return check(looks)
      }
      const reply = await client.remove(target, checked, readOptions)
      killed('delete', 'after')
      return reply
    },
  }
  const shared: Omit<ReconcileContext, 'store'> = {
    ...common,
    platform: mortal,
    ledger,
    emit: (event) => void events.push(event),
  }
  let olderThan: string | undefined
  const begin = () => {
    const { hashKey } = ledger
    const store = createStateStore({ profile: CLICKHOUSE_CLOUD, hashKey, clock, olderThan: () => olderThan })
    const board = createBoard()
    return { store, board, reconciler: createReconciler({ ...shared, store }, board) }
  }
  let { store, board, reconciler } = begin()
  const signal = new AbortController().signal
  let seenBefore = 0
  let manifest: JsonObject | undefined
  const more = new Map<string, JsonObject>()
  let itsService: 'gone' | 'broken' | 'there' = 'there'

  async function read(): Promise<readonly string[]> {
    const manifests = Object.entries({
      ...Object.fromEntries(more),
      ...(manifest && { 'pipe.json': manifest }),
      ...(itsService !== 'gone' && {
        'service.json': itsService === 'there' ? SERVICE : { ...SERVICE, spec: {} },
      }),
    })
    const files = Object.fromEntries(manifests.map(([file, document]) => [file, JSON.stringify(document)]))
    const catalog = await catalogOfTexts(
      { revision: { id: 'r1', from: 'content' }, files },
      {
        profile: CLICKHOUSE_CLOUD,
        recorded: recordedOf(store.records()),
        before: store.catalog,
        created: new Set(),
        signal,
      },
    )
    // As a process does that goes on: the last valid manifest is kept.
    const entries = new Map(
      [...catalog.entries].map(([key, entry]) => [
        key,
        { ...entry, manifest: entry.manifest ?? store.entry(key)?.manifest },
      ]),
    )
    store.setCatalog({ ...catalog, entries })
    return catalog.findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)
  }

  const made: Client = {
    ...asker,
    async want(wanted, policy) {
      const { spec, secrets: refs } = withRefs(wanted)
      for (const { name, key, text } of refs) mounted.set(`${name}/${key}`, text)
      manifest = {
        apiVersion: 'pipewright/v1',
        kind: 'Pipe',
        metadata: { name: 'edited' },
        ...(policy && { policy: policy as JsonObject }), // it has no member that is undefined
        spec: { service: 'analytics', ...spec },
      }
      const wrong = await read()
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
    },
    async spoil() {
      manifest = { ...manifest, spec: { service: 'analytics', source: 'nonsense' } }
      await read()
    },
    async service(is) {
      itsService = is
      await read()
    },
    async remove() {
      manifest = undefined
      for (let count = 0; count < 3; count += 1) await read()
    },
    async restart() {
      ;({ store, board, reconciler } = begin())
      for (const record of await ledger.list()) store.note(record)
      await read()
    },
    async restartWithout() {
      manifest = undefined
      await made.restart()
    },
    async put(file, document) {
      if (document === undefined) more.delete(file)
      else more.set(file, document)
      await read()
    },
    async drop(key) {
      const record = store.record(key as never)
      if (record === undefined) throw new Error(`no ${key}`)
      await ledger.remove(record, [])
      store.drop(record.key)
    },
    reconcile: (how, key = PIPE_KEY) =>
      reconciler.reconcile(key, {
        priority: how === 'in passing' ? 2 : 0,
        stopping: signal,
        reconcileId: shared.newId(),
        changedAt: undefined,
        isAsked: how === 'asked',
        releaseSlot: async () => undefined,
      }),
    async settle() {
      for (let count = 0; count < 20; count += 1) {
        const result = await made.reconcile()
        const { status } = board.get(PIPE_KEY) ?? {}
        if (status !== 'Progressing' || result.next === undefined || result.next.why === 'drift')
          return result
        clock.skip(result.next.afterMs)
      }
      throw new Error(`it does not come to rest: ${made.message()}`)
    },
    skip: (ms) => clock.skip(ms),
    interfere: (how) => http.interfere(how),
    killAt: (place) => void (kill = { nth: 1, ...place }),
    meanwhile: (act) => void (before = act),
    doubt(is) {
      if (store.catalog === undefined) throw new Error('nothing was read yet')
      const problem = { reason: 'SourceEmpty', message: 'It is empty.', unfound: 'all' } as const
      store.setCatalog({ ...store.catalog, problem: is === 'there' ? problem : undefined })
    },
    async older(than) {
      olderThan = than
      await read()
    },
    dependency(is) {
      const key = keyOf('Service', 'analytics')
      const condition = { reason: 'InUse', message: '', since: 0 } as const
      const [well, ready] = [
        { status: 'True', ...condition },
        { status: is === 'ready' ? 'True' : 'False', ...condition },
      ] as const
      store.judged.add(key)
      store.note({ key, version: 1, conditions: { Valid: well, Synced: well, Ready: ready } })
    },
    context: () => ({ ...shared, store }),
    mounted,
    record: (key = PIPE_KEY) => store.record(key),
    async write(record) {
      store.note(await ledger.swap(record, []))
    },
    history: () => ledger.history({ key: PIPE_KEY, limit: 1_000 }),
    events,
    status: () => board.get(PIPE_KEY)?.status,
    state: () => server.states().get(made.id()),
    id: () => store.record(PIPE_KEY)?.remote?.id ?? '',
    body: () => server.pipes().get(made.id()),
    changes() {
      const seen = server.seen().slice(seenBefore)
      seenBefore = server.seen().length
      return seen.filter(({ method }) => method !== 'GET')
    },
    message: () => board.get(PIPE_KEY)?.message ?? '',
    reason: () => board.get(PIPE_KEY)?.reason ?? '',
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]()
      await http[Symbol.asyncDispose]()
    },
  }
  await made.want(body)
  await made.settle()
  made.changes()
  return made
}

/** A request below the pipe, as `PATCH /scaling`. */
export function told({ method, path }: Seen): string {
  const below = path.slice(BASE.length).replace(/^\/clickpipes(\/[^/]+)?/, '')
  return `${method} ${below}`.trim()
}
