import { CST, Lexer } from 'yaml'

/** What one reading may cost; whatever is beyond is a finding, never a crash. */
export interface Limits {
  /** Bytes of one file. */
  readonly fileBytes: number
  /** Files of one reading; folders have the same limit. */
  readonly files: number
  /** Bytes of all files of one reading. */
  readonly bytes: number
  /** Documents of all files of one reading. */
  readonly allDocuments: number
  /** Marks of one file that begin a value or separate two. */
  readonly marks: number
  /** The same of one document, which is parsed at one go. */
  readonly documentMarks: number
  /** Documents of one file. */
  readonly documents: number
  /** Nesting of collections in one document. */
  readonly depth: number
  /** How many nodes the aliases of one document may stand for. */
  readonly aliases: number
  /** Findings of one document. */
  readonly findings: number
  /** Findings of one document that have the same code. */
  readonly findingsOfRule: number
  /** Findings of one file; of documents beyond, only that they have errors is said. */
  readonly findingsOfFile: number
}

export const DEFAULT_LIMITS: Limits = {
  fileBytes: 1_048_576,
  files: 20_000,
  bytes: 33_554_432,
  allDocuments: 20_000,
  marks: 175_000,
  documentMarks: 50_000,
  documents: 1_000,
  depth: 64,
  aliases: 100,
  findings: 200,
  findingsOfRule: 20,
  findingsOfFile: 250,
}

/* What is counted before a text is parsed, as parsing it would cost too much. */

/**
 * Where the marks of YAML that begin a value or separate two exceed `limit`, as an offset, or `undefined`. Each costs
 * the parser about ten microseconds, so that their number, and not that of bytes, is what a hostile file is made of.
 * Knows no quotes: a long text may hold such marks too, but not a hundred thousand of them.
 */
export function findTooMany(text: string, limit: number): number | undefined {
  if (text.length <= limit) return undefined
  let count = 0
  let fresh = true
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === LINE_BREAK) fresh = true
    else if (MARKS.has(code) || isLoose(code, text.charCodeAt(at + 1))) count += 1
    else if (fresh && code > SPACE) {
      count += 1
      fresh = false
    }
    if (count > limit) return at
  }
  return undefined
}

const LINE_BREAK = 10
const SPACE = 32

/** The codes of `[`, `{`, `,`, `:`, `&`, `*`, `!`, and of the `\` of an escape. */
const MARKS: ReadonlySet<number> = new Set([91, 123, 44, 58, 38, 42, 33, 92])

/** `-` and `?`, which are marks only before white space, and quotes before white space or another one. */
function isLoose(code: number, next: number): boolean {
  if (code === 45 || code === 63) return next <= SPACE
  return isQuote(code) && (next <= SPACE || isQuote(next))
}

function isQuote(code: number): boolean {
  return code === 34 || code === 39
}

/**
 * Where the nesting of collections first exceeds `limit`, as an offset, or `undefined`. Looked for before parsing,
 * because parsing deep nesting is slow and ends in a stack overflow.
 */
export function findTooDeep(text: string, limit: number): number | undefined {
  return maySurpass(text, limit) ? findInTokens(text, limit) : undefined
}

/** A cheap look at the characters. It may be wrong in both directions: text in quotes looks like brackets. */
function maySurpass(text: string, limit: number): boolean {
  const columns: number[] = []
  let flow = 0
  let lineStart = 0
  let leading = true
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 10) {
      lineStart = at + 1
      leading = true
    } else if (code === 91 || code === 123) flow += 1
    else if (code === 93 || code === 125) flow = Math.max(0, flow - 1)
    if (leading && code > 32) {
      nest(columns, at - lineStart)
      leading = isIndicator(code) && text.charCodeAt(at + 1) <= 32
    }
    if (flow + columns.length > limit) return true
  }
  return false
}

/** The same with YAML's own tokens: exact, and without recursion. */
function findInTokens(text: string, limit: number): number | undefined {
  const columns: number[] = []
  let flow = 0
  let offset = 0
  let lineStart = 0
  let leading = true
  let scalar = false
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token)
    if (scalar || type === null || type === 'block-scalar-header') {
      if (leading && type !== 'block-scalar-header') nest(columns, offset - lineStart)
      leading = false
      scalar = false
    } else if (type === 'scalar' || type === 'flow-error-end' || type === 'doc-mode') {
      scalar = type === 'scalar'
      continue
    } else if (type === 'doc-start' || type === 'doc-end') {
      columns.length = 0
      flow = 0
    } else if (type === 'flow-map-start' || type === 'flow-seq-start') flow += 1
    else if (type === 'flow-map-end' || type === 'flow-seq-end') flow = Math.max(0, flow - 1)
    else if (
      leading &&
      (type === 'seq-item-ind' || type === 'explicit-key-ind' || type === 'map-value-ind')
    ) {
      nest(columns, offset - lineStart)
    }
    if (flow + columns.length > limit) return offset
    offset += token.length
    const newline = token.lastIndexOf('\n')
    if (newline >= 0) {
      lineStart = offset - (token.length - newline - 1)
      leading = true
    }
  }
  return undefined
}

/** Enters the column of a line's content into the columns of what it stands in. */
function nest(columns: number[], column: number): void {
  while (columns.length > 0 && (columns.at(-1) ?? 0) > column) columns.pop()
  if (columns.at(-1) !== column) columns.push(column)
}

function isIndicator(code: number): boolean {
  return code === 45 || code === 63 || code === 58
}
