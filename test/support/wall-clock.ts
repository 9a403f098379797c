/** The wall clock of this process, as commands in it read it. */
export function createWallClock() {
  const { now } = Date
  let skipped = 0
  Date.now = () => now() + skipped
  return {
    /** It is so much later from now on, until it is disposed. */
    skip(ms: number) {
      skipped += ms
    },
    [Symbol.dispose]() {
      Date.now = now
    },
  }
}
