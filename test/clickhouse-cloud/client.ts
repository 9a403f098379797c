import { viewMessage } from '../support/messages.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import { keyOf, type Key } from '../../src/kinds/key.ts'
import type { Policy } from '../../src/kinds/manifest.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Way } from '../../src/kinds/changes.ts'
import type { Looks } from '../../src/contract/platform.ts'
import type { Event } from '../../src/contract/events.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { BASE } from './ask.ts'
import { Killed, manifestOf, reach, SERVICE, settled, startAround, startProcess } from './reach.ts'
import { withRefs } from './refs.ts'
import type { Interfere } from './strict-wire.ts'
import type { Seen, StrictOptions } from './strict-server.ts'

/* The client, with a manifest of one pipe, against the strict server: in this process, so that hundreds of edits take no time. */

const PIPE_KEY = keyOf('Pipe', 'edited')

export interface KillPlace {
  readonly way: Way | 'state' | 'delete'
  readonly when: 'before' | 'after'
  /** From 1. */
  readonly nth?: number
}

export type Client = Awaited<ReturnType<typeof startClient>>

/** With a pipe of this body, which it made itself and found in sync. */
export async function startClient(body: JsonObject, options: Partial<StrictOptions> = {}) {
  const { asker, time, http, ledger } = await startAround(options)
  const { server } = asker
  const { client, mounted, shared: common } = reach(http.url, time)
  const events: Event[] = []
  let before: (() => void | Promise<void>) | undefined
  let kill: (KillPlace & { readonly nth: number }) | undefined
  /** A request that a process may end before or after, and that something may come before. */
  async function mortal<Made, Done>(
    way: KillPlace['way'],
    make: (looks: Looks) => Promise<Made>,
    send: (made: (looks: Looks) => Promise<Made>) => Promise<Done>,
  ): Promise<Done> {
    const killed = (when: KillPlace['when']) => {
      if (kill?.way !== way || kill.when !== when) return
      kill = kill.nth > 1 ? { ...kill, nth: kill.nth - 1 } : undefined
      if (kill === undefined) throw new Killed()
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
  const shared: Omit<ReconcileContext, 'store'> = {
    ...common,
    platform: {
      ...client,
      change: (target, makeBody, readOptions) =>
        mortal(target.way, makeBody, (made) => client.change(target, made, readOptions)),
      remove: (target, check, readOptions) =>
        mortal('delete', check, (checked) => client.remove(target, checked, readOptions)),
    },
    ledger,
    emit: (event) => void events.push(event),
  }
  let olderThan: string | undefined
  const begin = () => startProcess(shared, () => olderThan)
  let process = await begin()
  let seenBefore = 0
  let manifest: JsonObject | undefined
  const more = new Map<string, JsonObject>()
  let itsService: 'gone' | 'broken' | 'there' = 'there'

  const read = () =>
    process.read({
      ...Object.fromEntries(more),
      ...(manifest && { 'pipe.json': manifest }),
      ...(itsService !== 'gone' && {
        'service.json': itsService === 'there' ? SERVICE : { ...SERVICE, spec: {} },
      }),
    })
  const recordOf = (key: Key = PIPE_KEY): LedgerRecord | undefined => process.context.store.record(key)
  const id = () => recordOf()?.remote?.id ?? ''

  const made = {
    ...asker,
    /** The manifest asks for this body from now on. */
    async want(wanted: JsonObject, policy?: Policy) {
      const { spec, secrets: refs } = withRefs(wanted)
      for (const { name, key, text } of refs) mounted.set(`${name}/${key}`, text)
      manifest = manifestOf('Pipe', 'edited', { spec, policy })
      const wrong = await read()
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
    },
    /** The manifest is not valid from now on. */
    async spoil() {
      manifest = { ...manifest, spec: { service: 'analytics', source: 'nonsense' } }
      await read()
    },
    /** The manifest of its service is gone, has errors, or is there again. */
    async service(is: 'gone' | 'broken' | 'there') {
      itsService = is
      await read()
    },
    /** There is no manifest from now on, and three readings agree. */
    async remove() {
      manifest = undefined
      for (let count = 0; count < 3; count += 1) await read()
    },
    /** Another process goes on with the same ledger and the same manifests; whatever was in memory is gone. */
    async restart() {
      process = await begin()
      await read()
    },
    /** Another file with a document; nothing: it is gone. */
    async put(file: string, document: JsonObject | undefined) {
      if (document === undefined) more.delete(file)
      else more.set(file, document)
      await read()
    },
    /** Another record is gone. */
    async drop(key: string) {
      const record = recordOf(key as never)
      if (record === undefined) throw new Error(`no ${key}`)
      await ledger.remove(record, [])
      process.context.store.drop(record.key)
    },
    /** One reconcile, of what was changed. @param how a person asked for it; or nothing but time has passed */
    reconcile: (how?: 'asked' | 'in passing', key = PIPE_KEY): Promise<ReconcileResult> =>
      process.reconcile(key, how),
    /** Reconciles until it is at rest, as often as the queue would. @returns the last one */
    settle: () =>
      settled(
        () => process.reconcile(PIPE_KEY),
        () => process.shown(PIPE_KEY)?.status !== 'Progressing',
        time,
      ),
    /** Time passes. */
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
    /** Its record says otherwise from now on. */
    async write(record: LedgerRecord) {
      process.context.store.note(await ledger.swap(record, []))
    },
    history: () => ledger.history({ key: PIPE_KEY, limit: 1_000 }),
    events,
    status: () => process.shown(PIPE_KEY)?.status,
    state: () => server.states().get(id()),
    /** Of the pipe. */
    id,
    /** What it is made of now. */
    body: () => server.pipes().get(id()),
    /** Requests that change something, since it was asked the last time. */
    changes() {
      const seen = server.seen().slice(seenBefore)
      seenBefore = server.seen().length
      return seen.filter(({ method }) => method !== 'GET')
    },
    message: () => viewMessage(process.shown(PIPE_KEY)),
    reason: () => process.shown(PIPE_KEY)?.reason ?? '',
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
