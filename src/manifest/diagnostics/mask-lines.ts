import { nearest } from '../../lib/nearest.ts'
import {
  isSensitiveName,
  withoutSecrets,
  SENSITIVE_FIELDS,
  SENSITIVE_NAMES,
  UUID,
} from '../../lib/sensitive.ts'

export const MASK = '[masked]'

/** UTF-16 code units. The rest of a line is cut off, because findings show fewer characters. */
const MAX_LINE_LENGTH = 4_096

const FIELD = /(?<=^|[\s{,[?"'-])(["']?)([A-Za-z_$][\w.$-]{0,80})\1[ \t]*(?::|=(?!=))[ \t]*/g

const FIELDS = String.raw`\{\s*(?:name\s*:\s*[\w.-]{1,80})?(?:\s*,\s*key\s*:\s*[\w.-]{1,80})?\s*\}`

/** Matches a secret reference in flow style, up to the end of its line or list item. */
const REFERENCE = new RegExp(String.raw`^(?:\{\s*secretRef\s*:\s*${FIELDS}\s*\}|${FIELDS})[\s}\]]*(?=,|#|$)`)

const NAME = /^\s*(?:- )?["']?[\w.$-]+["']?\s*:\s*/

const KNOWN_NAME = new RegExp(`^\\s*["']?(?:${SENSITIVE_NAMES.join('|')}|secretRef)["']?\\s*:(?:\\s+|$)`)

const RUN = /[A-Za-z0-9+/_=-]{32,}/g

const PEM_START = '-----BEGIN'
const PEM_END = '-----END'

export function looksSensitive(name: string): boolean {
  if (isSensitiveName(name)) return true
  return name.length > 5 && nearest(name.slice(0, 80), SENSITIVE_FIELDS) !== undefined
}

export function looksLikeToken(text: string): boolean {
  return text.includes(PEM_START) || (text.match(RUN) ?? []).some((run) => !isHarmlessRun(run))
}

/** Masks secrets in lines. It parses no YAML, because broken texts must be masked, too. */
export function maskLines(lines: readonly string[]): readonly string[] {
  let open: Open | undefined
  return lines.map((line) => {
    const step = maskLine(line.slice(0, MAX_LINE_LENGTH), open)
    open = step.open
    return step.text
  })
}

interface Open {
  /** A field with this indent or less ends the secret. */
  readonly indent: number
  /** Closing text of the quote or PEM block. Undefined outside both. */
  readonly until: string | undefined
}

interface Step {
  readonly text: string
  readonly open: Open | undefined
}

function maskLine(line: string, open: Open | undefined): Step {
  if (open === undefined || /^(?:---|\.\.\.)(?:\s|$)/.test(line)) return maskFields(line)
  const indent = indentOf(line)
  const until = closerOf(open.until === undefined ? line.replace(NAME, '') : line, open.until)
  if (open.until === undefined) {
    if (line.trim() === '') return { text: line, open }
    const isBelow = indent > open.indent || (indent === open.indent && /^\s*-(?:\s|$)/.test(line))
    if (!isBelow && NAME.test(line)) return maskFields(line)
  }
  const name = open.until === undefined ? KNOWN_NAME.exec(line)?.[0] : undefined
  return { text: (name ?? line.slice(0, indent)) + MASK, open: { indent: open.indent, until } }
}

function maskFields(line: string): Step {
  const indent = indentOf(line)
  const maskedFrom = (at: number, until: string | undefined): Step => ({
    text: maskRuns(line.slice(0, at)) + (at < line.length ? MASK : ''),
    open: { indent, until },
  })
  const pem = line.indexOf(PEM_START)
  if (pem !== -1) return maskedFrom(pem, closerOf(line))
  let checkedTo = 0
  for (const { index, 0: field, 2: name = '' } of line.matchAll(FIELD)) {
    const at = index + field.length
    if (at <= checkedTo || !looksSensitive(name)) continue
    const reference = REFERENCE.exec(line.slice(at))
    if (reference === null) return maskedFrom(at, closerOf(line.slice(at)))
    checkedTo = at + reference[0].length
  }
  const explicit = /^\s*\?\s+["']?([\w.$-]{1,80})/.exec(line)?.[1]
  if (explicit !== undefined && looksSensitive(explicit)) return maskedFrom(line.length, undefined)
  // After a backslash at the end, a URL or a signature in double quotes continues on the next line.
  const cut = line.endsWith('\\') ? line.search(/\/\/|=/) : -1
  return cut === -1 ? { text: maskRuns(line), open: undefined } : maskedFrom(cut, '"')
}

function closerOf(value: string, until?: string): string | undefined {
  const end = value.lastIndexOf(PEM_END)
  const isQuoted = until !== undefined && until !== PEM_END
  if (!isQuoted && value.lastIndexOf(PEM_START) > end) return PEM_END
  if (until === PEM_END && end === -1) return until
  if (!isQuoted && !/^["'[{!&]/.test(value)) return undefined
  let quote = isQuoted ? until : undefined
  for (const [mark] of value.matchAll(/\\.|["']/g)) {
    if (quote === undefined && mark.length === 1) quote = mark
    else if (quote === mark) quote = undefined
  }
  return quote
}

function maskRuns(text: string): string {
  return withoutSecrets(text, MASK).replaceAll(RUN, (run) => (isHarmlessRun(run) ? run : MASK))
}

/** A UUID, or words without a digit, as in a long name of a table. */
function isHarmlessRun(run: string): boolean {
  return UUID.test(run) || /^[a-z_/-]+$/.test(run) || /^-+$/.test(run)
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}
