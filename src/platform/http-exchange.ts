import type { Dispatcher } from 'undici'
import type { Method } from '../kinds/definition.ts'
import type { Clock } from '../lib/clock.ts'
import type { ProxyFault } from '../lib/proxy.ts'
import type { ReplyHeaders } from '../lib/retry-after.ts'
import { ProxyError } from './open-connection.ts'
import { replyText } from './reply-text.ts'
import { codeOf, NoConnectionError } from './tcp-connection.ts'

export interface WireRequest {
  readonly origin: string
  readonly path: string
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export type Seen =
  | {
      readonly type: 'reply'
      readonly status: number
      readonly headers: ReplyHeaders
      /** As far as received. */
      readonly body: string
      readonly end: 'whole' | 'cut' | 'late' | 'too large'
    }
  | {
      readonly type: 'silence'
      /** `too late`: ready after the deadline, and no byte was written. */
      readonly why: 'timeout' | 'error' | 'too late'
      /** Such as `ECONNREFUSED`. Undefined for a timeout. */
      readonly code: string | undefined
      readonly addresses: readonly string[]
      readonly fault: ProxyFault | undefined
      /** Part of the request might have been written. */
      readonly sent: boolean
    }
  | { readonly type: 'stopped' }

interface ExchangeLimits {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxReplyBytes: number
  /** Undefined if only the time limit can end it. */
  readonly signal: AbortSignal | undefined
  /** Called right before the first byte. */
  readonly mayStart: () => boolean
  readonly onSent: () => void
  readonly onWhole: () => void
}

/** A later timer shows that the process stood still. */
const LATE_MS = 100

type Head = Pick<Extract<Seen, { type: 'reply' }>, 'status' | 'headers'>

/** Never throws and follows no redirect. `dispatch` shows when a request goes onto a ready connection. */
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

    /** After a standstill, the reply might be in the socket: reads once more first. */
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
      return {
        type: 'silence',
        why: end === 'late' ? 'timeout' : 'error',
        code: error === undefined ? undefined : codeOf(error),
        addresses: error instanceof NoConnectionError ? error.addresses : [],
        fault: error instanceof ProxyError ? error.fault : undefined,
        sent,
      }
    }

    function reply(of: Head, end: 'whole' | 'cut' | 'late' | 'too large'): Seen {
      const [only, ...rest] = chunks
      const bytes = rest.length === 0 ? only : Buffer.concat(chunks)
      const body = bytes === undefined ? '' : replyText(bytes, of.headers, maxReplyBytes)
      return { type: 'reply', ...of, body: body ?? '', end: body === undefined ? 'too large' : end }
    }

    function start(): void {
      dispatcher.dispatch(
        {
          ...request,
          headers: { 'Accept-Encoding': 'identity', ...request.headers },
          body: request.body ?? null,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        {
          onRequestStart(started) {
            controller = started
            if (over) {
              started.abort(new Error('given up'))
              return
            }
            if (!limits.mayStart()) {
              const nothing = { code: undefined, addresses: [], fault: undefined, sent: false } as const
              giveUp({ type: 'silence', why: 'too late', ...nothing })
              return
            }
            head = undefined
            chunks = []
            size = 0
            sent = true
            limits.onSent()
          },
          onResponseStart(_controller, status, headers) {
            // Informational replies (1xx) come first.
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
