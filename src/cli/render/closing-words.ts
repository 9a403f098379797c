import type { WholeFacts } from '../../contract/activity.ts'
import { timeOf } from '../../kinds/instant.ts'
import { capital } from '../../kinds/lookup.ts'
import { isWell } from '../../plan/severity.ts'
import type { ResourceView } from '../resource-view.ts'

/**
 * Counts resources that need attention or are unknown.
 * @param about `asOf`: time of the last check, ms since the epoch; undefined: now
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
      ? `No resource was checked since ${timeOf(asOf)}; then ${some} of ${count} needed attention.`
      : count === 1 && troubled === 0
        ? 'It needs no attention.'
        : `${capital(String(some))} of ${count} ${troubled > 1 ? 'need' : 'needs'} attention.`,
    ...(unjudged === 0 ? [] : [`${unjudged} ${unjudged === 1 ? 'is' : 'are'} in a state of unknown health.`]),
    ...(unreconciled === 0
      ? []
      : [`${unreconciled} more ${unreconciled === 1 ? 'was' : 'were'} not reconciled yet.`]),
  ].join(' ')
}
