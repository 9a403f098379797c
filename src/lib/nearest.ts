import { distance } from 'fastest-levenshtein'

/** Letters of a word that is compared with others; a longer one is no slip of the hand. */
const LONGEST = 64

/** Words that one search compares; where there are more, nothing is suggested. */
const MOST = 20_000

/** Finds the candidate that a word was most likely meant to be. */
export type Nearest = (word: string, candidates: Iterable<string>) => string | undefined

/**
 * The candidate that `word` was most likely meant to be, or `undefined` when none is near:
 * at most a third of the longer word may differ. Ties go to the first in the given order. What is longer than 64 letters is near
 * nothing, and among more than 20,000 candidates none is looked for.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  return createNearest(MOST)(word, candidates)
}

/**
 * The same for many words: their searches share a number of comparisons. Where it is used up, nothing is suggested any more.
 * @param most comparisons of all searches together
 */
export function createNearest(most: number): Nearest {
  let left = most
  return (word, candidates) => {
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

/** Letters that differ; two neighbours that changed places count as one, since no slip of the hand is more common. */
function steps(a: string, b: string): number {
  let at = 0
  while (at < a.length && a[at] === b[at]) at += 1
  const swapped = a.slice(0, at) + (a[at + 1] ?? '') + (a[at] ?? '') + a.slice(at + 2)
  return a !== b && swapped === b ? 1 : distance(a, b)
}
