import type { OperatorCommand, OperatorResult } from '../../contract/person-command.ts'
import { idFormOf } from '../../kinds/id-form.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import { createOnceKindOf, isCreatable, type Profile } from '../../kinds/profile.ts'
import { adoptAs } from './adopt.ts'
import { forgetKey } from './forget.ts'
import { type OperatorContext, refused } from './operator.ts'
import { approveRecreate, retryCreate } from './resolve.ts'
import { resumeKey, suspendKey } from './suspend.ts'

/** Carries out a person's command. Only the owner of the ledger may, while the key is not reconciled. */
export async function operate(
  context: OperatorContext,
  asked: OperatorCommand,
  signal: AbortSignal,
): Promise<OperatorResult> {
  const { command, key } = asked
  const mistake = mistakeIn(context.profile, asked)
  if (mistake !== undefined) return refused(mistake)
  switch (command) {
    case 'adopt':
    case 'resolve':
      return adoptAs(context, { key, pipeId: asked.pipeId.toLowerCase(), word: command }, signal)
    case 'retry':
      return retryCreate(context, key, asked)
    case 'recreate':
      return approveRecreate(context, key, signal)
    case 'forget':
      return forgetKey(context, key)
    case 'suspend':
      return suspendKey(context, asked)
    case 'resume':
      return resumeKey(context, asked)
  }
}

/** What no ledger can make right. */
export function mistakeIn(profile: Profile, asked: OperatorCommand): string | undefined {
  const { command, key } = asked
  if (command === 'forget' || command === 'suspend' || command === 'resume') return undefined
  if (!isCreatable(profile, key))
    return `${key} is not a pipe: only pipes are created, and so adopted or resolved.`
  if (!('pipeId' in asked)) return undefined
  const form = idFormOf(createOnceKindOf(profile, key))
  return form.matches(asked.pipeId)
    ? undefined
    : `"${asked.pipeId}" is not the id of ${anyOf(nounOf(key))}: give ${form.words}.`
}
