import { closeSync, constants, fstatSync, openSync, readSync, type Stats, lstatSync } from 'node:fs'

/** What became of one file. */
export type BytesReading =
  | { readonly what: 'read'; readonly bytes: Buffer; readonly stamp: Stamp | undefined }
  | { readonly what: 'too-large' }
  | { readonly what: 'not-regular' }
  | { readonly what: 'vanished' }
  | { readonly what: 'unreadable'; readonly error: string }

/** Without blocking: the FIFO that somebody left in the directory must not hold the process up. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * The bytes of one file, in `buffer`, whose length is the limit and one more; they are good until it is used again.
 * Looks at what it opened, not at what the folder said. Synchronous, because four trips through the thread pool
 * for each small file take ten times as long as reading it; the caller lets others run between files.
 */
export function readBytes(path: string, buffer: Buffer): BytesReading {
  let file: number
  try {
    file = openSync(path, FLAGS)
  } catch (error) {
    return failure(error)
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) return { what: 'not-regular' }
    if (stats.size >= buffer.length) return { what: 'too-large' }
    return readAll(file, stats, buffer)
  } catch (error) {
    return failure(error)
  } finally {
    closeSync(file)
  }
}

/** A file may have grown since it was measured; one that tells no size is read until nothing comes. */
function readAll(file: number, stats: Stats, buffer: Buffer): BytesReading {
  const { size } = stats
  let length = 0
  for (;;) {
    const count = readSync(file, buffer, length, buffer.length - length, null)
    length += count
    if (length === buffer.length) return { what: 'too-large' }
    if (count === 0 || (size > 0 && length === size))
      return { what: 'read', bytes: buffer.subarray(0, length), stamp: stampOf(stats, Date.now()) }
  }
}

function failure(error: unknown): BytesReading {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ESTALE') return { what: 'vanished' }
  return code === 'ENXIO' ? { what: 'not-regular' } : { what: 'unreadable', error: code }
}

/** The code of a file system error, such as `EACCES`. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
}

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
