import { distance } from 'fastest-levenshtein'

/**
 * The candidate that `word` was most likely meant to be, or `undefined` when none is near:
 * at most a third of the longer word may differ. Ties go to the first in the given order.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Infinity
  for (const candidate of candidates) {
    const d = steps(word.toLowerCase(), candidate.toLowerCase())
    if (d < bestDistance && d <= Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3))) {
      best = candidate
      bestDistance = d
    }
  }
  return best
}

/** Letters that differ; two neighbours that changed places count as one, since no slip of the hand is more common. */
function steps(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  const swapped = a.slice(0, at) + (a[at + 1] ?? '') + (a[at] ?? '') + a.slice(at + 2)
  return a !== b && swapped === b ? 1 : distance(a, b)
}
