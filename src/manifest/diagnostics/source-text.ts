import type { Finding } from '../../kinds/finding.ts'
import { printable } from '../../lib/shown-text.ts'
import { maskLines } from './mask-lines.ts'

const MAX_SHOWN_LENGTH = 200

export type Place = Pick<Finding, 'file' | 'line' | 'column' | 'endColumn' | 'lineText'>

export type SourceText = ReturnType<typeof createSourceText>

export function createSourceText(file: string, text: string) {
  let starts: readonly number[] | undefined
  let shown: readonly string[] | undefined

  function lineStarts(): readonly number[] {
    starts ??= findLineStarts(text)
    return starts
  }

  function rawLine(index: number): string {
    const from = lineStarts()[index] ?? text.length
    const next = lineStarts()[index + 1]
    const line = text.slice(from, next === undefined ? text.length : next - 1)
    return line.endsWith('\r') ? line.slice(0, -1) : line
  }

  function lineText(index: number): string {
    shown ??= maskLines(lineStarts().map((_, i) => rawLine(i))).map(show)
    return shown[index] ?? ''
  }

  function position(offset: number) {
    const at = Math.max(0, Math.min(offset, text.length))
    const index = lastAtOrBefore(lineStarts(), at)
    return { line: index + 1, column: at - (lineStarts()[index] ?? 0) + 1 }
  }

  /** The place from `start` to `end`, but at most to the end of the first line. */
  function place(start: number, end: number): Place {
    const { line, column } = position(start)
    const from = lineStarts()[line - 1] ?? 0
    const lineEnd = from + rawLine(line - 1).length
    const first = Math.min(column, lineEnd - from + 1)
    const last = Math.max(first + 1, Math.min(end, lineEnd) - from + 1)
    return { file, line, column: first, endColumn: last, lineText: lineText(line - 1) }
  }

  return { file, text, position, place }
}

function show(line: string): string {
  const safe = printable(line.slice(0, MAX_SHOWN_LENGTH * 2))
  return safe.length > MAX_SHOWN_LENGTH ? `${safe.slice(0, MAX_SHOWN_LENGTH - 1)}…` : safe
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function lastAtOrBefore(numbers: readonly number[], value: number): number {
  let low = 0
  let high = numbers.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((numbers[middle] ?? Infinity) <= value) low = middle
    else high = middle - 1
  }
  return low
}
