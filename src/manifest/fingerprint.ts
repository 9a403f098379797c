import { lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256 } from '../lib/digest.ts'
import { compareTexts } from './findings.ts'
import { codeOf } from './read-bytes.ts'

/** Entries that are looked at; more would not be cheap any more. */
const LOOKED_AT = 5_000

/**
 * A text that changes when the root leads elsewhere, or when it or something directly in it is replaced, added,
 * removed or written to. For the poll: it opens no file, and never throws; what cannot be seen is part of the text.
 */
export async function fingerprintOf(root: string): Promise<string> {
  try {
    const resolved = await realpath(root)
    const names = await readdir(resolved).catch((error: unknown) =>
      codeOf(error) === 'ENOTDIR' ? [] : Promise.reject(error as Error),
    )
    const shown = names.toSorted(compareTexts).slice(0, LOOKED_AT)
    const marks = await Promise.all([resolved, ...shown.map((name) => join(resolved, name))].map(markOf))
    return sha256([resolved, String(names.length), ...marks].join('\n'))
  } catch (error) {
    return `unreadable ${codeOf(error)}`
  }
}

/** Of a link: the link itself. Names that begin with "." count too: a ConfigMap is swapped by its `..data`. */
async function markOf(path: string): Promise<string> {
  const stats = await lstat(path, { bigint: true }).catch(() => undefined)
  return stats === undefined ? `${path} -` : `${path} ${stats.ino} ${stats.mtimeNs} ${stats.size}`
}
