import type { Operation } from '../kinds/definition.ts'
import type { Seen } from './http-exchange.ts'
import type { ReplyBody } from './reply-body.ts'

/** Everything that may be known of a request that did not end as it should. */
export interface Failure {
  readonly operation: Operation
  readonly seen: Exclude<Seen, { readonly type: 'stopped' }>
  /** The body of the reply as far as it could be understood; for `silence`, of nothing. */
  readonly body: ReplyBody
  /** Equal for equal credentials: those that it was sent with. */
  readonly credential: string
  /** Every secret text that was sent, for the excerpt. */
  readonly secrets: readonly string[]
  /** Where it was sent: the origin. */
  readonly origin: string
  readonly timeoutMs: number
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}
