import { Client, type Dispatcher } from 'undici'
import type { CreateOnceKind } from '../kinds/definition.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'
import type { Fail } from '../contract/failpoint.ts'
import type { CreatePermit, CreateRequest, ReadTarget, Reply, ServiceAccess } from '../contract/platform.ts'
import { notSent, RemoteError } from '../contract/remote-error.ts'
import type { Admission, Caller } from './admission.ts'
import { createConnection, gatedDispatcher } from './create-connection.ts'
import { handleReply, type HandleReplyParts } from './handle-reply.ts'
import type { Fence } from './fence.ts'
import { exchange, type Seen, type WireRequest } from './http-exchange.ts'
import { headersOf } from './login.ts'
import { takenPlaces, type Read, type ReadParts } from './read.ts'
import type { Way } from './network.ts'
import type { ReadValue, Base } from './wire.ts'

/** What a permit was given for. */
interface Permitted {
  readonly service: ServiceAccess
  readonly caller: Caller
  readonly admission: Admission
  readonly base: Base
  readonly way: Way
  readonly path: string
  readonly readOf: (target: ReadTarget) => Read<RemoteResource>
  readonly listOf: (kind: CreateOnceKind) => Read<readonly RemoteResource[]>
  readonly readValue: ReadValue<RemoteResource>
}

/** The right to send one create, and to look before. Each at most once, whatever happens. */
export function createPermit(
  permitted: Permitted,
  parts: { readonly creating: CreateParts; readonly reading: ReadParts },
): CreatePermit {
  const { creating, reading } = parts
  const places = takenPlaces(permitted.admission, permitted.caller, reading)
  let used = false

  return {
    service: permitted.service,
    deadlineMs: creating.deadlineMs,
    get lookCostsMs() {
      return places.lookCostsMs()
    },
    get waitedMs() {
      return places.waitedMs()
    },
    read: (target, options) => places.look(permitted.readOf(target), options),
    list: (kind, options) => places.look(permitted.listOf(kind), options),
    async send(request) {
      if (used) throw new Error('a permit to create was used twice')
      used = true
      const notAfter = Math.min(request.notAfter, await creating.fence())
      await failing(creating.fail)
      const timely = { ...request, notAfter }
      return sendCreate({ ...permitted, admission: places.admission(), request: timely }, creating)
    },
    release: () => places.release(),
  }
}

/** Where it fails here, nothing was sent. */
async function failing(fail: Fail | undefined): Promise<void> {
  try {
    await fail?.('after-fence')
  } catch {
    throw notSent('Unavailable', 'Pipewright failed before it')
  }
}

/** Longest wait for a connection; also ended by the deadline of the whole. */
const CONNECT_MS = 10_000

export interface CreateParts extends HandleReplyParts {
  readonly userAgent: string
  /** From the first byte of DNS to the last of the reply; shorter than the shutdown grace. */
  readonly deadlineMs: number
  readonly maxReplyBytes: number
  readonly fence: Fence
  /** For tests. */
  readonly fail?: Fail | undefined
}

/**
 * `POST …/pipes` (`spec/api.md` 4.1), once: no retrier, no keep-alive socket that may be dead, no stop signal, no second
 * connection.
 * @throws {RemoteError} with its `effect`
 */
async function sendCreate(
  call: {
    readonly caller: Caller
    readonly admission: Admission
    readonly base: Base
    readonly way: Way
    readonly path: string
    readonly readValue: ReadValue<RemoteResource>
    readonly request: CreateRequest
  },
  parts: CreateParts,
): Promise<Reply<RemoteResource>> {
  const { caller, admission, base, way, path, readValue } = call
  const { body, intentId, notAfter } = call.request
  const { clock, deadlineMs: timeoutMs, userAgent, wire } = parts
  const { login, place } = admission
  const request: WireRequest = {
    origin: base.origin,
    path: `${base.path}${path}`,
    method: 'POST',
    headers: { ...headersOf({ login, userAgent, body }), [wire.idempotencyHeader]: intentId },
    body,
  }
  const startedAt = clock.monotonic()
  const seen = await exchangeOnce(request, { way, parts, notAfter, onSent: () => place.sent() })
  place.ended()
  const durationMs = clock.monotonic() - startedAt
  const attempt = { caller, admission, way, request, seen, readValue, timeoutMs, durationMs }
  const result = handleReply(attempt, parts)
  if (result instanceof RemoteError) throw result
  return result
}

/**
 * An exchange on a connection of its own. Whether anything was sent is known by the connection: as long as it was
 * never ready, nothing was, whatever the error.
 */
async function exchangeOnce(
  request: WireRequest,
  about: {
    readonly way: Way
    readonly parts: CreateParts
    readonly notAfter: number
    readonly onSent: () => void
  },
): Promise<Exclude<Seen, { readonly type: 'stopped' }>> {
  const { clock, deadlineMs, maxReplyBytes, fail } = about.parts
  const connectMs = Math.min(CONNECT_MS, deadlineMs)
  const connection = createConnection((options) => about.way.open(options, connectMs), fail)
  const routed = about.way.routed(request)
  const client = new Client(routed.origin, {
    allowH2: false,
    // The server may close when it has answered: nothing else comes.
    pipelining: 0,
    connect: connection.connect,
  })
  try {
    const dispatcher: Dispatcher = fail === undefined ? client : gatedDispatcher(client, fail)
    const seen = await exchange(dispatcher, routed, {
      clock,
      timeoutMs: deadlineMs,
      maxReplyBytes,
      signal: undefined,
      mayStart: () => clock.monotonic() <= about.notAfter,
      onSent: about.onSent,
      onWhole: connection.whole,
    })
    if (seen.type === 'stopped') throw new Error('a create was stopped, though it takes no signal')
    if (seen.type !== 'silence' || seen.why === 'too late') return seen
    return { ...seen, sent: seen.sent || connection.wasReady() }
  } finally {
    // Not waited for: the id must be on disk before anything else, and a socket may take its time to close.
    client.destroy().catch(() => undefined)
  }
}
