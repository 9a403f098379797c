import { stripVTControlCharacters } from 'node:util'
import { type Plan, type PlanItem, planMessage } from '../../contract/plan.ts'
import type { Finding } from '../../kinds/finding.ts'
import { diffOf } from './plan-text.ts'
import { byCause, factsOf, headOf, keyWords, missingLedgerWords, newsOf, summaryOf } from './plan-words.ts'
import { plainText } from './terminal.ts'

/** GitHub's limit of a comment, in characters. */
const COMMENT = 65_536

/** Characters kept free for a note on omitted items, and for characters that GitHub counts twice. */
const RESERVE = 1_536

/** Characters. A longer message is cut in the table, and is complete below it. */
const LONGEST_CELL = 300

type Cause = readonly [PlanItem, ...PlanItem[]]

/** A table with a row for each cause, then the bodies. Omits the least important items if they do not fit. */
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
  const whole = planMessage(item, {})
  const message = isCut(whole) ? `${whole.slice(0, LONGEST_CELL - 1)}…` : whole
  return `| ${asMarkdown(headOf(item))} | ${what} | ${asMarkdown(message)} | ${place} |`
}

function isCut(message: string): boolean {
  return message.length > LONGEST_CELL
}

function foldOf(cause: Cause): readonly string[] {
  const [item, ...more] = cause
  const facts = more.length > 0 ? [keyWords(cause)] : factsOf(item)
  const diff = more.length > 0 ? [] : diffOf(item)
  const message = planMessage(item, {})
  if (facts.length === 0 && diff.length === 0 && !isCut(message)) return []
  const lines = diff.map(({ sign, text }) => (sign === '…' ? `@@ ${text} @@` : `${sign} ${text}`))
  const fence = fenceFor(lines)
  const what = more.length > 0 ? `${cause.length} resources` : item.key
  return [
    [
      `<details><summary>${asMarkdown(`${what}: ${headOf(item)}`)}</summary>`,
      '',
      ...(isCut(message) ? [asMarkdown(message), ''] : []),
      ...facts.map((fact) => `- ${asMarkdown(fact)}`),
      ...(lines.length === 0 ? [] : ['', `${fence}diff`, ...lines, fence]),
      '',
      '</details>',
      '',
    ].join('\n'),
  ]
}

/** @returns a code fence, longer than any run of backticks in the lines */
function fenceFor(lines: readonly string[]): string {
  const longest = Math.max(2, ...lines.flatMap((line) => (line.match(/`+/g) ?? []).map((row) => row.length)))
  return '`'.repeat(longest + 1)
}

/** Characters with a meaning in Markdown or HTML, or at the start of a mention or link. */
const MARKUP = /[&<>|\\`*[\]~]|(?<!\w)_|_(?!\w)|@(?=\w)|#(?=\d)|:(?=\/\/)|\bw(?=ww\.)/gi

/** An invisible character. After `@` or `#`, it prevents a link. */
const NO_WIDTH = '&#8203;'

function asMarkdown(text: string): string {
  return oneLine(text).replaceAll(MARKUP, (sign) =>
    sign === '@' || sign === '#' ? `${sign}${NO_WIDTH}` : `&#${sign.codePointAt(0)};`,
  )
}

function codeInMarkdown(text: string): string {
  const line = oneLine(text)
  // Between backticks, no character can be escaped.
  return /[`|\\]/.test(line) ? `<code>${asMarkdown(line)}</code>` : `\`${line}\``
}

function oneLine(text: string): string {
  return plainText(stripVTControlCharacters(text)).replaceAll(/\s*\n\s*/g, ' ')
}
