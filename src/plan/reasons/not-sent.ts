import { kindOf } from '../../kinds/key.ts'
import { anyOf, nounOf } from '../../kinds/lookup.ts'
import type { About, Step } from '../step.ts'
import { removalSteps, removalWords, type RemovalWords } from './removal-words.ts'

export const NOT_SENT = {
  'no request': (noun: string) => `the service cannot change that in an existing ${noun}`,
  done: (noun: string) => `the service cannot change ${anyOf(noun)} that is completed`,
  'at rest': (noun: string) => `the ${noun} is stopped, and the service would start it`,
  service: (noun: string) => `${anyOf(noun)} cannot move to another service`,
  stopped: (noun: string) =>
    `${anyOf(noun)} cannot move to another service. Pipewright stopped it for an earlier change`,
  policy: () => 'policy.onEdit is "report"',
} as const

export type NotSentWhy = keyof typeof NOT_SENT

export function notSentSteps(
  facts: {
    readonly pipeId: string
    /** Why no request was sent. Undefined: the platform cannot update this kind. */
    readonly why?: NotSentWhy | undefined
    readonly kept?: RemovalWords | undefined
  },
  what: 'edit' | 'secret',
  { key, place }: About,
): readonly Step[] {
  const { pipeId, why, kept } = facts
  const noun = nounOf(key)
  const ofKept = kept === undefined ? [] : removalSteps(kept, noun)
  if (why === 'at rest') {
    const text = `Set policy.paused in its manifest: to false if the ${noun} can run, or to true if it must stop again:`
    return [...ofKept, { text, copy: place }]
  }
  if (isOfService(why)) {
    const start =
      why === 'service' ? '' : ` Pipewright then starts ${noun} ${pipeId}. Or start it in the console.`
    return [{ text: `Undo that edit, in this manifest or in the manifest of its Service.${start}` }]
  }
  const sent = { text: 'To have it sent,', edit: { path: ['policy', 'onEdit'], value: 'apply' } }
  const replace = `To delete ${noun} ${pipeId} after ten minutes and create a new one, if it was not adopted,`
  const canReplace = what === 'edit' && why === 'no request' && kept === undefined && kindOf(key) === 'Pipe'
  const inConsole =
    what === 'edit'
      ? `Make the same change to ${noun} ${pipeId} in the console, if possible. If the platform does not report the field, also run:`
      : `Set the new secret in the console, for ${noun} ${pipeId}. Then run:`
  return [
    ...ofKept,
    ...(why === 'policy' ? [sent] : []),
    { text: inConsole, shell: `adopt ${key} ${pipeId}` },
    ...(canReplace ? [{ text: replace, edit: { path: ['policy', 'onImmutable'], value: 'replace' } }] : []),
  ]
}

export function isOfService(why: NotSentWhy | undefined): boolean {
  return why === 'service' || why === 'stopped'
}

export function keptWords(kept: RemovalWords | undefined, noun: string): string {
  if (kept === undefined) return ''
  const told = { asked: 'policy.onImmutable is "replace".', noun, staysBehind: undefined, after: '' } as const
  return ` ${removalWords(kept, told)}`
}
