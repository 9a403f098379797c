import { diff } from 'node:util'
import { stringify } from 'yaml'
import type { JsonObject } from '../../lib/json.ts'
import { printable } from './terminal.ts'

/** YAML. `…`: the number of omitted lines. */
export interface DiffLine {
  readonly sign: ' ' | '+' | '-' | '…'
  readonly text: string
}

/** Unchanged lines around a change. */
const CONTEXT = 2

/** Above it, the diff is all of one side, then all of the other. */
const MOST_COMPARED = 1_000

/** As YAML. @param before undefined: everything is new */
export function bodyDiff(before: JsonObject | undefined, after: JsonObject): readonly DiffLine[] {
  const next = linesOf(after)
  if (before === undefined) return next.map((text) => ({ sign: '+', text }))
  return withContext(compared(linesOf(before), next))
}

function linesOf(body: JsonObject): readonly string[] {
  if (Object.keys(body).length === 0) return []
  return printable(stringify(body, { lineWidth: 0, aliasDuplicateObjects: false }))
    .trimEnd()
    .split('\n')
}

function compared(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  if (before.length > MOST_COMPARED || after.length > MOST_COMPARED)
    return [
      ...before.map((text): DiffLine => ({ sign: '-', text })),
      ...after.map((text): DiffLine => ({ sign: '+', text })),
    ]
  return diff(before, after).map(([operation, text]) => ({ sign: SIGNS[operation], text }))
}

const SIGNS = { 1: '-', 0: ' ', [-1]: '+' } as const

function withContext(lines: readonly DiffLine[]): readonly DiffLine[] {
  const kept = new Set<number>()
  for (const [index, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    for (let near = index - CONTEXT; near <= index + CONTEXT; near += 1) kept.add(near)
  }
  // Backwards: this keeps the parents of a kept line.
  let depth = 0
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const indent = indentOf(lines[index]?.text ?? '')
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

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}
