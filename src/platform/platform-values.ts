import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isOutOfFiles } from '../lib/open-files.ts'
import type { Secret } from '../lib/secret.ts'
import type { SecretReading } from '../contract/secrets.ts'

/** A shorter text is no key, and may be equal by chance. In bytes. */
const SHORTEST_KEY = 8

/** A newline at the end of a file is no part of what it holds. In bytes. */
const LONGEST_END = 2

/** Where something of the platform's is mounted. */
export interface PlatformFiles {
  readonly credentialsDir: string
  /** Files that a setting names, wherever they are. */
  readonly ownFiles: readonly string[]
}

/**
 * Whether the secret of a source is what a file of the platform's holds: a copy, a hard link, or the same folder mounted twice.
 * No path tells of that. Only files of the right size are read.
 * @returns `unknown` where no file can be opened: the secret must not be used then
 */
export async function isOfPlatform(
  secret: Secret,
  { credentialsDir, ownFiles }: PlatformFiles,
  read: (file: string) => Promise<SecretReading>,
): Promise<boolean | 'unknown'> {
  const value = secret.reveal()
  const size = Buffer.byteLength(value)
  if (size < SHORTEST_KEY) return false
  const files = await filesIn(credentialsDir)
  if (files === 'unknown') return 'unknown'
  for (const file of [...files, ...ownFiles]) {
    const stats = await stat(file).catch(() => undefined)
    if (stats === undefined || stats.size < size || stats.size > size + LONGEST_END) continue
    const reading = await read(file)
    if (!reading.found && reading.why === 'no descriptor') return 'unknown'
    if (reading.found && reading.value.reveal() === value) return true
  }
  return false
}

/** `<name>/<key>`; hidden ones are the links of Kubernetes to the same. */
async function filesIn(folder: string): Promise<readonly string[] | 'unknown'> {
  const names = await namesIn(folder)
  if (names === 'unknown') return names
  const files: string[] = []
  for (const name of names) {
    const keys = await namesIn(join(folder, name))
    if (keys === 'unknown') return keys
    files.push(...keys.map((key) => join(folder, name, key)))
  }
  return files
}

async function namesIn(folder: string): Promise<readonly string[] | 'unknown'> {
  try {
    const names = await readdir(folder)
    return names.filter((name) => !name.startsWith('.'))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return isOutOfFiles(code) ? 'unknown' : []
  }
}
