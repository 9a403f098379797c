import type { Action } from './action.ts'
import { adoptOfOlder } from './gates.ts'
import type { ListedCandidate, CreateOnceInput, Listed } from './input.ts'

/*
 * A list proves that its pipes exist, but not that other pipes are gone. So it can only prevent a create: Pipewright
 * adopts a listed pipe, or asks a person.
 */

export const IDS_SHOWN = 5

export function listedFirst(input: CreateOnceInput): Action | undefined {
  const { listed } = input.surroundings
  if (listed === undefined) return undefined
  if (listed.doubtful !== undefined)
    return { type: 'refuse', reason: 'MassMissing', facts: { ...listed.doubtful, group: 'service' } }
  return foundByList(input)
}

export function foundByList(input: CreateOnceInput): Action | undefined {
  const { surroundings, policy, desired } = input
  const { listed } = surroundings
  const [first, ...more] = listed?.candidates ?? []
  if (listed === undefined || first === undefined) return undefined
  if (more.length === 0 && first.differs.length === 0 && policy.onUnknown !== 'ask')
    return (
      adoptOfOlder(input, first.id, 'the list') ?? {
        type: 'adopt',
        reason: 'Adopt',
        facts: { pipeId: first.id, by: 'the list' },
      }
    )
  const facts = { key: desired.key, replaces: policy.replaces, ...factsOf(listed, first) }
  return { type: 'refuse', reason: 'Ambiguous', facts }
}

function factsOf({ name, candidates }: Listed, first: ListedCandidate) {
  const isOnly = candidates.length === 1
  return {
    name,
    ids: candidates.slice(0, IDS_SHOWN).map(({ id }) => id),
    more: Math.max(0, candidates.length - IDS_SHOWN),
    differs: isOnly ? first.differs : [],
    listedAs: isOnly ? first.listedAs : undefined,
  }
}
