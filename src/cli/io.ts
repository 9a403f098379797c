import type { Emit } from '../contract/events.ts'
import manifest from '../../package.json' with { type: 'json' }

/** What a command has of the process; tests give their own. */
export interface Io {
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stop: StopSignals
}

export interface StopSignals {
  /** Aborted by the first SIGTERM or SIGINT; the reason names it. */
  readonly stopping: AbortSignal
  /** Aborted by the second one. */
  readonly forced: AbortSignal
  /** Calls back on each SIGHUP. */
  onHangup(listener: () => void): void
}

export function print(stream: NodeJS.WritableStream, text: string): void {
  stream.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** JSON for scripts: times are texts as ISO 8601 says them. */
export function printJson(io: Io, value: unknown): void {
  print(io.stdout, JSON.stringify(value, isoTimes, 2))
}

/** Names of times, which are ms since the epoch inside of the program. */
const TIME = /^(?:at|since|until|\w+(?:At|By|After|From))$/

/** No duration is so long. */
const LONG_AGO = Date.UTC(1980, 0)

function isoTimes(name: string, value: unknown): unknown {
  return typeof value === 'number' && value > LONG_AGO && TIME.test(name)
    ? new Date(value).toISOString()
    : value
}

/** How a command ends (design §8). */
export const EXIT = {
  fine: 0,
  /** Findings or failures. */
  failed: 1,
  /** `plan`: changes are pending. */
  pending: 2,
  /** Usage error: flags, settings, arguments. */
  usage: 64,
  /** Internal error. */
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

/** For commands that say themselves what they do: nobody subscribes. */
export const nobody: Emit = () => undefined

export const VERSION: string = manifest.version
