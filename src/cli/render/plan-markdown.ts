import type { Plan, PlanItem } from '../../contract/plan.ts'
import type { Finding } from '../../kinds/finding.ts'
import { diffOf } from './plan-text.ts'
import { factsOf, headOf, newsOf, summaryOf } from './plan-words.ts'
import { printable } from './terminal.ts'

/** What GitHub takes for a comment, in characters. */
const COMMENT = 65_536

/** For what is said about what was left out, and for characters that count twice. */
const RESERVE = 1_536

/** Of a cell; the rest is below the table. */
const LONGEST_CELL = 300

/**
 * A comment for a pull request: the summary, a table, and each body folded. As much of it as a comment holds, what matters most
 * first, with a word on the rest.
 */
export function planAsMarkdown(plan: Plan): string {
  const news = newsOf(plan)
  const head = [
    `### Pipewright plan for \`${plan.revision}\``,
    '',
    ...(plan.problem === undefined ? [] : [`> ${escaped(plan.problem)}`, '']),
    summaryOf(plan),
    '',
  ]
  let room = COMMENT - RESERVE - lengthOf(head)
  const take = (lines: readonly string[]): readonly string[] => {
    const fitting: string[] = []
    for (const line of lines) {
      if (line.length + 1 > room) break
      room -= line.length + 1
      fitting.push(line)
    }
    return fitting
  }
  const findings = take(plan.findings.map(findingLine))
  const rows = take(news.map(rowOf))
  const folded = take(news.flatMap(foldedBody))
  const bodies = news.flatMap(foldedBody).length
  return [
    ...head,
    ...findings,
    ...(findings.length === 0 ? [] : ['']),
    ...(rows.length === 0
      ? []
      : ['| action | resource | what and why | where |', '|---|---|---|---|', ...rows, '']),
    ...folded,
    ...leftOut(plan.findings.length - findings.length, 'finding'),
    ...leftOut(news.length - rows.length, 'resource'),
    ...leftOut(bodies - folded.length, 'body', 'bodies'),
  ].join('\n')
}

function leftOut(count: number, one: string, many = `${one}s`): readonly string[] {
  if (count === 0) return []
  const what = `${count} more ${count === 1 ? one : many}`
  return ['', `_${what} left out: a comment holds no more. \`pipewright plan\` shows all._`]
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}

function findingLine({ severity, code, file, line, column, message, hint }: Finding): string {
  return `- **${severity}** \`${code}\` \`${file}:${line}:${column}\` ${escaped(message)} ${escaped(hint)}`
}

function rowOf(item: PlanItem): string {
  const place = item.file === undefined ? '' : `\`${item.file}:${item.line ?? 1}\``
  const message =
    item.message.length > LONGEST_CELL ? `${item.message.slice(0, LONGEST_CELL - 1)}…` : item.message
  return `| ${escaped(headOf(item))} | \`${item.key}\` | ${escaped(message)} | ${place} |`
}

/** One text for each: folded away until somebody wants to see it. */
function foldedBody(item: PlanItem): readonly string[] {
  const facts = factsOf(item)
  const diff = diffOf(item)
  if (facts.length === 0 && diff.length === 0) return []
  const lines = diff.map(
    ({ sign, text }) => `${sign === '…' ? '@@' : sign} ${text}${sign === '…' ? ' @@' : ''}`,
  )
  const fence = fenceFor(lines)
  return [
    [
      `<details><summary>${escaped(`${item.key}: ${headOf(item)}`)}</summary>`,
      '',
      ...facts.map((fact) => `- ${escaped(fact)}`),
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

function escaped(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('|', String.raw`\|`)
    .replaceAll('\n', ' ')
}
