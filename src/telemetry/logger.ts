import { pino, type DestinationStream, type LevelWithSilent } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { type StepContext, withCommands } from '../plan/step.ts'
import { printable } from '../lib/shown-text.ts'
import type { LogEntry } from './log-fields.ts'
import { createPrettyLine } from './pretty-line.ts'
import type { Event } from '../contract/events.ts'
import { LINES_LOST, linesOf } from './event-table.ts'
import { createLineMemory } from './reading-lines.ts'
import { SENSITIVE_NAMES, withoutAssignments, withoutUrlSecrets } from '../lib/sensitive.ts'
import { fstatSync, writeSync } from 'node:fs'

interface LogOptions {
  readonly level: LevelWithSilent
  readonly format: 'json' | 'pretty'
  readonly destination: NodeJS.WritableStream
  readonly clock: Clock
  readonly commands?: StepContext
}

function prettyOutput(output: Output, { destination }: LogOptions): DestinationStream {
  const isTerminal = 'isTTY' in destination && destination.isTTY === true
  const noColour = (process.env['NO_COLOR'] ?? '') !== ''
  const pretty = createPrettyLine({ colour: isTerminal && !noColour })
  return { write: (text) => output.write(pretty(text)) }
}

export function createLog(options: LogOptions) {
  const output = openOutput({ ...options, onRoom: (lines) => logger.warn({ lines }, LINES_LOST.message) })
  const logger = pino(
    {
      level: options.level,
      base: options.format === 'json' ? { app: 'pipewright' } : null,
      timestamp: () => `,"time":"${new Date(options.clock.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFacts },
      redact: { paths: [...REDACTED_PATHS], censor: '[secret]' },
    },
    options.format === 'json' ? output : prettyOutput(output, options),
  )
  const memory = createLineMemory()
  let revision: string | undefined

  function write(event: Event): void {
    if (event.type === 'SourceLoaded') revision = event.revision.id
    for (const { level, message, facts } of linesOf(event, memory, (one) => logger.isLevelEnabled(one))) {
      if (logger.isLevelEnabled(level))
        logger[level](writtenFacts({ revision, ...facts }, options.commands), message)
    }
  }

  function tellFault(event: Event, fault: unknown): void {
    const error = fault instanceof Error ? fault : new Error(String(fault))
    try {
      write({ type: 'Bug', message: `telemetry could not take ${event.type}`, error })
    } catch {
      // The log itself failed.
    }
  }

  return {
    /** Never throws, because the caller might be sending a create. */
    emit: (event: Event) => {
      try {
        write(event)
      } catch (error) {
        tellFault(event, error)
      }
    },
    tellFault,
    close: () => output.close(),
  }
}

/** Characters. Container runtimes split lines over 16 KB, which breaks their JSON. */
const LONGEST_TEXT = 4_000

/** Characters to mask: more than are shown, because half a secret is not recognized. */
const MASKED_TEXT = 4 * LONGEST_TEXT

const LONGEST_LIST = 50

function writtenFacts(facts: LogEntry['facts'], commands?: StepContext): LogEntry['facts'] {
  const entries = Object.entries(facts)
  return Object.fromEntries(entries.map(([name, fact]) => [name, writtenFact(name, fact, commands)]))
}

function writtenFact(name: string, fact: unknown, commands: StepContext | undefined): unknown {
  if (typeof fact === 'number') return name.endsWith('Ms') ? Math.round(fact * 10) / 10 : fact
  if (typeof fact === 'string') {
    const text = name === 'detail' ? maskLine(fact.slice(0, MASKED_TEXT)) : fact
    return writtenText(name === 'detail' || name === 'command' ? withCommands(text, commands) : text)
  }
  if (Array.isArray(fact)) return fact.slice(0, LONGEST_LIST).map((item) => writtenText(String(item)))
  return fact
}

function writtenText(text: string): string {
  const cut = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text
  return printable(cut).toWellFormed()
}

const SHOWN = '[secret]'

/** Unquoted `password: value`. */
const PLAIN_PAIR = new RegExp(
  String.raw`(\b(?:${SENSITIVE_NAMES.join('|')})\b\s*:\s*)(?!\[secret\])([^\s,;}&"'\\]+)`,
  'gi',
)

/** Masks secrets in texts that Pipewright did not write, such as parse errors. */
export function maskLine(text: string): string {
  return withoutAssignments(withoutUrlSecrets(text, SHOWN), SHOWN, 'masked').replace(PLAIN_PAIR, `$1${SHOWN}`)
}

export const REDACTED_PATHS: readonly string[] = SENSITIVE_NAMES.flatMap((name) => [name, `*.${name}`])

const LONGEST = 2_000

const DEPTH = 4

/** Copies few fields: errors of HTTP clients also hold headers and bodies. */
function errorFacts(error: unknown, depth = DEPTH): object {
  if (!(error instanceof Error)) return { type: typeof error, message: shown(String(error)) }
  const { code } = error as { code?: unknown } // Node's errors have it
  return {
    type: error.name,
    message: shown(error.message),
    stack: error.stack === undefined ? undefined : shown(error.stack),
    code: typeof code === 'string' ? code : undefined,
    cause: error.cause === undefined || depth === 0 ? undefined : errorFacts(error.cause, depth - 1),
  }
}

/** Masks before it cuts, because half a secret would not be recognized. */
function shown(text: string): string {
  return printable(maskLine(text.slice(0, 4 * LONGEST)).slice(0, LONGEST)).toWellFormed()
}

/** Characters. If more wait for the reader, new lines are dropped. */
const MOST_WAITING = 8 * 2 ** 20

const CLOSE_MS = 2_000

/** Drops lines if the reader is slow or the disk is full: a create must not wait for the log. */
interface Output extends DestinationStream {
  /** Waits for unwritten lines, up to CLOSE_MS. */
  close(): Promise<void>
}

interface OutputOptions {
  readonly destination: NodeJS.WritableStream
  readonly clock: Clock
  /** Called when writing works again, with the number of dropped lines. */
  readonly onRoom: (lost: number) => void
}

/** Writes immediately if possible: a line must survive a crash. */
function openOutput(options: OutputOptions): Output {
  const file = fileOf(options.destination)
  return file === undefined ? streamOutput(options) : fileOutput(file, options.onRoom)
}

/** @returns undefined if writes might block, as to a terminal or a pipe */
function fileOf(destination: NodeJS.WritableStream): number | undefined {
  if (!('fd' in destination) || typeof destination.fd !== 'number') return undefined
  if ('isTTY' in destination && destination.isTTY === true) return undefined
  const kind = fstatSync(destination.fd)
  return kind.isFile() || kind.isCharacterDevice() ? destination.fd : undefined
}

/** Avoids the process's stream, because a stream stays broken after a failed write. */
function fileOutput(file: number, onRoom: OutputOptions['onRoom']): Output {
  let lost = 0
  let isTorn = false
  return {
    write(text) {
      const bytes = Buffer.from(isTorn ? `\n${text}` : text)
      let written = 0
      try {
        while (written < bytes.length) written += writeSync(file, bytes, written)
      } catch {
        isTorn ||= written > 0
        lost += 1
        return
      }
      isTorn = false
      const before = lost
      lost = 0
      if (before > 0) onRoom(before)
    },
    close: () => Promise.resolve(),
  }
}

function streamOutput({ destination, clock, onRoom }: OutputOptions): Output {
  let waiting = 0
  let lost = 0
  destination.on('error', ignore)

  function onWritten(length: number): void {
    waiting -= length
    if (lost === 0 || waiting > 0) return
    const before = lost
    lost = 0
    onRoom(before)
  }

  return {
    write(text) {
      if (waiting > MOST_WAITING) {
        lost += 1
        return
      }
      waiting += text.length
      destination.write(text, () => onWritten(text.length))
    },
    close: () =>
      new Promise((resolve) => {
        const cancel = clock.after(CLOSE_MS, done)
        function done(): void {
          cancel()
          destination.off('error', ignore)
          resolve()
        }
        destination.write('', done)
      }),
  }
}

function ignore(): void {}
