/** At most one process acts. Others can read, and can write commands of a person. */
export interface Leadership extends AsyncDisposable {
  readonly isShared: boolean
  /**
   * Waits to lead. The ledger then holds the writes of earlier leaders.
   * @param whileTaken `wait` for the other leader, or `refuse` if it is known to live
   * @param onLeader gets the other leader's revision after each look
   * @throws the signal's reason, or {@link LedgerError} `locked` if refused
   */
  acquire(
    signal: AbortSignal,
    whileTaken: 'wait' | 'refuse',
    onLeader?: (revision: string | undefined) => void,
  ): Promise<Term>
  /**
   * As {@link acquire}, without waiting for another leader. Retries for a while if the leader is unknown.
   * @returns undefined if another process might be leader
   * @throws {LedgerError}
   */
  attempt(signal: AbortSignal): Promise<Term | undefined>
  /** The next leader knows this revision if a request was confirmed later. */
  actOn(revision: string): void
  leader(): Leader | undefined
}

export interface Leader {
  /** Unique to the process. */
  readonly holder: string
  /** Number of takeovers so far, by any process. */
  readonly epoch: number
  readonly url: string | undefined
}

/** The time as leader, from one takeover to the next. */
export interface Term {
  readonly epoch: number
  /**
   * ms in which a request of the previous leader might still arrive. Undefined: there was no leader.
   */
  readonly lateForMs: number | undefined
  readonly revisionBefore: string | undefined
  /** Aborted after another process takes over, or after `release`. */
  readonly over: AbortSignal
  /**
   * Proves leadership since the call. Called before each changing request, after its journal entry is
   * durable: a later leader reads that entry.
   * @returns latest start of the request, monotonic ms
   * @throws {NotLeading} do not send
   */
  confirm(): Promise<number>
  release(): Promise<void>
}

/** Another process is leader, or the leader cannot be determined. */
export class NotLeading extends Error {
  /** A takeover is certain; this process stays standby. */
  readonly isOver: boolean
  /** ms. Undefined if unknown. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, isOver: boolean, retryAfterMs?: number) {
    super(message)
    this.name = 'NotLeading'
    this.isOver = isOver
    this.retryAfterMs = retryAfterMs
  }
}
