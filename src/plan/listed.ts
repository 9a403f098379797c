import type { Action } from './action.ts'
import type { Candidate, CreateOnceInput, Listed } from './input.ts'

/*
 * What a list of all pipes of a service says before a create (design §14). It is a witness: what it shows is there, and what it does not
 * show may be there all the same. So it only ever turns a create into an adoption, or into a question.
 */

/** Ids that one message names, at most. */
export const IDS_SHOWN = 5

/** A pipe of that name is there, and belongs to no manifest: it is taken over, or a person is asked. */
export function listedFirst(input: CreateOnceInput): Action | undefined {
  const { listed } = input.surroundings
  if (listed === undefined) return undefined
  if (listed.doubtful !== undefined)
    return { type: 'refuse', reason: 'MassMissing', facts: { ...listed.doubtful, group: 'service' } }
  return foundByList(input)
}

/** The same for a create of unknown outcome: one that was created since is what it made. */
export function foundByList({ surroundings, policy, desired }: CreateOnceInput): Action | undefined {
  const { listed } = surroundings
  const [first, ...more] = listed?.candidates ?? []
  if (listed === undefined || first === undefined) return undefined
  if (more.length === 0 && first.differs.length === 0 && policy.onUnknown !== 'ask')
    return { type: 'adopt', reason: 'FoundByList', pipeId: first.id, facts: { pipeId: first.id } }
  return { type: 'refuse', reason: 'Ambiguous', facts: { key: desired.key, ...factsOf(listed, first) } }
}

function factsOf({ name, candidates }: Listed, first: Candidate) {
  const isOnly = candidates.length === 1
  return {
    name,
    ids: candidates.slice(0, IDS_SHOWN).map(({ id }) => id),
    more: Math.max(0, candidates.length - IDS_SHOWN),
    differs: isOnly ? first.differs : [],
    listedAs: isOnly ? first.listedAs : name,
  }
}
