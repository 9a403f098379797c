/**
 * Applies `task` to every item, at most `concurrency` at a time.
 * @returns the results in the order of the items
 */
export async function inTurns<T, R>(
  items: readonly T[],
  concurrency: number,
  task: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < items.length) {
      const index = next
      next += 1
      const item = items[index] as T // the index is below the length
      results[index] = await task(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  return results
}
