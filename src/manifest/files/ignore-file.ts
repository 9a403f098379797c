import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import ignore from 'ignore'
import { readBytes } from './read-bytes.ts'

/** At the root of the manifests directory, in the form of a .gitignore: what it names is not read. */
export const IGNORE_FILE = '.pipewrightignore'

/** Bytes. */
const LARGEST = 64 * 1024

/** Nobody knows which files are manifests: the reading does not count. */
export class IgnoreFileError extends Error {
  /** @param why such as "cannot be read (EACCES)" */
  constructor(why: string) {
    super(`The file ${IGNORE_FILE} ${why}, so nobody knows which files are manifests. Correct or remove it.`)
    this.name = 'IgnoreFileError'
  }
}

/**
 * What the ignore file of a directory says; nothing is ignored where there is none.
 * @returns whether a path below the root is ignored; that of a folder ends with `/`
 * @throws {IgnoreFileError}
 */
export function readIgnoreFile(root: string): (path: string) => boolean {
  const path = join(root, IGNORE_FILE)
  const reading = readBytes(path, Buffer.allocUnsafe(LARGEST + 1))
  switch (reading.what) {
    case 'vanished':
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true)
        throw new IgnoreFileError('is a link to a file that is not there')
      return () => false
    case 'read': {
      const rules = ignore().add(reading.bytes.toString('utf8'))
      return (below) => rules.ignores(below)
    }
    case 'too-large':
      throw new IgnoreFileError(`is larger than ${LARGEST / 1024} KiB`)
    case 'not-regular':
      throw new IgnoreFileError('is no file')
    case 'unreadable':
      throw new IgnoreFileError(`cannot be read (${reading.error})`)
  }
}
