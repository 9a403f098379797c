const SHORTEST_REST_MS = 20
const LONGEST_REST_MS = 100

/** Only what never comes takes so long, on a machine however busy: ms. */
export const LIMIT_MS = 150_000

/** Polls until `look` gives something, and says what was waited for when it never does. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = LIMIT_MS,
): Promise<T> {
  const start = performance.now()
  const end = start + limitMs
  let last: unknown
  while (performance.now() < end) {
    try {
      const found = await look()
      if (found !== undefined && found !== false) return found
      last = undefined
    } catch (error) {
      last = error
    }
    // What takes long is asked for less often: the looks, too, take time of the processors.
    const restMs = Math.min(Math.max(SHORTEST_REST_MS, (performance.now() - start) / 10), LONGEST_REST_MS)
    await new Promise((resolve) => setTimeout(resolve, restMs))
  }
  throw new Error(`waited ${limitMs} ms in vain for ${what}`, { cause: last })
}
