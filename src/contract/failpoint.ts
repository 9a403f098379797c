/** Places around a create where tests stop the real process, in order. */
export const CREATE_FAILPOINTS = [
  'before-intent', // decided, with a permit
  'after-intent', // durable
  'after-fence', // leadership was confirmed
  'after-connect', // no byte is written
  'after-request', // completely written
  'after-reply-head',
  'after-reply-body',
  'before-id', // in the reply, not durable
  'after-id', // durable
  'before-outcome', // durable if possible, not reported
  'after-outcome', // reported
] as const

export type CreateFailpoint = (typeof CREATE_FAILPOINTS)[number]

/** Called at each failpoint. Its error is thrown there. */
export type Fail = (at: CreateFailpoint) => Promise<void>

/** Failures that a test injects. */
export interface Failpoints {
  readonly fail: Fail
  /** Called in each transaction of the ledger, before it is committed. @throws as SQLite does on a full disk */
  readonly beforeCommit: () => void
}

/** Only a test sets them (test/support/failpoints.ts). */
export function failpointsHere(): Failpoints | undefined {
  return (globalThis as { readonly pipewrightFailpoints?: Failpoints }).pipewrightFailpoints
}
