import { kindOf } from '../kinds/key.ts'
import { bodyIn, type ResourceStatus } from '../reconcile/status.ts'

/** Where the words of a message begin that say what to do; the steps say it again, with what to copy. */
const REMEDIES = [
  ' If it is there, run ',
  ' Change them back ',
  ' Change it back ',
  ' Mount the secret there ',
]

/** What is wrong and why, without what to do about it. */
export function causeOf(resource: ResourceStatus): string {
  const { message } = resource
  const at = Math.min(...REMEDIES.map((words) => message.indexOf(words)).filter((index) => index > 0))
  const cause = Number.isFinite(at) ? message.slice(0, at) : message
  return kindOf(resource.key) === 'Alert' ? cause + alertWords(resource) : cause
}

/** What the alert says of itself, as the platform reports it. */
function alertWords({ observed }: ResourceStatus): string {
  const body = bodyIn(observed)
  const [name, message] = [body?.['name'], body?.['message']]
  if (typeof name !== 'string') return ''
  return ` On the platform it is "${name}"${typeof message === 'string' && message !== '' ? `: ${message}` : ''}.`
}
