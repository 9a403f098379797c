import { lstatSync } from 'node:fs'
import type { Stats } from 'node:fs'

/**
 * What the file system says of a file. While it says the same, the bytes are the same: each writing sets `ctime`, which no
 * program can set back, and another file in its place has another `ino`.
 */
export interface Stamp {
  readonly ino: number
  readonly size: number
  /** ms since the epoch, with fractions. */
  readonly ctimeMs: number
}

/** Milliseconds. Two writings within one tick of the file system's clock have one `ctime`; the coarsest ticks are these long. */
const COARSEST_TICK = 2_000

/**
 * The stamp of a file that was looked at before its bytes were read.
 * @param now ms since the epoch
 * @returns undefined when it was written to so lately that another writing may leave the same stamp
 */
export function stampOf({ ino, size, ctimeMs }: Stats, now: number): Stamp | undefined {
  return now - ctimeMs > COARSEST_TICK ? { ino, size, ctimeMs } : undefined
}

/** Whether a file still is what its stamp says. */
export function isUntouched(path: string, { ino, size, ctimeMs }: Stamp): boolean {
  try {
    const stats = lstatSync(path)
    return stats.isFile() && stats.ino === ino && stats.size === size && stats.ctimeMs === ctimeMs
  } catch {
    return false
  }
}
