/**
 * What events named since the last reading: paths without links, or `anything` when one named none or there were too many.
 * A hint of where to look first, never a promise that nothing else changed.
 */
export type Touched = ReadonlySet<string> | 'anything'

/** With more than these, a whole reading is as quick. */
const MOST = 64

/** Collects what events name. */
export interface Touches {
  add(path: string | undefined): void
  /** What was named since the last time. */
  take(): Touched
}

export function createTouches(): Touches {
  let paths: Set<string> | 'anything' = new Set()
  return {
    add(path) {
      if (paths === 'anything') return
      if (path === undefined || paths.size >= MOST) paths = 'anything'
      else paths.add(path)
    },
    take() {
      const taken = paths
      paths = new Set()
      return taken
    },
  }
}
