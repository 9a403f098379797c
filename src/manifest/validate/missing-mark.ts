import { isMap, isScalar, type Document } from 'yaml'
import type { YamlFinding } from '../yaml/syntax-findings.ts'

/** Fields with which manifests begin. */
const OF_A_MANIFEST: ReadonlySet<unknown> = new Set(['apiVersion', 'kind', 'metadata', 'spec'])

/**
 * Where a second manifest begins without a "---" before it: its fields are there twice, and that is said once.
 * @param lineOf the line of the file for an offset of the text, from 1
 */
export function missingMark(
  { contents }: Document,
  lineOf: (offset: number) => number,
): YamlFinding | undefined {
  if (!isMap(contents)) return undefined
  const seen = new Set<unknown>()
  const again: (readonly [number, number])[] = []
  for (const { key } of contents.items) {
    if (!isScalar(key) || !OF_A_MANIFEST.has(key.value)) continue
    if (seen.has(key.value)) again.push([key.range?.[0] ?? 0, key.range?.[1] ?? 1])
    seen.add(key.value)
  }
  const [first, second] = again
  if (first === undefined || second === undefined) return undefined
  const [start, end] = first
  return {
    statement: {
      severity: 'error',
      code: 'duplicate-field',
      message: 'A second manifest begins here, and "---" is missing before it.',
      hint: `Insert a line with "---" before line ${lineOf(start)}.`,
    },
    range: { start, end },
  }
}
