import type { Range } from './node-range.ts'

/** A line whose indentation is the mistake, and those that would be right. */
export interface OddIndent {
  /** Its first word. */
  readonly range: Range
  readonly spaces: number
  /** Spaces that its siblings have: one or two numbers, or none that is known. */
  readonly right: readonly number[]
}

/** A field, as far as its ":". */
const FIELD = /^( *)(?:- +)*[^\s#"'{[-][^:\n]*:(?: |$)/

/**
 * Where a value is followed by a field that is indented deeper, the parser takes both for one text, and blames the value. The mistake is
 * in the line below.
 * @param offset where the parser noticed it
 */
export function deeperLine(text: string, offset: number): OddIndent | undefined {
  const line = lineAt(text, offset)
  const own = contentIndent(line.text)
  const next = nextLine(text, line.end)
  if (next === undefined || !FIELD.test(next.text)) return undefined
  const spaces = indentOf(next.text)
  return spaces > own ? { range: firstWord(next), spaces, right: [own] } : undefined
}

/** A line that stands at none of the depths above it. */
export function oddLine(text: string, offset: number): OddIndent | undefined {
  const line = lineAt(text, offset)
  if (/^ *\t/.test(line.text) || line.text.trim() === '') return undefined
  const spaces = indentOf(line.text)
  const depths: number[] = []
  let end = line.start - 1
  while (end > 0 && depths.at(-1) !== 0) {
    const above = lineAt(text, end - 1)
    end = above.start - 1
    if (above.text.trim() === '' || above.text.trimStart().startsWith('#')) continue
    const depth = indentOf(above.text)
    if (depth < (depths.at(-1) ?? Infinity)) depths.push(depth)
  }
  if (depths.includes(spaces)) return undefined
  const right = [
    Math.max(...depths.filter((depth) => depth < spaces)),
    Math.min(...depths.filter((depth) => depth > spaces)),
  ]
  return { range: firstWord(line), spaces, right: right.filter(Number.isFinite) }
}

interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
}

function lineAt(text: string, offset: number): Line {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const newline = text.indexOf('\n', offset)
  const end = newline === -1 ? text.length : newline
  return { start, end, text: text.slice(start, end) }
}

/** The next one that says something. */
function nextLine(text: string, end: number): Line | undefined {
  for (let at = end + 1; at < text.length;) {
    const line = lineAt(text, at)
    if (line.text.trim() !== '' && !line.text.trimStart().startsWith('#')) return line
    at = line.end + 1
  }
  return undefined
}

function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0
}

/** Where the content of an item of a list begins. */
function contentIndent(line: string): number {
  return /^ *(?:- +)*/.exec(line)?.[0].length ?? 0
}

function firstWord({ start, text }: Line): Range {
  const at = start + indentOf(text)
  return { start: at, end: at + (/^\S+?(?=:|\s|$)/.exec(text.trimStart())?.[0].length ?? 1) }
}
