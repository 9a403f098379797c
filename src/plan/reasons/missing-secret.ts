import { z } from '../../kinds/zod.ts'
import type { Step } from '../step.ts'

export const MISSING_SECRET = z.strictObject({
  file: z.string(),
  /**
   * `credential`: the secret equals a platform credential, or is an API key in the wrong directory. `linked`: the file
   * is a link between --secrets-dir and --credentials-dir. `no descriptor`: the process can open no more files.
   */
  why: z.enum(['absent', 'unreadable', 'empty', 'malformed', 'linked', 'credential', 'no descriptor']),
  /** The platform credential in the file. Undefined: the secret of a secretRef. */
  of: z.enum(['API key', 'alerts token']).optional(),
  misplaced: z.string().optional(),
})
export type MissingSecret = z.output<typeof MISSING_SECRET>

const WHY = {
  absent: 'absent',
  unreadable: 'unreadable: it must be a text file of at most 64 KiB',
  empty: 'empty',
  malformed: 'it must hold one token, without spaces, line breaks or non-ASCII characters',
  linked: 'a link between --secrets-dir and --credentials-dir',
  credential: 'a platform credential, which Pipewright does not send to a data source',
  'no descriptor': 'not read: too many open files',
} as const

export function unopenedIn(missing: readonly MissingSecret[]): string | undefined {
  return missing.find(({ why }) => why === 'no descriptor')?.file
}

export function missingSecretWords(missing: readonly MissingSecret[]): string {
  const unopened = unopenedIn(missing)
  if (unopened !== undefined)
    return `Too many open files: the process has no free file descriptor to read ${unopened}. The secret is not at fault.`
  const there = missing.filter(({ misplaced }) => misplaced === undefined)
  const moved = new Set(missing.flatMap(({ misplaced }) => misplaced ?? []))
  return [...[...moved].map(misplacedWords), ...(there.length === 0 ? [] : [filesWords(there)])].join(' ')
}

export function missingSecretSteps(missing: readonly MissingSecret[]): readonly Step[] {
  const groups = Map.groupBy(missing, ({ why, misplaced }) => (misplaced === undefined ? why : 'misplaced'))
  return [...groups].map(([why, all]) => {
    const files = [...new Set(all.map(({ file }) => file))]
    if (why === 'misplaced') {
      const directories = new Set(files.map((file) => file.slice(0, file.lastIndexOf('/'))))
      const text = 'Mount the credentials here, then remove them from --secrets-dir:'
      return { text, copy: [...directories].join(', ') }
    }
    const isOne = files.length === 1
    const mount = isOne ? 'Mount the secret:' : 'Mount these secrets:'
    const text = why === 'absent' ? mount : `Replace ${isOne ? 'this file' : 'these files'} (${WHY[why]}):`
    return { text, copy: files.join(', ') }
  })
}

function filesWords(missing: readonly MissingSecret[]): string {
  const files = missing.map(({ file, why }) => (why === 'absent' ? file : `${file} (${WHY[why]})`))
  const what = missing.every(({ why }) => why === 'absent') ? 'not found' : 'cannot be used'
  return `${files.length === 1 ? 'Secret file' : 'Secret files'} ${what}: ${files.join(', ')}.`
}

function misplacedWords(misplaced: string): string {
  const name = misplaced.slice(misplaced.lastIndexOf('/') + 1)
  return `The credentials "${name}" are in --secrets-dir (${misplaced}). The platform's credentials belong in --credentials-dir.`
}
