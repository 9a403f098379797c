import type { Plan, PlanItem } from '../../contract/plan.ts'
import type { ActionType } from '../../plan/action.ts'
import { bodyDiff, type DiffLine } from './body-diff.ts'
import { findingsAsText } from './findings-text.ts'
import { byCause, factsOf, headOf, newsOf, summaryOf } from './plan-words.ts'
import { type Paint, printable, wrapped } from './terminal.ts'

/** Columns of a line at most, where it can be broken. */
const WIDTH = 80

interface Sign {
  readonly sign: string
  readonly style: 'green' | 'yellow' | 'red' | 'dim'
}

const SIGNS: Readonly<Record<ActionType, Sign>> = {
  create: { sign: '+', style: 'green' },
  adopt: { sign: '>', style: 'green' },
  upsert: { sign: '~', style: 'yellow' },
  report: { sign: '!', style: 'yellow' },
  refuse: { sign: '✗', style: 'red' },
  hold: { sign: '.', style: 'dim' },
  observe: { sign: '=', style: 'dim' },
}

function signOf({ verdict, action, renamedFrom }: PlanItem): Sign {
  // It could not be found out.
  if (verdict === 'failed') return { sign: '?', style: 'red' }
  if (verdict === 'refused') return { sign: '✗', style: 'red' }
  if (verdict === 'waits') return { sign: '.', style: 'dim' }
  return renamedFrom === undefined ? SIGNS[action] : SIGNS.adopt
}

/** For a terminal: what matters most last, next to the summary. */
export function planAsText(plan: Plan, paint: Paint): string {
  const blocks = byCause(newsOf(plan, 'last')).map((items) => blockOf(items, paint))
  const findings = plan.findings.length === 0 ? [] : [findingsAsText(plan.findings, plan.manifests, paint)]
  const problem = plan.problem === undefined ? [] : [paint('red', `${plan.manifests}: ${plan.problem}`)]
  const summary = wrapped(`${summaryOf(plan)} Revision ${plan.revision}.`, '')
  return [...problem, ...findings, ...blocks.map((block) => `${block}\n`), summary].join('\n')
}

/** @param items one, or several of one cause */
function blockOf(items: readonly PlanItem[], paint: Paint): string {
  const [item, ...more] = items
  if (item === undefined) return ''
  if (more.length > 0) return causeOf(item, items, paint)
  const { sign, style } = signOf(item)
  const place = item.file === undefined ? '' : paint('dim', `  ${printable(item.file)}:${item.line ?? 1}`)
  const head = `${paint([style, 'bold'], sign)} ${paint('bold', item.key)}  ${printable(headOf(item))}${place}`
  const facts = factsOf(item).map((fact) => wrapped(printable(fact), '    '))
  const lines = diffOf(item).map((line) => painted(line, paint))
  return [head, wrapped(printable(item.message), '  '), ...facts, ...lines].join('\n')
}

/** Keys of one cause that are named. */
const MOST_NAMED = 30

function causeOf(item: PlanItem, items: readonly PlanItem[], paint: Paint): string {
  const { sign, style } = signOf(item)
  const named = items.slice(0, MOST_NAMED).map(({ key }) => key)
  const rest = items.length > MOST_NAMED ? ` and ${items.length - MOST_NAMED} more` : ''
  const head = `${paint([style, 'bold'], sign)} ${paint('bold', `${items.length} resources`)}  ${printable(headOf(item))}`
  const keys = wrapped(printable(`${named.join(', ')}${rest}`), '    ')
  return [head, wrapped(printable(item.message), '  '), keys].join('\n')
}

/** From what is there to what is asked for. */
export function diffOf({ before, desired }: PlanItem): readonly DiffLine[] {
  if (desired === undefined) return []
  const lines = bodyDiff(before, desired)
  return lines.some(({ sign }) => sign === '+' || sign === '-') ? lines : []
}

const STYLES = { '+': 'green', '-': 'red', ' ': undefined, '…': 'dim' } as const

/** A line that is too long goes on below itself, under the same sign. */
function painted({ sign, text }: DiffLine, paint: Paint): string {
  const style = STYLES[sign]
  return pieces(text, WIDTH - 6)
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
