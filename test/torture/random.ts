/** Chance from a seed: the same seed, the same choices. Each concern has a stream of its own, so that timing in one does not move another. */
export interface Random {
  /** From 0 to below 1. */
  next(): number
  chance(probability: number): boolean
  /** A real number from `low` to below `high`. */
  between(low: number, high: number): number
  /** A whole number from 0 to below `end`. */
  below(end: number): number
  pick<T>(items: readonly T[]): T
  /** By weight; the weights need not add up to anything. */
  weighted<T>(items: readonly (readonly [weight: number, item: T])[]): T
  /** A stream that depends on this one's seed and the name only. */
  stream(name: string): Random
}

export function createRandom(seed: string): Random {
  let state = hashOf(seed)
  const next = (): number => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    next,
    chance: (probability) => next() < probability,
    between: (low, high) => low + next() * (high - low),
    below,
    pick(items) {
      const item = items[below(items.length)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    weighted(items) {
      let rest = next() * items.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, item] of items) {
        if (rest < weight) return item
        rest -= weight
      }
      throw new Error('nothing to pick from')
    },
    stream: (name) => createRandom(`${seed}/${name}`),
  }
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return hash | 0
}
