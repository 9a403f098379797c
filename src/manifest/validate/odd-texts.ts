import { SENSITIVE_FIELDS } from '../../lib/sensitive.ts'
import type { Finding, Position } from '../../kinds/finding.ts'
import { referenceForm } from './reference-form.ts'
import type { YamlFinding } from '../yaml/syntax-findings.ts'
import { placeholderIn, TEMPLATE_STATEMENT } from '../yaml/text-findings.ts'

/** A line that Git writes where two changes meet. */
const CONFLICT = /^(?:<{7}|={7}|>{7})(?= |$)/m

/** A merge that is not finished is no YAML: that is what is said then, and once. */
export function asConflict(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  const { index } = CONFLICT.exec(text) ?? {}
  if (index === undefined) return findings
  const statement = {
    severity: 'error',
    code: 'yaml-syntax',
    message: 'Git left the marks of a conflict in this file.',
    hint: 'Keep one of the two versions, and remove the lines with "<<<<<<<", "=======" and ">>>>>>>".',
  } as const
  return [{ statement, range: { start: index, end: index + 7 } }]
}

/** A line of a template that is no part of any value. */
const TEMPLATE_LINE =
  /^ *(?:\{\{-? *(?:if|else|end|range|with|include|template|define|block|toYaml|\/\*|[.$])|\{[%#]|<%)/m

/** What templates of Helm and Go, Jinja and ERB begin with. */
const TEMPLATE_MARK = /\{[{%]|<%/

/** A template that was not rendered is mostly no YAML either: that is what is said then, and once. */
export function asTemplate(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  // The parser may notice such a line only below it, and blame what follows.
  const line = TEMPLATE_LINE.exec(text)
  const start =
    line === null
      ? lineStartsOf(findings, text)
          .map((at) => markInLine(text, at))
          .find((at) => at !== undefined)
      : line.index + line[0].search(/[{<]/)
  return start === undefined
    ? findings
    : [{ statement: TEMPLATE_STATEMENT, range: { start, end: start + 2 } }]
}

/** Of the lines of some findings; each once, since a line may be very long. */
function lineStartsOf(findings: readonly YamlFinding[], text: string): readonly number[] {
  const starts = new Set<number>()
  let end = -1
  let start = 0
  for (const { range } of findings) {
    if (range.start < start || range.start > end) {
      start = text.lastIndexOf('\n', range.start - 1) + 1
      const newline = text.indexOf('\n', range.start)
      end = newline === -1 ? text.length : newline
    }
    starts.add(start)
  }
  return [...starts]
}

/** Where a line holds such a mark: the parser stumbles over what is behind it. @param start of the line */
function markInLine(text: string, start: number): number | undefined {
  const end = text.indexOf('\n', start)
  const at = text.slice(start, end === -1 ? text.length : end).search(TEMPLATE_MARK)
  return at === -1 ? undefined : start + at
}

/** `${NAME}` inside {…} or […] is no YAML: the brace of it begins a mapping. */
const BRACE = /\$\{[A-Za-z_][\w.]{0,80}(?:[:?+=-][^}\n]{0,200})?\}/g

/** Where the parser stumbles over `${NAME}`, that is what is said. */
export function asPlaceholder(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  const [first] = findings
  if (first === undefined) return findings
  const lineStart = text.lastIndexOf('\n', first.range.start - 1) + 1
  const end = text.indexOf('\n', lineStart)
  const line = text.slice(lineStart, end === -1 ? text.length : end)
  for (const { index, 0: whole } of line.matchAll(BRACE)) {
    const range = { start: lineStart + index, end: lineStart + index + whole.length }
    if (range.start > first.range.start || range.end < first.range.start) continue
    const isForSecret = SENSITIVE_FIELDS.has(fieldBefore(line.slice(0, index)))
    return [{ statement: { ...placeholderIn('${…}', isForSecret), severity: 'error' }, range }]
  }
  return findings
}

/** Characters before a value that are looked at for the name of its field. */
const NEAR = 200

/** The name of the field whose value begins at the end of a line's part; empty where there is none. */
function fieldBefore(part: string): string {
  return /([A-Za-z]\w{0,80})["']?[ \t]*:[ \t]*["']?$/.exec(part.slice(-NEAR))?.[1] ?? ''
}

/** `!vault kafka/password`: where a reference may stand, without its tag it would be a secret that is written out. */
export function withReferences(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  return findings.map((finding) => {
    const { statement, range } = finding
    if (statement.code !== 'yaml-tag') return finding
    const line =
      text
        .slice(Math.max(0, range.start - NEAR), range.start)
        .split('\n')
        .at(-1) ?? ''
    const field = fieldBefore(line)
    if (!SENSITIVE_FIELDS.has(field)) return finding
    const value = /^!\S{0,80}[ \t]+["']?([^\s"',}]{1,90})/.exec(
      text.slice(range.start, range.start + 200),
    )?.[1]
    return { ...finding, statement: { ...statement, hint: `Write ${field}: ${referenceForm(value)}.` } }
  })
}

function placeOf({ line, column }: Omit<Position, 'file'>): string {
  return `${line}:${column}`
}

/**
 * Where a text is odd, and wrong for that reason, the reason is said, as severe as what follows from it. Templates are said once.
 * @param texts the findings about texts, each with the place of the whole text
 */
export function withTextsFirst(
  texts: readonly { readonly finding: Finding; readonly about: Omit<Position, 'file'> }[],
  others: readonly Finding[],
): readonly Finding[] {
  if (texts.length === 0) return others
  const odd = new Set(texts.map(({ about }) => placeOf(about)))
  const wrong = new Set(others.filter(({ severity }) => severity === 'error').map(placeOf))
  // That a secret is written out matters more than how.
  const literal = new Set(others.filter(({ code }) => code === 'literal-secret').map(placeOf))
  const template = texts.find(({ finding: { code } }) => code === TEMPLATE_STATEMENT.code)
  return [
    ...texts
      .filter(({ about }) => !literal.has(placeOf(about)))
      .filter((each) => each.finding.code !== TEMPLATE_STATEMENT.code || each === template)
      .map(({ finding, about }) =>
        wrong.has(placeOf(about)) ? { ...finding, severity: 'error' as const } : finding,
      ),
    ...others.filter((finding) => literal.has(placeOf(finding)) || !odd.has(placeOf(finding))),
  ]
}
