import { kindOf } from '../kinds/key.ts'
import { wordsOf } from '../plan/reason.ts'
import { joined } from '../plan/reasons/row.ts'
import { bodyIn, tellingCondition, type ResourceStatus } from '../reconcile/status.ts'

/** What is wrong and why, without what to do about it: the steps say that again, with what to copy. */
export function causeOf(resource: ResourceStatus): string {
  const { message, status, conditions } = resource
  const { reason, facts } = status === 'OutcomeUnknown' ? conditions.Synced : tellingCondition(resource)
  const words = facts === undefined ? undefined : wordsOf({ reason, facts })
  // The message may be of something else, such as a wait: then it is shown whole.
  const cause = words !== undefined && joined(words) === message ? words.cause : message
  return kindOf(resource.key) === 'Alert' ? cause + alertWords(resource) : cause
}

/** What the alert says of itself, as the platform reports it. */
function alertWords({ observed }: ResourceStatus): string {
  const body = bodyIn(observed)
  const [name, message] = [body?.['name'], body?.['message']]
  if (typeof name !== 'string') return ''
  return ` On the platform it is "${name}"${typeof message === 'string' && message !== '' ? `: ${message}` : ''}.`
}
