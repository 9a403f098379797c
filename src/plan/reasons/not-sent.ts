import { anyOf, nounOf } from '../../kinds/lookup.ts'
import type { Key } from '../../kinds/key.ts'
import { removalWords, type RemovalWords } from './removal-words.ts'
import { joined, withId, type About, type Step } from './row.ts'

/** If the service can change some fields. */
export const NOT_SENT = {
  'no request': (noun: string) => `and the service has no way to change that in ${anyOf(noun)} that exists`,
  done: (noun: string) => `and the service changes nothing in ${anyOf(noun)} that is completed`,
  'at rest': (noun: string) =>
    `and the ${noun} is stopped: the service would start it. Set policy.paused to true (it is stopped again) or to false`,
  policy: () => 'and policy.onEdit is "report"',
} as const

export type NotSentWhy = keyof typeof NOT_SENT

export const NOT_SENT_STEPS: Readonly<Record<NotSentWhy, (about: About) => readonly Step[]>> = {
  'no request': inConsole,
  done: inConsole,
  'at rest': ({ place: manifest }) => [
    { text: 'Say with policy.paused whether it is to run, in:', copy: manifest },
  ],
  policy: ({ place: manifest }) => [
    { text: 'Set policy.onEdit to apply, or take it out, in:', copy: manifest },
  ],
}

function inConsole({ key, pipeId }: About): readonly Step[] {
  return [withId(`Change it in the console, if it can be changed there, in this ${nounOf(key)}.`, pipeId)]
}

/** Sentences with a leading space. */
export function keptWords(kept: RemovalWords | undefined, noun: string): string {
  if (kept === undefined) return ''
  const asked = 'policy.onImmutable is "replace".'
  const told = {
    asked,
    noun,
    toKeep: '',
    wayOut: '',
    staysBehind: undefined,
    after: '',
  } as const
  return ` ${joined(removalWords(kept, told))}`
}

export function wayOutWords(
  why: NotSentWhy,
  { key, pipeId }: { readonly key: Key; readonly pipeId: string },
  noun: string,
): string {
  if (why === 'at rest') return ''
  const isOurs = why === 'policy' ? 'Set it to "apply" to have it sent, or undo' : 'Undo'
  return (
    `${isOurs} the edit; or change ${noun} ${pipeId} in the console and run "pipewright adopt ${key} ${pipeId}". For a new ${noun} instead, ` +
    `give it another metadata.name, with policy.replaces: ${key}.`
  )
}
