/** Places in the course of a create, in order. A test stops the real process there. */
export const CREATE_FAILPOINTS = [
  'before-intent',
  'after-intent',
  'after-fence', // leadership was confirmed
  'after-connect', // no byte of the request is written
  'before-id', // the ledger does not have the id yet
] as const

export type CreateFailpoint = (typeof CREATE_FAILPOINTS)[number]

export type Fail = (at: CreateFailpoint) => Promise<void>

export interface Failpoints {
  readonly fail: Fail
  /** The ledger calls this before each commit. It can throw the error of a full disk. */
  readonly beforeCommit: () => void
}

/** The failpoints that test/support/failpoints.ts sets. Undefined outside tests. */
export function failpointsHere(): Failpoints | undefined {
  return (globalThis as { readonly pipewrightFailpoints?: Failpoints }).pipewrightFailpoints
}
