import type { Plan, PlanItem } from '../../contract/plan.ts'
import type { Finding } from '../../kinds/finding.ts'
import { diffOf } from './plan-text.ts'
import { byCause, factsOf, headOf, keysOf, missingLedgerWords, newsOf, summaryOf } from './plan-words.ts'
import { asMarkdown, codeInMarkdown } from './markdown.ts'

/** What GitHub takes for a comment, in characters. */
const COMMENT = 65_536

/** For what is said about what was left out, and for characters that count twice. */
const RESERVE = 1_536

/** Of a cell; the whole message is below the table. */
const LONGEST_CELL = 300

/** Items of one cause; mostly one. */
type Cause = readonly [PlanItem, ...PlanItem[]]

/**
 * A comment for a pull request: the summary, a table with a row a cause, and each body folded. As much of it as a comment holds,
 * what matters most first, with a word on the rest.
 */
export function planAsMarkdown(plan: Plan): string {
  const causes = byCause(newsOf(plan))
  const noLedger = missingLedgerWords(plan)
  const head = [
    `### Pipewright plan for ${codeInMarkdown(plan.revision)}`,
    '',
    ...(noLedger === undefined ? [] : [`> ${asMarkdown(noLedger)}`, '']),
    ...(plan.problem === undefined ? [] : [`> ${asMarkdown(plan.problem)}`, '']),
    asMarkdown(summaryOf(plan)),
    '',
  ]
  let room = COMMENT - RESERVE - head.reduce((sum, line) => sum + line.length + 1, 0)
  /** Those that fit: a large one does not keep out what is smaller. */
  const take = (lines: readonly string[]): readonly string[] =>
    lines.filter((line) => {
      const fits = line.length + 1 <= room
      if (fits) room -= line.length + 1
      return fits
    })
  const findings = take(plan.findings.map(findingLine))
  const rows = take(causes.map(rowOf))
  const folds = causes.flatMap(foldOf)
  const folded = take(folds)
  return [
    ...head,
    ...findings,
    ...(findings.length === 0 ? [] : ['']),
    ...(rows.length === 0
      ? []
      : ['| action | resource | what and why | where |', '|---|---|---|---|', ...rows, '']),
    ...folded,
    ...leftOut(plan.findings.length - findings.length, 'finding'),
    ...leftOut(causes.length - rows.length, 'row'),
    ...leftOut(folds.length - folded.length, 'body', 'bodies'),
  ].join('\n')
}

function leftOut(count: number, one: string, many = `${one}s`): readonly string[] {
  if (count === 0) return []
  const what = `${count} more ${count === 1 ? one : many}`
  return ['', `_${what} left out: a comment holds no more. \`pipewright plan\` shows all._`]
}

function findingLine({ severity, code, file, line, column, message, hint }: Finding): string {
  const place = codeInMarkdown(`${file}:${line}:${column}`)
  return `- **${severity}** \`${code}\` ${place} ${asMarkdown(message)} ${asMarkdown(hint)}`
}

function rowOf([item, ...more]: Cause): string {
  const isOne = more.length === 0
  const place = isOne && item.file !== undefined ? codeInMarkdown(`${item.file}:${item.line ?? 1}`) : ''
  const what = isOne ? codeInMarkdown(item.key) : `${more.length + 1} resources`
  const message = isCut(item) ? `${item.message.slice(0, LONGEST_CELL - 1)}…` : item.message
  return `| ${asMarkdown(headOf(item))} | ${what} | ${asMarkdown(message)} | ${place} |`
}

function isCut({ message }: PlanItem): boolean {
  return message.length > LONGEST_CELL
}

/** One text for each: folded away until somebody wants to see it. */
function foldOf(cause: Cause): readonly string[] {
  const [item, ...more] = cause
  const facts = more.length > 0 ? [keysOf(cause)] : factsOf(item)
  const diff = more.length > 0 ? [] : diffOf(item)
  if (facts.length === 0 && diff.length === 0 && !isCut(item)) return []
  const lines = diff.map(
    ({ sign, text }) => `${sign === '…' ? '@@' : sign} ${text}${sign === '…' ? ' @@' : ''}`,
  )
  const fence = fenceFor(lines)
  const what = more.length > 0 ? `${cause.length} resources` : item.key
  return [
    [
      `<details><summary>${asMarkdown(`${what}: ${headOf(item)}`)}</summary>`,
      '',
      ...(isCut(item) ? [asMarkdown(item.message), ''] : []),
      ...facts.map((fact) => `- ${asMarkdown(fact)}`),
      ...(lines.length === 0 ? [] : ['', `${fence}diff`, ...lines, fence]),
      '',
      '</details>',
      '',
    ].join('\n'),
  ]
}

/** Longer than any row of backticks in what it holds. */
function fenceFor(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`+/g) ?? []).map((row) => row.length)))
  return '`'.repeat(longest + 1)
}
