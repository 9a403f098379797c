import type { Wish } from './wish.ts'

/** What the manifest of a pipe said from a time on; undefined: there was none. */
interface Version {
  /** ms since the epoch. */
  readonly at: number
  readonly wish: Wish | undefined
}

/** All that the valid manifests of each pipe ever said. */
export type Versions = ReturnType<typeof createVersions>

/**
 * So long until what was written is on disk in whole, was read, and a request that was decided before has ended: ms. The tree is written
 * file by file, with pauses.
 */
const STALE_MS = 20_000

export function createVersions() {
  const versions = new Map<string, Version[]>()
  const of = (name: string) => versions.get(name) ?? []
  return {
    note(platformName: string, wish: Wish | undefined) {
      const known = of(platformName)
      if (known.at(-1)?.wish === wish) return
      versions.set(platformName, [...known, { at: Date.now(), wish }])
    },
    /** Those that may be acted upon at `at`: in force then, or a moment before. */
    inForce: (platformName: string, at: number) =>
      of(platformName).flatMap(({ at: from, wish }, index, known) => {
        const until = known[index + 1]?.at ?? Infinity
        return wish !== undefined && from <= at && at < until + STALE_MS ? [wish] : []
      }),
    all: (platformName: string) => of(platformName).flatMap(({ wish }) => wish ?? []),
  }
}
