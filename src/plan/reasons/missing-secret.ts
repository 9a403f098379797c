import { z } from '../../kinds/zod.ts'

/** A mounted file that was looked for in vain. */
export const MISSING_SECRET = z.strictObject({
  file: z.string(),
  why: z.enum(['absent', 'unreadable', 'empty', 'malformed']),
  /** Of the platform's own credentials; undefined: a secretRef of the manifest names it. */
  of: z.enum(['API key', 'alerts token']).optional(),
})
export type MissingSecret = z.output<typeof MISSING_SECRET>

/** Which files, and what of them, in a sentence. */
export function missingSecretWords(missing: readonly MissingSecret[]): string {
  const files = missing.map(({ file, why }) => (why === 'absent' ? file : `${file} (${why})`))
  const what = missing.every(({ why }) => why === 'absent') ? 'not found' : 'cannot be used'
  return `${files.length === 1 ? 'Secret file' : 'Secret files'} ${what}: ${files.join(', ')}.`
}
