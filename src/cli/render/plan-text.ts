import { type Plan, type PlanItem, planMessage } from '../../contract/plan.ts'
import { type StepContext, withCommands } from '../../plan/step.ts'
import type { ActionType } from '../../plan/action.ts'
import { findingsAsText } from './findings-text.ts'
import { byCause, factsOf, headOf, keyWords, missingLedgerWords, newsOf, summaryOf } from './plan-words.ts'
import { plainText, type Sheet, wrapped } from './terminal.ts'
import { diff } from 'node:util'
import { stringify } from 'yaml'
import type { JsonObject } from '../../lib/json.ts'

interface Sign {
  readonly sign: string
  readonly style: 'green' | 'yellow' | 'red' | 'dim'
}

const SIGNS: Readonly<Record<ActionType, Sign>> = {
  create: { sign: '+', style: 'green' },
  adopt: { sign: '>', style: 'green' },
  upsert: { sign: '~', style: 'yellow' },
  update: { sign: '~', style: 'yellow' },
  delete: { sign: '-', style: 'red' },
  report: { sign: '!', style: 'yellow' },
  refuse: { sign: '✗', style: 'red' },
  hold: { sign: '.', style: 'dim' },
  observe: { sign: '=', style: 'dim' },
}

function signOf({ verdict, action, renamedFrom }: PlanItem): Sign {
  if (verdict === 'failed') return { sign: '?', style: 'red' }
  if (verdict === 'refused') return { sign: '✗', style: 'red' }
  if (verdict === 'waits') return { sign: '.', style: 'dim' }
  return renamedFrom === undefined ? SIGNS[action] : SIGNS.adopt
}

/** The most important item comes last, next to the summary. */
export function planAsText(plan: Plan, paper: Sheet, commands: StepContext): string {
  const { paint, width } = paper
  const sheet = { ...paper, here: { ...commands, manifestsDir: plan.manifests } }
  const blocks = byCause(newsOf(plan, 'last')).map((items) => blockOf(items, sheet))
  const findings = plan.findings.length === 0 ? [] : [findingsAsText(plan.findings, plan.manifests, paint)]
  const said = `${plan.manifests}: ${plan.problem}`
  const problem = plan.problem === undefined ? [] : [paint('red', withCommands(said, commands))]
  const missing = missingLedgerWords(plan)
  const noLedger =
    missing === undefined ? [] : [paint('yellow', `${wrapped(plainText(missing), '', width)}\n`)]
  const summary = wrapped(`${summaryOf(plan)} Revision ${plan.revision}.`, '', width)
  return [...noLedger, ...problem, ...findings, ...blocks.map((block) => `${block}\n`), summary].join('\n')
}

function blockOf(
  items: readonly [PlanItem, ...PlanItem[]],
  sheet: Sheet & { readonly here: StepContext },
): string {
  const [item, ...more] = items
  const { paint, width, here } = sheet
  const { sign, style } = signOf(item)
  const isOne = more.length === 0
  const name = isOne ? item.key : `${items.length} resources`
  const place =
    !isOne || item.file === undefined ? '' : paint('dim', `  ${plainText(item.file)}:${item.line ?? 1}`)
  const head = `${paint([style, 'bold'], sign)} ${paint('bold', name)}  ${plainText(headOf(item))}${place}`
  const message = wrapped(plainText(planMessage(item, here)), '  ', width)
  if (!isOne) return [head, message, wrapped(plainText(keyWords(items)), '    ', width)].join('\n')
  const facts = factsOf(item).map((fact) => wrapped(plainText(fact), '    ', width))
  const lines = diffOf(item).map((line) => painted(line, sheet))
  return [head, message, ...facts, ...lines].join('\n')
}

export function diffOf({ before, desired }: PlanItem): readonly DiffLine[] {
  if (desired === undefined) return []
  const lines = bodyDiff(before, desired)
  return lines.some(({ sign }) => sign === '+' || sign === '-') ? lines : []
}

const STYLES = { '+': 'green', '-': 'red', ' ': undefined, '…': 'dim' } as const

function painted({ sign, text }: DiffLine, { paint, width }: Sheet): string {
  const style = STYLES[sign]
  return pieces(text, width - 6)
    .map((piece) => (style === undefined ? `    ${sign} ${piece}` : paint(style, `    ${sign} ${piece}`)))
    .join('\n')
}

function pieces(text: string, width: number): readonly string[] {
  if (text.length <= width) return [text]
  const indent = ' '.repeat(Math.min(text.length - text.trimStart().length + 2, width / 2))
  const rest = width - indent.length
  const all = [text.slice(0, width)]
  for (let start = width; start < text.length; start += rest)
    all.push(indent + text.slice(start, start + rest))
  return all
}

/** A line of YAML. With the sign `…`, `text` says how many lines are omitted. */
interface DiffLine {
  readonly sign: ' ' | '+' | '-' | '…'
  readonly text: string
}

const CONTEXT = 2

/** If a body has more lines, the diff has all old lines, then all new lines. */
const MOST_COMPARED = 1_000

export function bodyDiff(before: JsonObject | undefined, after: JsonObject): readonly DiffLine[] {
  const next = linesOf(after)
  if (before === undefined) return next.map((text) => ({ sign: '+', text }))
  return withContext(compared(linesOf(before), next))
}

function linesOf(body: JsonObject): readonly string[] {
  if (Object.keys(body).length === 0) return []
  return plainText(stringify(body, { lineWidth: 0, aliasDuplicateObjects: false }))
    .trimEnd()
    .split('\n')
}

function compared(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length > MOST_COMPARED || after.length > MOST_COMPARED)
    return [
      ...before.map((text): DiffLine => ({ sign: '-', text })),
      ...after.map((text): DiffLine => ({ sign: '+', text })),
    ]
  return diff(before, after).map(([operation, text]) => ({ sign: DIFF_SIGNS[operation], text }))
}

const DIFF_SIGNS = { 1: '-', 0: ' ', [-1]: '+' } as const

function withContext(lines: readonly DiffLine[]): readonly DiffLine[] {
  const kept = new Set<number>()
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    for (let near = index - CONTEXT; near <= index + CONTEXT; near += 1) kept.add(near)
  }
  let depth = 0
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const { text = '' } = lines[index] ?? {}
    const indent = text.length - text.trimStart().length
    if (kept.has(index)) depth = depth === 0 ? indent : Math.min(depth, indent)
    else if (indent < depth) {
      kept.add(index)
      depth = indent
    }
  }
  const shown: DiffLine[] = []
  let hidden = 0
  const flush = () => {
    if (hidden > 0) shown.push({ sign: '…', text: `${hidden} unchanged ${hidden === 1 ? 'line' : 'lines'}` })
    hidden = 0
  }
  for (const [index, each] of lines.entries()) {
    if (kept.has(index)) {
      flush()
      shown.push(each)
    } else hidden += 1
  }
  flush()
  return shown
}
