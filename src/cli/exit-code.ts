/** How a command ends (design §8). */
export const EXIT = {
  fine: 0,
  /** Findings or failures. */
  failed: 1,
  /** `plan`: changes are pending. */
  pending: 2,
  /** Wrong use: flags, settings, arguments. */
  usage: 64,
  /** Our bug. */
  bug: 70,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A command that cannot go on; the message says what happened, where, and what to do. */
export class CommandError extends Error {
  readonly code: ExitCode

  constructor(message: string, code: ExitCode = EXIT.failed) {
    super(message)
    this.name = 'CommandError'
    this.code = code
  }
}
