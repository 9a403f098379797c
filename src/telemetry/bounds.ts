import { OTHER } from './metric-definitions.ts'

/** Longest label value, in UTF-16 code units. */
const LONGEST = 253

/** Says which of unboundedly many values may be label values, a bounded number of them at a time. */
export interface LabelBound {
  /** Takes a place for the value when there is room. Whoever has a place keeps it. */
  admits(value: string): boolean
  /** Frees the places of values that are no longer there. */
  retain(values: ReadonlySet<string>): void
}

/** At most `limit` different values at a time, first come, first served. */
export function boundLabels(limit: number): LabelBound {
  const placed = new Set<string>()
  return {
    admits(value) {
      if (placed.size < limit) placed.add(value)
      return placed.has(value)
    },
    retain(values) {
      for (const value of placed) {
        if (!values.has(value)) placed.delete(value)
      }
    },
  }
}

/** The value as a label, of bounded length; `_other` when the bound has no room for it. */
export function boundedLabel(value: string, bound: LabelBound): string {
  return bound.admits(value) ? value.slice(0, LONGEST).toWellFormed() : OTHER
}
