/** Polls until `look` gives something, and says what was waited for when it never does. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const end = performance.now() + limitMs
  let last: unknown
  while (performance.now() < end) {
    try {
      const found = await look()
      if (found !== undefined && found !== false) return found
      last = undefined
    } catch (error) {
      last = error
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`waited ${limitMs} ms in vain for ${what}`, { cause: last })
}
