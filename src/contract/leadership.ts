/** Which process acts (design §9): one at a time. Others may read, and write what a person says. */
export interface Leadership extends AsyncDisposable {
  /** Whether other processes may stand by, and take over. */
  readonly isShared: boolean
  /**
   * Becomes the process that acts; then the ledger holds all that was written before.
   * @param signal gives up
   * @param whileTaken `wait` while another process acts, or `refuse` once it is known to live
   * @param onLeader hears the revision that another process acts on, each time that it was looked at
   * @throws the signal's reason, or {@link LedgerError}, `locked` when it is refused
   */
  acquire(
    signal: AbortSignal,
    whileTaken: 'wait' | 'refuse',
    onLeader?: (revision: string | undefined) => void,
  ): Promise<Term>
  /**
   * As {@link acquire}, without waiting for another process. Where it cannot be found out whether one acts, it is asked again for a while.
   * @returns undefined: one acts, or may
   * @throws {LedgerError}
   */
  attempt(signal: AbortSignal): Promise<Term | undefined>
  /**
   * Says which revision of the manifests this process acts on: whoever takes over knows it, if a request was confirmed after this.
   */
  actOn(revision: string): void
  /** Who acts, as far as this process has seen; undefined: nobody, or it is not known. */
  leader(): Leader | undefined
}

/** The process that acts. */
export interface Leader {
  /** Its name: unique to the process. */
  readonly holder: string
  /** How often the right to act was taken so far, by whomever. */
  readonly epoch: number
  /** Of its page. */
  readonly url: string | undefined
}

/** The right to act, from a takeover to the next one. */
export interface Term {
  /** One more than that of the process before. */
  readonly epoch: number
  /**
   * So long after the takeover a request of a process that acted before may still arrive, ms: nothing but a Lease keeps that one away.
   * Undefined: there was none.
   */
  readonly lateForMs: number | undefined
  /** What the process before acted on last; undefined: it did not say, or nobody acted before. */
  readonly revisionBefore: string | undefined
  /** Aborted once another process has taken over, or this was released. */
  readonly over: AbortSignal
  /**
   * Makes sure that nobody had taken over at some moment after this was called. Called before each request that changes something,
   * once what the request depends on is durable: whoever takes over later then reads it.
   * @returns until when nobody can take over, on the monotonic clock, ms: the first byte goes out before
   * @throws {NotLeading} the request must not go out
   */
  confirm(): Promise<number>
  /** Lets another process take over at once. */
  release(): Promise<void>
}

/** Nobody knows that this process may act: another one has taken over, or it cannot be found out. */
export class NotLeading extends Error {
  /** Whether another one has: then this process does not act again by itself. */
  readonly isOver: boolean
  /** Nothing is gained by asking again before that, ms. Undefined: nobody knows. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, isOver: boolean, retryAfterMs?: number) {
    super(message)
    this.name = 'NotLeading'
    this.isOver = isOver
    this.retryAfterMs = retryAfterMs
  }
}
