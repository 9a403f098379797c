/** The wall clock of this process, as commands in it read it. */
export interface WallClock extends Disposable {
  /** It is so much later from now on, until it is disposed. */
  skip(ms: number): void
}

export function createWallClock(): WallClock {
  const { now } = Date
  let skipped = 0
  Date.now = () => now() + skipped
  return {
    skip(ms) {
      skipped += ms
    },
    [Symbol.dispose]() {
      Date.now = now
    },
  }
}
