import type { WholeFacts } from '../../contract/activity.ts'
import { timeOf } from '../../kinds/instant.ts'
import { capital } from '../../kinds/lookup.ts'
import { isWell } from '../../plan/severity.ts'
import type { ResourceView } from '../resource-view.ts'

/**
 * How a list of resources ends: how many need attention, and what nobody can say of the others.
 * @param about `asOf`: undefined where the list is of now; else when somebody last checked, ms since the epoch
 */
export function closingWords(
  resources: readonly Pick<ResourceView, 'status' | 'conditions'>[],
  { unreconciled = 0, asOf }: Pick<WholeFacts, 'unreconciled'> & { readonly asOf: number | undefined },
): string {
  const count = resources.length
  const troubled = resources.filter((resource) => !isWell(resource)).length
  const some = troubled === 0 ? 'none' : troubled
  const unjudged = resources.filter(
    (resource) => isWell(resource) && resource.conditions.Ready.reason === 'NotJudged',
  ).length
  return [
    asOf !== undefined
      ? `Nothing was checked since ${timeOf(asOf)}; then ${some} of ${count} needed attention.`
      : count === 1 && troubled === 0
        ? 'It needs no attention.'
        : `${capital(String(some))} of ${count} ${troubled > 1 ? 'need' : 'needs'} attention.`,
    ...(unjudged === 0
      ? []
      : [`${unjudged} ${unjudged === 1 ? 'is' : 'are'} in a state that nobody judged.`]),
    ...(unreconciled === 0
      ? []
      : [`${unreconciled} more ${unreconciled === 1 ? 'was' : 'were'} not reconciled yet.`]),
  ].join(' ')
}
