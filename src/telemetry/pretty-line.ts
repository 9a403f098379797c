import pinoPretty from 'pino-pretty'
import { shortRevision } from '../contract/catalog.ts'
import { printable as printableText } from '../lib/shown-text.ts'
import { formatDuration } from '../lib/duration.ts'
import { FIELDS } from './log-fields.ts'

type Log = Readonly<Record<string, unknown>>

const IN_WORDS = Object.keys(FIELDS).filter((name) => !['level', 'time', 'msg', 'err'].includes(name))

/** Fields that another part of the line shows, or that only machines need. */
const NOT_REPEATED: ReadonlySet<string> = new Set([
  'level',
  'time',
  'app',
  'msg',
  'key',
  'detail',
  'hint',
  'file',
  'line',
  'column',
  'reconcileId',
  'revision',
  'manifestRevision',
  'err',
])

/** Omits a detail that the line before had for the same key. */
export function createPrettyLine(options: { readonly colour: boolean }): (json: string) => string {
  const { colour } = options
  let before: { readonly key: unknown; readonly detail: unknown } | undefined

  function wordsOf(log: Log, messageKey: string): string {
    const { key, detail } = log
    const isRepeated = detail !== undefined && before?.key === key && before?.detail === detail
    before = { key, detail }
    return [
      log[messageKey],
      key,
      isRepeated ? undefined : [detail, log['hint']].filter(isText).join(' '),
      placeOf(log),
      revisionOf(log),
      factsOf(log),
    ]
      .filter(isText)
      .map(printable)
      .join(' · ')
  }

  // Not pino-pretty's stream, because it buffers lines and ends its destination.
  return pinoPretty.prettyFactory({
    colorize: colour,
    translateTime: 'SYS:HH:MM:ss',
    ignore: IN_WORDS.join(','),
    messageFormat: wordsOf,
  })
}

function placeOf({ file, line, column }: Log): string | undefined {
  if (typeof file !== 'string') return undefined
  return [file, ...[line, column].filter((part) => typeof part === 'number')].join(':')
}

function revisionOf(log: Log): string | undefined {
  const { revision } = log
  return 'manifests' in log && typeof revision === 'string'
    ? `revision ${shortRevision(revision)}`
    : undefined
}

function factsOf(log: Log): string {
  return Object.entries(log)
    .filter(([name]) => !NOT_REPEATED.has(name))
    .flatMap(([name, value]) => factOf(name, value))
    .join(' ')
}

function factOf(name: string, value: unknown): readonly string[] {
  if (typeof value === 'number' && name.endsWith('Ms'))
    return [`${name.slice(0, -2)}=${formatDuration(value)}`]
  if (Array.isArray(value)) return value.length === 0 ? [] : [`${name}=${value.map(wordOf).join(',')}`]
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([inner, one]) => (one === 0 ? [] : factOf(inner, one)))
  }
  return [`${name}=${wordOf(value)}`]
}

function wordOf(value: unknown): string {
  const text = String(value)
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Texts of a platform must not move the cursor or start a line. */
function printable(text: string): string {
  return printableText(text.replace(/\p{Cc}+/gu, ' '))
}
