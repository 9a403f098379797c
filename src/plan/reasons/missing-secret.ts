import { z } from '../../kinds/zod.ts'

/** A mounted file that was looked for in vain. */
export const MISSING_SECRET = z.strictObject({
  file: z.string(),
  /** `credential`: it holds what a credential of the platform holds, or an API key that was not moved to them. `linked`: it leads into the directory of the other owner's secrets. `no descriptor`: nobody knows, as no file can be opened. */
  why: z.enum(['absent', 'unreadable', 'empty', 'malformed', 'linked', 'credential', 'no descriptor']),
  /** Of the platform's own credentials; undefined: a secretRef of the manifest names it. */
  of: z.enum(['API key', 'alerts token']).optional(),
  /** Of the platform's: the folder of this name in the secrets directory, where credentials were mounted once. */
  misplaced: z.string().optional(),
})
export type MissingSecret = z.output<typeof MISSING_SECRET>

const WHY = {
  absent: 'absent',
  unreadable: 'unreadable',
  empty: 'empty',
  malformed: 'malformed',
  linked: 'a link between --secrets-dir and --credentials-dir',
  credential: 'a credential of the platform, which no source may get',
  'no descriptor': 'not read: too many open files',
} as const

/** Of these, the first that could not be opened for want of a descriptor: then nothing is known of it. */
export function unopenedIn(missing: readonly MissingSecret[]): string | undefined {
  return missing.find(({ why }) => why === 'no descriptor')?.file
}

/** That it is not the secret's fault, in sentences. */
export function unopenedWords(file: string): string {
  return `Too many open files: the process has no free file descriptor to read ${file}. The secret is not at fault.`
}

/** Which files, and what of them, in a sentence. */
export function missingSecretWords(missing: readonly MissingSecret[]): string {
  const there = missing.filter(({ misplaced }) => misplaced === undefined)
  const moved = new Set(
    missing.flatMap(({ file, misplaced }) =>
      misplaced === undefined ? [] : [misplacedWords(file, misplaced)],
    ),
  )
  return [...moved, ...(there.length === 0 ? [] : [filesWords(there)])].join(' ')
}

function filesWords(missing: readonly MissingSecret[]): string {
  const files = missing.map(({ file, why }) => (why === 'absent' ? file : `${file} (${WHY[why]})`))
  const what = missing.every(({ why }) => why === 'absent') ? 'not found' : 'cannot be used'
  return `${files.length === 1 ? 'Secret file' : 'Secret files'} ${what}: ${files.join(', ')}.`
}

/**
 * For whoever comes from a version in which all secrets were in one directory.
 * @param file the credential that is looked for: `<credentials-dir>/<name>/<key>`
 * @param misplaced `<secrets-dir>/<name>`
 */
export function misplacedWords(file: string, misplaced: string): string {
  return `The credentials "${nameOf(misplaced)}" are in --secrets-dir (${misplaced}). ${belongWords(file)}`
}

function belongWords(file: string): string {
  return `The platform's credentials now belong in --credentials-dir: mount them at ${folderOf(file)}, and remove them from the secrets directory.`
}

/** Of a mounted file: that of its secret. */
export function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'))
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1)
}
