/** Places in the course of a create, in order. A test stops the real process there. */
export const CREATE_FAILPOINTS = [
  'before-intent', // the create is decided and has its permit
  'after-intent', // the intent is durable
  'after-fence', // leadership was confirmed
  'after-connect', // no byte of the request is written
  'after-request', // the request is completely written
  'after-reply-head',
  'after-reply-body',
  'before-id', // the reply has the id, the ledger does not
  'after-id', // the ledger has the id
  'before-outcome', // no event reports the outcome yet
  'after-outcome', // an event reported the outcome
] as const

export type CreateFailpoint = (typeof CREATE_FAILPOINTS)[number]

/** The create calls this at each failpoint. An error that it throws ends the create there. */
export type Fail = (at: CreateFailpoint) => Promise<void>

export interface Failpoints {
  readonly fail: Fail
  /** The ledger calls this before each commit. It can throw the error of a full disk. */
  readonly beforeCommit: () => void
}

/** Undefined except in a test, which sets them in test/support/failpoints.ts. */
export function failpointsHere(): Failpoints | undefined {
  return (globalThis as { readonly pipewrightFailpoints?: Failpoints }).pipewrightFailpoints
}
