import type { Statement } from '../diagnostics/diagnostic.ts'
import { looksLikeToken } from '../diagnostics/mask-lines.ts'
import type { Range } from './node-range.ts'
import { SYNTAX } from './syntax-words.ts'

/** A change of one line that may make a broken text right, and what is said when it does. Lines are neither added nor removed. */
export interface Repair {
  readonly edit: Range & { readonly text: string }
  readonly range: Range
  readonly statement: Statement
}

/** One line of a text, without its line break. */
export interface Line {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The line in which an offset stands; a line break belongs to the line that it ends. */
export function lineAt(text: string, offset: number): Line {
  const start = offset <= 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
  const newline = text.indexOf('\n', Math.max(0, offset))
  const end = newline === -1 ? text.length : newline
  return { start, end, text: text.slice(start, end) }
}

/** The next line that says something. */
export function nextLine(text: string, { end }: Line): Line | undefined {
  for (let at = end + 1; at < text.length;) {
    const line = lineAt(text, at)
    if (saysSomething(line)) return line
    at = line.end + 1
  }
  return undefined
}

/** The line before it that says something. */
export function previousLine(text: string, { start }: Line): Line | undefined {
  for (let at = start - 1; at >= 0;) {
    const line = lineAt(text, at)
    if (saysSomething(line)) return line
    at = line.start - 1
  }
  return undefined
}

/** The line where the parser noticed a mistake, with the one before and the one after it: one of them is wrong, mostly. */
export function linesAround(text: string, offset: number): readonly Line[] {
  const line = lineAt(text, offset)
  const lines = saysSomething(line) ? [line] : []
  return [...lines, nextLine(text, line), previousLine(text, line)].filter((each) => each !== undefined)
}

function saysSomething({ text }: Line): boolean {
  const content = text.trimStart()
  return content !== '' && !content.startsWith('#')
}

export function indentOf({ text }: Line): number {
  return /^ */.exec(text)?.[0].length ?? 0
}

/** The name of the field that a line begins with, in quotes, as far as it can be shown. */
export function shownField({ text }: Line): string | undefined {
  const name = /^ *(?:- +)*([A-Za-z][\w.-]{0,39}):/.exec(text)?.[1]
  return name === undefined || looksLikeToken(name) ? undefined : `"${name}"`
}

/** What is wrong with the text, in words. */
export function syntaxError(message: string, hint: string): Statement {
  return { severity: 'error', code: SYNTAX, message, hint }
}
