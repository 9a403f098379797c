import type { Difference } from '../kinds/difference.ts'

/** What a drifted pipe is told as, wherever it is noticed: the same words, so that a second look is no news. */
export function driftWords(differences: readonly Difference[]): string {
  const fields = differences.map(({ field }) => field).join(', ')
  return (
    `The platform reports other values than the manifest for ${fields}. ` +
    'Change them back in the console, or edit the manifest to what is there.'
  )
}
