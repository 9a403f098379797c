import { pino, type DestinationStream, type LevelWithSilent } from 'pino'
import type { Clock } from '../lib/clock.ts'
import type { CommandContext } from '../plan/step.ts'
import { printable } from '../lib/shown-text.ts'
import type { LogEntry } from './log-fields.ts'
import { LINES_LOST, openOutput, type Output } from './log-output.ts'
import { createPrettyLine } from './pretty-line.ts'
import type { Event } from '../contract/events.ts'
import { isDetail, linesOf } from './event-table.ts'
import { createLedgerLine, createReadingLines } from './reading-lines.ts'
import { SENSITIVE_NAMES, withoutAssignments, withoutUrlSecrets } from '../lib/sensitive.ts'

export interface LogOptions {
  readonly level: LevelWithSilent
  readonly format: 'json' | 'pretty'
  readonly destination: NodeJS.WritableStream
  readonly clock: Clock
  readonly commands?: CommandContext
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
  const { commands = {} } = options
  const remembered = { commands, readings: createReadingLines(), ledger: createLedgerLine() }
  let revision: string | undefined

  function write(event: Event): void {
    if (isDetail(event) && !logger.isLevelEnabled('debug')) return
    if (event.type === 'SourceLoaded') revision = event.revision.id
    for (const { level, message, facts } of linesOf(event, remembered)) {
      if (logger.isLevelEnabled(level)) logger[level](written({ revision, ...facts }), message)
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

function written(facts: LogEntry['facts']): LogEntry['facts'] {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, writtenFact(name, fact)]))
}

function writtenFact(name: string, fact: unknown): unknown {
  if (typeof fact === 'number') return name.endsWith('Ms') ? Math.round(fact * 10) / 10 : fact
  if (typeof fact === 'string')
    return writtenText(name === 'detail' ? maskLine(fact.slice(0, MASKED_TEXT)) : fact)
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
