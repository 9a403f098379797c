import { z } from '../../kinds/zod.ts'
import type { Step } from '../step.ts'

export const MISSING_SECRET = z.strictObject({
  file: z.string(),
  /**
   * `credential`: the secret equals a platform credential, or is an API key in the wrong directory. `linked`: the file
   * is a link between --secrets-dir and --credentials-dir. `no descriptor`: the process can open no more files.
   */
  why: z.enum(['absent', 'unreadable', 'empty', 'malformed', 'linked', 'credential', 'no descriptor']),
  /** The platform credential in the file. Undefined: the file is the secret of a secretRef. */
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

function unopenedWords(file: string): string {
  return `Too many open files: the process has no free file descriptor to read ${file}. The secret is not at fault.`
}

export function missingSecretWords(missing: readonly MissingSecret[]): string {
  const unopened = unopenedIn(missing)
  if (unopened !== undefined) return unopenedWords(unopened)
  const there = missing.filter(({ misplaced }) => misplaced === undefined)
  const moved = new Set(
    missing.flatMap(({ misplaced }) => (misplaced === undefined ? [] : [misplacedWords(misplaced)])),
  )
  return [...moved, ...(there.length === 0 ? [] : [filesWords(there)])].join(' ')
}

export function missingSecretSteps(missing: readonly MissingSecret[]): readonly Step[] {
  const steps = missing.map(({ file, why, misplaced }) =>
    misplaced !== undefined
      ? {
          text: 'Mount the credentials here, then remove them from --secrets-dir:',
          copy: file.slice(0, file.lastIndexOf('/')),
        }
      : { text: why === 'absent' ? 'Mount the secret:' : `Replace this file (${WHY[why]}):`, copy: file },
  )
  return [...Map.groupBy(steps, ({ text }) => text)].map(([text, all]) => {
    const files = [...new Set(all.map(({ copy }) => copy))]
    const many = text.replace('the secret:', 'these secrets:').replace('this file', 'these files')
    return { text: files.length === 1 ? text : many, copy: files.join(', ') }
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
