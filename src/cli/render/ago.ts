import { formatDuration } from '../../lib/duration.ts'

/** `3m ago`. */
export function agoOf(at: number | undefined, now: number): string {
  if (at === undefined) return 'never'
  const age = Math.max(0, now - at)
  return age < 1_000 ? 'just now' : `${formatDuration(age)} ago`
}
