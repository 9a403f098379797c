/**
 * Places around a create where tests stop the real process, in order.
 *
 * | failpoint        | state                                              |
 * |------------------|----------------------------------------------------|
 * | before-intent    | decided, with a permit                             |
 * | after-intent     | the intent is durable                              |
 * | after-fence      | leadership was confirmed after the intent          |
 * | after-connect    | connected, no byte of the request is written       |
 * | after-request    | the whole request is written                       |
 * | after-reply-head | status and headers of the reply arrived            |
 * | after-reply-body | the whole reply arrived                            |
 * | before-id        | the reply has an id, which is not durable yet      |
 * | after-id         | the id is durable                                  |
 * | before-outcome   | the outcome is durable if possible, not reported   |
 * | after-outcome    | the outcome is reported                            |
 */
export const CREATE_FAILPOINTS = [
  'before-intent',
  'after-intent',
  'after-fence',
  'after-connect',
  'after-request',
  'after-reply-head',
  'after-reply-body',
  'before-id',
  'after-id',
  'before-outcome',
  'after-outcome',
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
