import type { Finding } from '../../kinds/finding.ts'
import type { YamlFinding } from '../yaml/syntax-findings.ts'
import { INVISIBLE, invisibleCharacter, TEMPLATE_STATEMENT } from '../yaml/text-findings.ts'

/** A line that Git writes where two changes meet. */
const CONFLICT = /^(?:<{7}|={7}|>{7})(?= |$)/m

/** The control lines and expressions of Helm and Go, Jinja and ERB templates. */
const TEMPLATE_MARK = /\{\{|\{[%#]|<%/

/** One finding for a merge conflict, a template or an invisible character: the parser's errors only follow from it. */
export function causeOfBrokenText(findings: readonly YamlFinding[], text: string): readonly YamlFinding[] {
  const conflict = CONFLICT.exec(text)
  if (conflict !== null)
    return [{ statement: CONFLICT_STATEMENT, range: { start: conflict.index, end: conflict.index + 7 } }]
  const mark = text.search(TEMPLATE_MARK)
  const isFirst = findings.some(({ range }) => mark !== -1 && mark <= range.start)
  if (isFirst || findings.some(({ range }) => lineAt(text, range.start).search(TEMPLATE_MARK) !== -1))
    return [{ statement: TEMPLATE_STATEMENT, range: { start: mark, end: mark + 2 } }]
  const invisible = INVISIBLE.exec(text)
  if (invisible === null || !findings.some(({ range }) => INVISIBLE.test(lineAt(text, range.start))))
    return findings
  const statement = { ...invisibleCharacter(invisible[0]), severity: 'error' } as const
  return [{ statement, range: { start: invisible.index, end: invisible.index + 1 } }]
}

/** Characters of a line that are read on both sides of a place. */
const NEAR = 200

/** The part of the line that is near a place: a line can be very long. */
function lineAt(text: string, at: number): string {
  const [before = ''] = text
    .slice(Math.max(0, at - NEAR), at)
    .split('\n')
    .slice(-1)
  const [after = ''] = text.slice(at, at + NEAR).split('\n', 1)
  return before + after
}

const CONFLICT_STATEMENT = {
  severity: 'error',
  code: 'yaml-syntax',
  message: 'Git left the marks of a merge conflict in this file.',
  hint: 'Keep one of the two versions. Remove the lines with "<<<<<<<", "=======" and ">>>>>>>".',
} as const

/**
 * The findings of a document. An odd text that is also wrong is one error, which names the oddity. A template is reported once. A
 * literal secret matters more than the form of its text.
 */
export function withTexts(texts: readonly Finding[], others: readonly Finding[]): readonly Finding[] {
  if (texts.length === 0) return others
  const literal = new Set(others.filter(({ code }) => code === 'literal-secret').map(placeOf))
  const wrong = new Set(others.filter(({ severity }) => severity === 'error').map(placeOf))
  const template = texts.find(({ code }) => code === TEMPLATE_STATEMENT.code)
  const odd = new Set(texts.map(placeOf))
  return [
    ...texts
      .filter((finding) => !literal.has(placeOf(finding)))
      .filter((finding) => finding.code !== TEMPLATE_STATEMENT.code || finding === template)
      .map((finding) => (wrong.has(placeOf(finding)) ? { ...finding, severity: 'error' as const } : finding)),
    ...others.filter((finding) => literal.has(placeOf(finding)) || !odd.has(placeOf(finding))),
  ]
}

function placeOf({ line, column }: Finding): string {
  return `${line}:${column}`
}
