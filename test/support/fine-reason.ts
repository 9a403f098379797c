import type { Explanation } from '../../src/plan/reason.ts'

/** A reason with the fact that tells its cases apart: `Ambiguous claimed`, `New tried again`, `Changing interval`. */
export function fineReason({ reason, facts }: Explanation): string {
  const detail = reason === 'AdoptRefused' ? undefined : detailIn(facts)
  return detail === undefined ? reason : `${reason} ${detail}`
}

function detailIn(facts: Explanation['facts']): string | undefined {
  if (facts === undefined) return undefined
  if ('how' in facts) return facts.how
  if ('accepted' in facts && facts.accepted !== undefined) return 'accepted'
  if ('contest' in facts && facts.contest !== undefined) return 'contested'
  if ('why' in facts) return facts.why
  if ('by' in facts && typeof facts.by === 'string') return facts.by
  return 'is' in facts ? facts.is : undefined
}
