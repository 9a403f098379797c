import type { Emit } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import manifest from '../../package.json' with { type: 'json' }

/** The process as commands see it; tests pass their own. */
export interface Io {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly stop: {
    /** Aborted by the first SIGTERM or SIGINT. The abort reason names the signal. */
    readonly stopping: AbortSignal
    readonly forced: AbortSignal
    onHangup(listener: () => void): void
  }
}

export function print(stream: NodeJS.WritableStream, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(io: Io, value: unknown): void {
  print(io.stdout, JSON.stringify(value, isoTimes, 2))
}

/** Members that hold times in ms since the epoch. */
const TIME = /^(?:at|since|until|\w+(?:At|By|After|From))$/

/** A smaller number is a duration, not a time. */
const LONG_AGO = Date.UTC(1980, 0)

function isoTimes(name: string, value: unknown): unknown {
  return typeof value === 'number' && value > LONG_AGO && TIME.test(name)
    ? new Date(value).toISOString()
    : value
}

export const EXIT = {
  fine: 0,
  failed: 1,
  /** `plan`: changes are pending. */
  pending: 2,
  usage: 64,
  bug: 70,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An expected failure. The message has what happened, where, and the way out. */
export class CommandError extends Error {
  readonly code: ExitCode

  constructor(message: string, code: ExitCode = EXIT.failed) {
    super(message)
    this.name = 'CommandError'
    this.code = code
  }
}

export function misuse(message: string): never {
  throw new CommandError(message, EXIT.usage)
}

/** Drops events, for commands that print their own progress. */
export const nobody: Emit = () => undefined

export const VERSION: string = manifest.version
