import type { Dispatcher } from 'undici'
import type { Method } from '../kinds/definition.ts'
import type { Clock } from '../lib/clock.ts'
import type { ProxyFault } from '../lib/proxy.ts'
import type { ReplyHeaders } from '../lib/retry-after.ts'
import { codeOf, ProxyError } from './open-connection.ts'

export interface WireRequest {
  readonly origin: string
  readonly path: string
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** What was seen of a reply, before anybody judges it. */
export type Seen =
  | {
      readonly type: 'reply'
      readonly status: number
      readonly headers: ReplyHeaders
      /** As much as arrived. */
      readonly body: string
      readonly end: 'whole' | 'cut' | 'late' | 'too large'
    }
  | {
      /** Not even the head of a reply. */
      readonly type: 'silence'
      /** `too late`: the connection was ready, and nothing was written, because its time was over. */
      readonly why: 'timeout' | 'error' | 'too late'
      /** Code of the error, such as `ECONNREFUSED`; `undefined` for a timeout. */
      readonly code: string | undefined
      /** Why there was no way through a proxy; `undefined`: that is not what happened. */
      readonly fault: ProxyFault | undefined
      /** Whether some of the request may have been written. */
      readonly sent: boolean
    }
  | { readonly type: 'stopped' }

export interface ExchangeLimits {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxReplyBytes: number
  /** `undefined`: the exchange ends by itself and its time limit alone. */
  readonly signal: AbortSignal | undefined
  /** Asked when the connection is ready, as the last thing before the first byte: whether it may still be sent. */
  readonly mayStart: () => boolean
  /** The connection is ready; the request is written now. */
  readonly onSent: () => void
  /** The reply came to its end. */
  readonly onWhole: () => void
}

/** Part of a time limit, in ms, by which a timer may be late without the process having stood still. */
const LATE_MS = 100

type Head = Pick<Extract<Seen, { type: 'reply' }>, 'status' | 'headers'>

/**
 * One request and what comes back, in full, within a time and a size. Never throws, and follows no redirect.
 * Made on `dispatch`, because only there a client knows the moment at which a request goes onto a ready connection.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  limits: ExchangeLimits,
): Promise<Seen> {
  const { clock, timeoutMs, maxReplyBytes, signal } = limits
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined
    let head: Head | undefined
    let chunks: Buffer[] = []
    let size = 0
    let sent = false
    let over = false
    const endsAt = clock.monotonic() + timeoutMs
    const cancelTimer = clock.after(timeoutMs, onTimer)
    signal?.addEventListener('abort', onStop, { once: true })
    if (signal?.aborted === true) onStop()
    else start()

    function onStop(): void {
      giveUp({ type: 'stopped' })
    }

    /** A process that stood still finds its timer and the reply at once: then the sockets are read once more first. */
    function onTimer(): void {
      if (clock.monotonic() < endsAt + LATE_MS) giveUp(partly('late', undefined))
      else setImmediate(() => over || giveUp(partly('late', undefined)))
    }

    function finish(seen: Seen): void {
      over = true
      cancelTimer()
      signal?.removeEventListener('abort', onStop)
      resolve(seen)
    }

    function giveUp(seen: Seen): void {
      finish(seen)
      controller?.abort(new Error('given up'))
    }

    function partly(end: 'cut' | 'late', error: Error | undefined): Seen {
      if (head !== undefined) return reply(head, end)
      const why = end === 'late' ? 'timeout' : 'error'
      const code = error === undefined ? undefined : codeOf(error)
      return {
        type: 'silence',
        why,
        code,
        fault: error instanceof ProxyError ? error.fault : undefined,
        sent,
      }
    }

    function reply(of: Head, end: 'whole' | 'cut' | 'late' | 'too large'): Seen {
      const [only, ...rest] = chunks
      const bytes = rest.length === 0 ? only : Buffer.concat(chunks)
      return { type: 'reply', ...of, body: bytes?.toString('utf8') ?? '', end }
    }

    function start(): void {
      dispatcher.dispatch(
        { ...request, body: request.body ?? null, headersTimeout: 0, bodyTimeout: 0 },
        {
          onRequestStart(started) {
            controller = started
            // Given up while the connection was still being made: nothing is written.
            if (over) {
              started.abort(new Error('given up'))
              return
            }
            if (!limits.mayStart()) {
              giveUp({ type: 'silence', why: 'too late', code: undefined, fault: undefined, sent: false })
              return
            }
            head = undefined
            chunks = []
            size = 0
            sent = true
            limits.onSent()
          },
          onResponseStart(_controller, status, headers) {
            // Informational replies (1xx) come before the real one.
            if (status >= 200) head = { status, headers }
          },
          onResponseData(_controller, chunk) {
            if (over || head === undefined) return
            size += chunk.length
            if (size > maxReplyBytes) giveUp(reply(head, 'too large'))
            else chunks.push(chunk)
          },
          onResponseEnd() {
            if (over || head === undefined) return
            limits.onWhole()
            finish(reply(head, 'whole'))
          },
          onResponseError(_controller, error) {
            if (!over) finish(partly('cut', error))
          },
        },
      )
    }
  })
}
