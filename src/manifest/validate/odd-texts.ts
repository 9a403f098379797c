import type { Finding, Position } from '../../kinds/finding.ts'
import type { YamlFinding } from '../yaml/syntax-findings.ts'
import { TEMPLATE_STATEMENT } from '../yaml/text-findings.ts'

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
const TEMPLATE_LINE = /^ *\{\{-? *(?:if|else|end|range|with|include|template|define|block|toYaml|\/\*|[.$])/m

/** A template that was not rendered is mostly no YAML either: that is what is said then, and once. */
export function asTemplate(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  const template = findings.find(({ range: { start } }) => {
    const end = text.indexOf('\n', start)
    return text.slice(text.lastIndexOf('\n', start - 1) + 1, end === -1 ? text.length : end).includes('{{')
  })
  // The parser may notice such a line only below it, and blame what follows.
  const line = TEMPLATE_LINE.exec(text)
  const start = (line?.index ?? 0) + (line?.[0].indexOf('{{') ?? 0)
  const range = template?.range ?? (line === null ? undefined : { start, end: start + 2 })
  return range === undefined ? findings : [{ statement: TEMPLATE_STATEMENT, range }]
}

function placeOf({ line, column }: Position): string {
  return `${line}:${column}`
}

/**
 * Where a text is odd, and wrong for that reason, the reason is said, as severe as what follows from it. Templates are said once.
 * @param count of the first findings, which are about texts
 */
export function withTextsFirst(findings: readonly Finding[], count: number): readonly Finding[] {
  if (count === 0 || findings.length === 0) return findings
  const [texts, others] = [findings.slice(0, count), findings.slice(count)]
  const odd = new Set(texts.map(placeOf))
  const wrong = new Set(others.filter(({ severity }) => severity === 'error').map(placeOf))
  // That a secret is written out matters more than how.
  const literal = new Set(others.filter(({ code }) => code === 'literal-secret').map(placeOf))
  const template = texts.find(({ code }) => code === TEMPLATE_STATEMENT.code)
  return [
    ...texts
      .filter((finding) => !literal.has(placeOf(finding)))
      .filter((finding) => finding.code !== TEMPLATE_STATEMENT.code || finding === template)
      .map((finding) => (wrong.has(placeOf(finding)) ? { ...finding, severity: 'error' as const } : finding)),
    ...others.filter((finding) => literal.has(placeOf(finding)) || !odd.has(placeOf(finding))),
  ]
}
