import { bodyIn, tellingCondition, type Problem, type ResourceView } from '../contract/view.ts'
import { isAlarm } from '../kinds/lookup.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Condition, ConditionType } from '../plan/condition.ts'
import { messageOf, wordsOf } from '../plan/reason.ts'
import { joined } from '../plan/reasons/row.ts'
import { commandsTyped, type CommandContext } from './command-line.ts'

/** A resource with its words, as the API and the commands show it. */
export interface ShownResource extends Omit<ResourceView, 'because' | 'conditions'> {
  /** Includes the remedy. */
  readonly message: string
  readonly conditions: Readonly<Record<ConditionType, Condition & { readonly message: string }>>
}

export function shownResource(view: ResourceView, context: CommandContext): ShownResource {
  const { because, conditions, ...facts } = view
  const { Valid, Synced, Ready } = conditions
  const message = (explanation: ResourceView['because']) =>
    commandsTyped(messageOf(explanation, view.key), context)
  const shown = (condition: Condition) => ({ ...condition, message: message(condition) })
  return {
    ...facts,
    message: message(because),
    conditions: { Valid: shown(Valid), Synced: shown(Synced), Ready: shown(Ready) },
  }
}

export function asListed(
  view: ResourceView,
  problem: Pick<Problem, 'id'> | undefined,
  context: CommandContext,
): ShownResource {
  return { ...shownResource(view, context), reply: undefined, problem: problem?.id }
}

export function withBodies(view: ResourceView, desired: JsonObject | undefined, context: CommandContext) {
  return { ...shownResource(view, context), reply: undefined, desired, observed: bodyIn(view.reply) }
}

/** Without the way out, which the steps repeat. */
export function causeOf(view: ResourceView, context: CommandContext): string {
  const { key, because, status, conditions } = view
  const { reason } = status === 'OutcomeUnknown' ? conditions.Synced : tellingCondition(view)
  const words = wordsOf(because, key)
  // An explanation of something else, such as a wait, is shown whole.
  const cause = commandsTyped(because.reason === reason ? words.cause : joined(words), context)
  return isAlarm(key) ? cause + alertWords(view) : cause
}

/** An alert's own text, while it fires. */
function alertWords({ reply, conditions: { Synced, Ready } }: ResourceView): string {
  const body = Synced.status !== 'Unknown' && Ready.status === 'False' ? bodyIn(reply) : undefined
  const [name, message] = [body?.['name'], body?.['message']]
  if (typeof name !== 'string') return ''
  return ` On the platform it is "${name}"${typeof message === 'string' && message !== '' ? `: ${message}` : ''}.`
}
