import { closeSync, constants, fstatSync, openSync, readSync, type Stats, lstatSync } from 'node:fs'

type BytesReading =
  | { readonly what: 'read'; readonly bytes: Buffer; readonly stamp: Stamp | undefined }
  | { readonly what: 'too-large' }
  | { readonly what: 'not-regular' }
  | { readonly what: 'vanished' }
  | { readonly what: 'unreadable'; readonly error: string }

/** Non-blocking: opening a FIFO in the directory must not block the process. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Synchronous, because the thread pool takes ten times as long for a small file. The caller yields between
 * files.
 * @param most largest size that is read, in bytes
 */
export function readBytes(path: string, most: number): BytesReading {
  try {
    using stack = new DisposableStack()
    const file = stack.adopt(openSync(path, FLAGS), closeSync)
    const stats = fstatSync(file)
    if (!stats.isFile()) return { what: 'not-regular' }
    if (stats.size > most) return { what: 'too-large' }
    return readAll(file, stats, most)
  } catch (error) {
    return failure(error)
  }
}

/** Reads to the end: a file can grow after its size is measured. */
function readAll(file: number, stats: Stats, most: number): BytesReading {
  const { size } = stats
  let buffer = Buffer.allocUnsafe(size + 1)
  let length = 0
  for (;;) {
    const count = readSync(file, buffer, length, buffer.length - length, null)
    length += count
    if (length > most) return { what: 'too-large' }
    if (length === buffer.length) buffer = Buffer.concat([buffer], most + 1)
    if (count === 0 || (size > 0 && length === size))
      return { what: 'read', bytes: buffer.subarray(0, length), stamp: stampOf(stats, Date.now()) }
  }
}

function failure(error: unknown): BytesReading {
  const code = fileErrorCode(error)
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ESTALE') return { what: 'vanished' }
  return code === 'ENXIO' ? { what: 'not-regular' } : { what: 'unreadable', error: code }
}

export function fileErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
}

/**
 * Metadata that shows whether a file changed: each write sets `ctime`, which programs cannot restore, and a
 * replacement file has another `ino`.
 */
export interface Stamp {
  readonly ino: number
  readonly size: number
  /** ms since the epoch, with fractions. */
  readonly ctimeMs: number
}

/** Ms: the coarsest clock tick of a file system. Two writes within one tick get the same `ctime`. */
const COARSEST_TICK = 2_000

/**
 * Makes a stamp from metadata that was taken before the bytes were read.
 * @param now ms since the epoch
 * @returns undefined after a very recent write: another write might leave the same stamp
 */
export function stampOf({ ino, size, ctimeMs }: Stats, now: number): Stamp | undefined {
  return now - ctimeMs > COARSEST_TICK ? { ino, size, ctimeMs } : undefined
}

export function isUntouched(path: string, { ino, size, ctimeMs }: Stamp): boolean {
  try {
    const stats = lstatSync(path)
    return stats.isFile() && stats.ino === ino && stats.size === size && stats.ctimeMs === ctimeMs
  } catch {
    return false
  }
}
