import { isUtf8 } from 'node:buffer'
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import ignore from 'ignore'
import { isEncrypted, textIn } from '../validate/parse-file.ts'
import { oddCharacterIn } from '../../kinds/odd-text.ts'
import { sha256 } from '../../lib/digest.ts'
import { readBytes, stampOf } from './read-bytes.ts'

/** Name of a file at the root of the directory, with the syntax of a .gitignore. */
export const IGNORE_FILE = '.pipewrightignore'

const MAX_BYTES = 64 * 1024

export class IgnoreFileError extends Error {
  constructor(why: string) {
    super(
      `The file ${IGNORE_FILE} ${why}. It decides which files are manifests. Until you correct or remove it, Pipewright changes nothing.`,
    )
    this.name = 'IgnoreFileError'
  }
}

/** @throws {IgnoreFileError} */
export function readIgnoreFile(root: string) {
  const path = join(root, IGNORE_FILE)
  const reading = readBytes(path, MAX_BYTES)
  if (reading.what === 'read') {
    const text = textIn(reading.bytes)
    const fault = faultOf(reading.bytes, text)
    if (fault !== undefined) throw new IgnoreFileError(fault)
    const rules = ignore({ ignorecase: false }).add(text)
    return {
      /** @param below path below the root. The path of a folder ends with `/`. */
      isIgnored: (below: string) => rules.ignores(below),
      /** SHA-256 of the file. Empty if the file is missing. */
      hash: sha256(reading.bytes),
      /** Metadata of the file, or of the root if the file is missing. */
      stamp: reading.stamp,
    }
  }
  // A broken link also reads as `vanished`, but is an error.
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined
  if (reading.what === 'vanished' && !isThere)
    return { isIgnored: () => false, hash: '', stamp: stampOf(lstatSync(root), Date.now()) }
  throw new IgnoreFileError(
    reading.what === 'unreadable' ? `cannot be read (${reading.error})` : FAULTS[reading.what],
  )
}

function faultOf(bytes: Buffer, text: string): string | undefined {
  if (isEncrypted(bytes) || text.includes('ENC[AES256_GCM,')) return 'is encrypted, or a pointer of Git LFS'
  if (!isUtf8(bytes) || NOT_TEXT.test(text)) return 'is not UTF-8 text'
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#|$)/.test(line)) continue
    // Spaces at the end are allowed, because Git removes them. Git keeps other white space.
    if (oddCharacterIn('text', line.replace(/ +$/, '')) !== undefined)
      return `has an invisible character, a tab or an outer blank in line ${index + 1}`
  }
  return undefined
}

const NOT_TEXT = /(?![\t\n\r])\p{Cc}|\r(?!\n)/u

const FAULTS = {
  vanished: 'is a link to a missing file, or is being replaced now',
  'too-large': `is larger than ${MAX_BYTES / 1024} KiB`,
  'not-regular': 'is no file',
} as const
