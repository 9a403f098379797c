import type { Finding, Position } from '../../kinds/finding.ts'
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
  const template = findings.find(({ range: { start } }) => {
    const end = text.indexOf('\n', start)
    const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, end === -1 ? text.length : end)
    return TEMPLATE_MARK.test(line)
  })
  // The parser may notice such a line only below it, and blame what follows.
  const line = TEMPLATE_LINE.exec(text)
  const start = (line?.index ?? 0) + (line?.[0].search(/[{<]/) ?? 0)
  const range = line === null ? template?.range : { start, end: start + 2 }
  return range === undefined ? findings : [{ statement: TEMPLATE_STATEMENT, range }]
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
    return [{ statement: { ...placeholderIn('${…}'), severity: 'error' }, range }]
  }
  return findings
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
