/** Lets at most one process act. */
export interface Leadership extends AsyncDisposable {
  /**
   * Waits until this process is leader. The ledger then shows all writes of earlier leaders.
   * @param whileTaken `wait`: until the other leader ends; `refuse`: throws if the other leader is certainly running
   * @param onLeader gets the other leader's revision after each read of the Lease
   * @throws the signal's reason, or {@link LedgerError} `locked` after `refuse`
   */
  acquire(
    signal: AbortSignal,
    whileTaken: 'wait' | 'refuse',
    onLeader?: (revision: string | undefined) => void,
  ): Promise<Term>
  /** {@link acquire} without a wait, with retries. @returns undefined if another process might be leader */
  attempt(signal: AbortSignal): Promise<Term | undefined>
  /** The next `confirm` stores this revision, so a later leader can detect that its checkout is older. */
  actOn(revision: string): void
  leader(): Leader | undefined
}

export interface Leader {
  readonly holder: string
  /** Number of takeovers so far, by any process. */
  readonly epoch: number
  readonly url: string | undefined
}

/** The time in which this process is leader. */
export interface Term {
  readonly epoch: number
  /** For this many ms, a request of the previous leader might still arrive. Undefined: none can. */
  readonly lateForMs: number | undefined
  readonly revisionBefore: string | undefined
  /** Aborted after another process takes over, or after `release`. */
  readonly over: AbortSignal
  /**
   * Proves that no process took over so far. Call it after the journal entry of a request is durable, because a
   * later leader must find that entry.
   * @returns the time limit for the start of the request, monotonic ms
   * @throws {NotLeading} the request must not be sent
   */
  confirm(): Promise<number>
  /** No other process can become leader before this time, monotonic ms. */
  endsAt(): number
  release(): Promise<void>
}

export class NotLeading extends Error {
  /** Whether this process is certainly no longer leader. */
  readonly isOver: boolean
  readonly retryAfterMs: number | undefined

  constructor(message: string, isOver: boolean, retryAfterMs?: number) {
    super(message)
    this.name = 'NotLeading'
    this.isOver = isOver
    this.retryAfterMs = retryAfterMs
  }
}
