import type { Checkout, Patch } from './checkout.ts'

/** A test that runs the program of a checkout. @returns what it found broken, in words; nothing: it passes */
export interface Check {
  readonly name: string
  readonly run: (checkout: Checkout) => Promise<readonly string[]>
}

/** One protection of laws 1 and 2, how it is removed, and the tests of which one at least must notice. */
export interface Mutation {
  readonly protection: string
  readonly patches: readonly Patch[]
  readonly checks: readonly Check[]
}
