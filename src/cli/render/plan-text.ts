import type { Difference } from '../../kinds/difference.ts'
import type { Finding } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import type { ActionType } from '../../plan/action.ts'
import type { Reason } from '../../plan/reason.ts'
import { findingsAsText } from './findings-text.ts'
import type { Paint } from './paint.ts'
import { printable } from './text-table.ts'

/** What would happen to one key. */
export interface PlanItem {
  readonly key: Key
  readonly action: ActionType
  readonly reason: Reason
  readonly message: string
  readonly differences: readonly Difference[]
  readonly takesAway: readonly string[]
  /** The platform or the ledger could not be asked. */
  readonly failed: boolean
  readonly file: string | undefined
  readonly line: number | undefined
}

/** A plan is a value; `-o json` prints it as it is. */
export interface Plan {
  readonly revision: string
  readonly manifests: string
  readonly problem: string | undefined
  readonly brake: { readonly wanted: number; readonly limit: number; readonly on: boolean }
  readonly counts: Readonly<Record<string, number>>
  /** In the order of their keys; `observe` items are those that are fine. */
  readonly items: readonly PlanItem[]
  readonly findings: readonly Finding[]
}

const SIGNS: Readonly<
  Record<ActionType, { readonly sign: string; readonly style: 'green' | 'yellow' | 'red' | 'dim' }>
> = {
  create: { sign: '+', style: 'green' },
  adopt: { sign: '>', style: 'green' },
  upsert: { sign: '~', style: 'yellow' },
  report: { sign: '!', style: 'yellow' },
  refuse: { sign: '✗', style: 'red' },
  hold: { sign: '.', style: 'dim' },
  observe: { sign: '=', style: 'dim' },
}

/** It could not be found out. */
const FAILED = { sign: '?', style: 'red' } as const

export function planAsText(plan: Plan, paint: Paint): string {
  const shown = plan.items.filter(isNews)
  const blocks = shown.map((item) => {
    const { sign, style } = item.failed ? FAILED : SIGNS[item.action]
    const place = item.file === undefined ? '' : paint('dim', `  ${item.file}:${item.line ?? 1}`)
    const head = `${paint([style, 'bold'], sign)} ${paint('bold', item.key)}  ${item.action} ${item.reason}${place}`
    const body = [`    ${item.message}`, ...detailsOf(item).map((line) => `      ${line}`)]
    return printable([head, ...body].join('\n'))
  })
  const findings = plan.findings.length === 0 ? [] : [findingsAsText(plan.findings, plan.manifests, paint)]
  const problem = plan.problem === undefined ? [] : [paint('red', `${plan.manifests}: ${plan.problem}`)]
  return [...problem, ...findings, ...blocks, summaryOf(plan)].join('\n')
}

/** A comment for a pull request. */
export function planAsMarkdown(plan: Plan): string {
  const rows = plan.items.filter(isNews).map((item) => {
    const place = item.file === undefined ? '' : `\`${item.file}:${item.line ?? 1}\``
    const details = detailsOf(item).map((line) => `<br>${escapeCell(line)}`)
    return `| ${item.action} | \`${item.key}\` | ${item.reason} | ${escapeCell(item.message)}${details.join('')} | ${place} |`
  })
  const table =
    rows.length === 0
      ? []
      : ['| action | resource | reason | what and why | where |', '|---|---|---|---|---|', ...rows, '']
  const findings = plan.findings.map(
    ({ severity, code, file, line, column, message, hint }) =>
      `- **${severity}** \`${code}\` \`${file}:${line}:${column}\` ${escapeCell(message)} ${escapeCell(hint)}`,
  )
  const problem = plan.problem === undefined ? [] : [`> ${escapeCell(plan.problem)}`, '']
  return [
    `### Pipewright plan for \`${plan.revision}\``,
    '',
    ...problem,
    summaryOf(plan),
    '',
    ...table,
    ...findings,
  ].join('\n')
}

function isNews(item: PlanItem): boolean {
  return item.action !== 'observe' || item.failed
}

function detailsOf(item: PlanItem): readonly string[] {
  return [
    ...item.differences.map(({ field, desired, observed }) => `${field}: wanted ${desired}, is ${observed}`),
    ...item.takesAway.map((what) => `takes away ${what}`),
  ]
}

function summaryOf({ counts, items, brake, revision }: Plan): string {
  const fine = items.filter((item) => !isNews(item)).length
  const parts = (['create', 'adopt', 'upsert', 'report', 'refuse', 'hold'] as const).map(
    (type) => `${counts[type] ?? 0} to ${type}`,
  )
  const creations = brake.on
    ? ` The brake is on: ${brake.wanted} creations are wanted at once, and the limit is ${brake.limit}.`
    : ` Creations wanted: ${brake.wanted} of at most ${brake.limit}.`
  return `Plan for ${revision}: ${parts.join(', ')}, ${fine} as they should be.${creations}`
}

function escapeCell(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('|', '\\|')
    .replaceAll('\n', ' ')
}
