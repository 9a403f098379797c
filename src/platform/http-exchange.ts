import type { Dispatcher } from 'undici'
import type { Method } from '../kinds/definition.ts'
import type { Clock } from '../lib/clock.ts'
import type { ProxyFault } from '../lib/proxy.ts'
import type { ReplyHeaders } from '../lib/retry.ts'
import { ProxyError } from './open-connection.ts'
import { socketCode, NoConnectionError } from './tcp-connection.ts'
import { constants, unzipSync } from 'node:zlib'

export interface WireRequest {
  readonly origin: string
  readonly path: string
  readonly method: Method
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export type Exchanged =
  | {
      readonly type: 'reply'
      readonly status: number
      readonly headers: ReplyHeaders
      readonly body: string
      readonly end: 'whole' | 'cut' | 'late' | 'too large'
    }
  | {
      readonly type: 'silence'
      /** `too late`: the connection was ready only after `notAfter`, so no byte was written. */
      readonly why: 'timeout' | 'error' | 'too late'
      /** Such as `ECONNREFUSED`. Undefined if `why` is not `error`. */
      readonly code: string | undefined
      readonly addresses: readonly string[]
      readonly fault: ProxyFault | undefined
      /** Whether part of the request might have been written. */
      readonly sent: boolean
    }
  | { readonly type: 'stopped' }

interface ExchangeLimits {
  readonly clock: Clock
  readonly timeoutMs: number
  readonly maxReplyBytes: number
  /** Stops the exchange. Undefined: only the time limit stops the exchange. */
  readonly signal: AbortSignal | undefined
  /** Latest time for the first byte: monotonic ms. Default: no limit. */
  readonly notAfter?: number
  readonly onSent?: () => void
  readonly onWhole?: () => void
}

/** Characters kept of an incomplete reply. Parsing or searching more would block the process. */
export const MAX_PARTIAL_LENGTH = 64 * 1024

/** A timer that is later than this shows that the process was frozen. */
const LATE_MS = 100

type Head = Pick<Extract<Exchanged, { type: 'reply' }>, 'status' | 'headers'>

/** Never throws, and follows no redirect. */
export function exchange(
  dispatcher: Dispatcher,
  request: WireRequest,
  limits: ExchangeLimits,
): Promise<Exchanged> {
  const { clock, timeoutMs, maxReplyBytes, signal, notAfter = Infinity } = limits
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

    /** After a freeze, the reply might already be in the socket, so the event loop reads once more. */
    function onTimer(): void {
      if (clock.monotonic() < endsAt + LATE_MS) giveUp(partly('late', undefined))
      else setImmediate(() => over || giveUp(partly('late', undefined)))
    }

    function finish(seen: Exchanged): void {
      over = true
      cancelTimer()
      signal?.removeEventListener('abort', onStop)
      resolve(seen)
    }

    function giveUp(seen: Exchanged): void {
      finish(seen)
      controller?.abort(new Error('given up'))
    }

    function partly(end: 'cut' | 'late', error: Error | undefined): Exchanged {
      if (head !== undefined) return reply(head, end)
      return {
        type: 'silence',
        why: end === 'late' ? 'timeout' : 'error',
        code: error === undefined ? undefined : socketCode(error),
        addresses: error instanceof NoConnectionError ? error.addresses : [],
        fault: error instanceof ProxyError ? error.fault : undefined,
        sent,
      }
    }

    function reply(of: Head, end: 'whole' | 'cut' | 'late' | 'too large'): Exchanged {
      const [only, ...rest] = chunks
      const bytes = rest.length === 0 ? only : Buffer.concat(chunks)
      const text = bytes === undefined ? '' : replyText(bytes, of.headers, maxReplyBytes)
      const body = end === 'whole' ? text : text?.slice(0, MAX_PARTIAL_LENGTH)
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
            if (clock.monotonic() > notAfter) {
              const nothing = { code: undefined, addresses: [], fault: undefined, sent: false } as const
              giveUp({ type: 'silence', why: 'too late', ...nothing })
              return
            }
            head = undefined
            chunks = []
            size = 0
            sent = true
            limits.onSent?.()
          },
          onResponseStart(_controller, status, headers) {
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
            limits.onWhole?.()
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

const MAX_UNNAMED = 2

/**
 * With an unknown coding, the text stays unreadable.
 * @returns undefined if the decoded body is larger than `maxBytes`
 */
export function replyText(bytes: Buffer, headers: ReplyHeaders, maxBytes: number): string | undefined {
  let decoded = bytes
  const named = [headers['content-encoding'] ?? ''].flat().join().toLowerCase().split(',').toReversed()
  for (let at = 0; at < named.length + MAX_UNNAMED; at += 1) {
    // Some proxies compress twice, or drop the header. No text begins with these two bytes.
    const coding = named[at]?.trim() ?? (decoded.toString('hex', 0, 2) === '1f8b' ? 'gzip' : '')
    if (!/^((x-)?gzip|deflate)$/.test(coding)) continue
    try {
      // The flush option decodes as much of an incomplete body as came.
      decoded = unzipSync(decoded, { maxOutputLength: maxBytes, finishFlush: constants.Z_SYNC_FLUSH })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined
    }
  }
  // JSON is UTF-8 (RFC 8259, 8.1).
  return new TextDecoder().decode(decoded)
}
