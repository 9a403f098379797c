import { pino, type DestinationStream } from 'pino'
import type { Clock } from '../lib/clock.ts'
import { printable } from '../lib/shown-text.ts'
import type { Line } from './log-fields.ts'
import { LINES_LOST, openOutput, type Output } from './log-output.ts'
import { errorFacts, maskText, REDACTED_PATHS } from './log-mask.ts'
import { createPrettyLine } from './pretty-line.ts'
import type { Event } from '../contract/events.ts'
import { isDetail, linesOf } from './event-table.ts'
import { createLedgerLines } from './ledger-lines.ts'
import { createReadingLines } from './reading-lines.ts'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export interface LogOptions {
  readonly level: LogLevel
  readonly format: 'json' | 'pretty'
  /** It stays open. `run` logs to standard output, the other commands to standard error. */
  readonly destination: NodeJS.WritableStream
  readonly clock: Clock
  /** For lines that people read: the words with the commands in them as they are typed here. */
  readonly typed?: (text: string) => string
}

export interface Logger {
  /** Whether lines of level `debug` are written. */
  readonly debugs: boolean
  write(level: Line['level'], facts: Line['facts'], message: string): void
  close(): Promise<void>
}

/** pino as we use it: ISO time, levels as words, nothing of the machine, and a net under secrets. */
export function createLogger(options: LogOptions): Logger {
  const output = openOutput({
    ...options,
    onRoom: (lines) => logger.warn({ lines }, LINES_LOST.message),
  })
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
  return {
    debugs: logger.isLevelEnabled('debug'),
    write(level, facts, message) {
      if (logger.isLevelEnabled(level)) logger[level](facts, message)
    },
    close: () => output.close(),
  }
}

function prettyOutput(output: Output, { destination, typed }: LogOptions): DestinationStream {
  const isTerminal = 'isTTY' in destination && destination.isTTY === true
  const noColour = (process.env['NO_COLOR'] ?? '') !== ''
  const pretty = createPrettyLine({ colour: isTerminal && !noColour, typed })
  return { write: (text) => output.write(pretty(text)) }
}

export interface Log {
  /** Writes the lines of an event. */
  tell(event: Event): void
  /** Writes what is still held back, and lets go of the destination. */
  close(): Promise<void>
}

/** Tells events as lines of a log; the revision stands on every line. */
export function createLog(options: LogOptions): Log {
  const logger = createLogger(options)
  const remembered = { readings: createReadingLines(), ledger: createLedgerLines() }
  let revision: string | undefined

  return {
    tell(event) {
      if (!logger.debugs && isDetail(event)) return
      if (event.type === 'SourceLoaded') revision = event.revision.id
      for (const { level, message, facts } of linesOf(event, remembered)) {
        logger.write(level, written({ revision, ...facts }), message)
      }
    },
    close: () => logger.close(),
  }
}

/** Container runtimes cut lines of more than 16 KB in two, and then they are no JSON any more: characters. */
const LONGEST_TEXT = 4_000

/** As much of a text is masked: what is cut off would have to show half a secret. */
const MASKED_TEXT = 4 * LONGEST_TEXT

/** Items of a list. */
const LONGEST_LIST = 50

/** Facts that fit into a line, and move no cursor. Milliseconds to a tenth: what is behind it says nothing. */
function written(facts: Line['facts']): Line['facts'] {
  return Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, writtenFact(name, fact)]))
}

function writtenFact(name: string, fact: unknown): unknown {
  if (typeof fact === 'number') return name.endsWith('Ms') ? Math.round(fact * 10) / 10 : fact
  if (typeof fact === 'string')
    return writtenText(name === 'detail' ? maskText(fact.slice(0, MASKED_TEXT)) : fact)
  if (Array.isArray(fact)) return fact.slice(0, LONGEST_LIST).map((item) => writtenText(String(item)))
  return fact
}

function writtenText(text: string): string {
  const shown = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text
  return printable(shown).toWellFormed()
}
