import { distance } from 'fastest-levenshtein'

const LONGEST = 64

const MOST = 20_000

/**
 * The most similar candidate, the first if tied. At most a third of the longer word can differ. Undefined for
 * words over 64 letters and searches over 20,000 candidates.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return createNearest(MOST)(word, candidates)
}

export function createNearest(most: number) {
  let left = most
  return (word: string, candidates: Iterable<string>) => {
    if (word.length > LONGEST) return undefined
    const lower = word.toLowerCase()
    let best: string | undefined
    let bestDistance = Infinity
    for (const candidate of candidates) {
      if (left <= 0) return undefined
      left -= 1
      const farthest = Math.max(1, Math.floor(Math.max(word.length, candidate.length) / 3))
      if (candidate.length > LONGEST || Math.abs(word.length - candidate.length) > farthest) continue
      const d = steps(lower, candidate.toLowerCase())
      if (d < bestDistance && d <= farthest) {
        best = candidate
        bestDistance = d
      }
    }
    return best
  }
}

/** Two swapped letters count as one step: the most common typo. */
function steps(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  const swapped = a.slice(0, at) + (a[at + 1] ?? '') + (a[at] ?? '') + a.slice(at + 2)
  return a !== b && swapped === b ? 1 : distance(a, b)
}
