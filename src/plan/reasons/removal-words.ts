import { timeOf } from '../../kinds/instant.ts'
import type { About, Step } from '../step.ts'
import { anyOf, isUpserted, nounOf } from '../../kinds/lookup.ts'
import { A_KEY, A_TIME } from './row.ts'
import { z } from '../../kinds/zod.ts'
import { kindOf } from '../../kinds/key.ts'

export const REMOVAL = z.discriminatedUnion('is', [
  z.strictObject({ is: z.enum(['later', 'going']), at: A_TIME }),
  z.strictObject({
    is: z.enum([
      'now',
      'done',
      'gone already',
      'not found',
      'doubted',
      'older',
      'unread',
      'twice',
      'not ours',
      'never in sync',
      'locked',
    ]),
  }),
  z.strictObject({ is: z.literal('changed'), fields: z.array(z.string()).readonly() }),
  /** `claimed`: the manifest of `key` wants this pipe. `taken`: the new pipe would look like the pipe of `key`. */
  z.strictObject({ is: z.enum(['claimed', 'taken']), key: A_KEY }),
  /** The service has pipes without a record that the new pipe would look like. */
  z.strictObject({ is: z.literal('listed'), name: z.string(), ids: z.array(z.string()).readonly() }),
])
export type RemovalWords = z.output<typeof REMOVAL>

interface Told {
  readonly asked: string
  readonly noun: string
  readonly staysBehind: string | undefined
  /** With a leading space. */
  readonly after: string
}

export function removalWords(removal: RemovalWords, told: Told): string {
  return `${told.asked} ${effectOf(removal, told)}`
}

function effectOf(removal: RemovalWords, { noun, after, staysBehind }: Told): string {
  const kept = `The ${noun} is not deleted:`
  const stays = staysBehind === undefined ? '' : ` ${staysBehind}`
  switch (removal.is) {
    case 'later':
      return `The ${noun} will be deleted at ${timeOf(removal.at)}, if it is still unchanged.${stays}${after}`
    case 'now':
      return `The ${noun} will be deleted.${stays}${after}`
    case 'going':
      return `The request to delete the ${noun} was sent at ${timeOf(removal.at)}. Pipewright checks until the ${noun} is gone.${stays}${after}`
    case 'done':
      return `The ${noun} was deleted.${stays}`
    case 'gone already':
      return `The ${noun} was gone already.`
    case 'not found':
      return `The ${noun} was not found. Pipewright checks again to be sure.`
    case 'doubted':
      return `Pipewright did not accept the last read of the manifests directory. No resource is deleted until it accepts a later read.`
    case 'unread':
      return `No resource is deleted while a file cannot be read, because it might name this ${noun}.`
    case 'twice':
      return `No resource is deleted while two manifests contradict each other: the unused one might name this ${noun}.`
    case 'older':
      return `No resource is deleted: this checkout might be stale, because another process acted on another revision. Pipewright continues at the next revision.`
    case 'changed':
      return `${kept} it changed since it was last in sync (${removal.fields.join(', ')}).`
    case 'never in sync':
      return `${kept} it has never been in sync since the last change of its manifest.`
    case 'not ours':
      return `${kept} it was adopted, and only policy.ensure "absent" deletes an adopted ${noun}.`
    case 'locked':
      return `No resource is deleted: a Lock names another ${noun} for this manifest.`
    case 'claimed':
      return `${kept} ${removal.key} has the same spec, or names this ${noun} in its manifest or in a Lock.`
    case 'taken':
      return `${kept} a replacement would look like ${removal.key}, so it could not be created.`
    case 'listed':
      return `${kept} no replacement could be created, because the service has a ${noun} without a manifest that might be "${removal.name}": ${removal.ids.join(', ')}.`
  }
}

export function removalSteps(removal: RemovalWords, noun: string, toKeep?: string): readonly Step[] {
  switch (removal.is) {
    case 'later':
      return toKeep === undefined ? [] : [{ text: toKeep }]
    case 'never in sync':
      return [
        {
          text: `To replace the ${noun}, undo the edit, wait until the ${noun} is in sync, and make the edit again.`,
        },
      ]
    case 'locked':
      return [{ text: 'Correct the Lock.' }]
    case 'claimed':
      return [
        { text: `If ${removal.key} should keep the ${noun}, remove this manifest. The ${noun} stays.` },
        {
          text: isUpserted(removal.key)
            ? `If not, remove ${removal.key}.`
            : `If not, remove the id of this ${noun} from the manifest of ${removal.key}. If ${removal.key} is a new ${noun}, set policy.replaces there.`,
        },
      ]
    case 'taken':
      return [
        { text: `To have both ${noun}s,`, edit: { path: ['policy', 'replaces'], value: removal.key } },
        { text: `Or give this ${noun} a different spec.` },
      ]
    case 'listed':
      return [{ text: `To have both ${noun}s, give the other a manifest, and this one another spec.name.` }]
    case 'now':
    case 'going':
    case 'done':
    case 'gone already':
    case 'not found':
    case 'changed':
    case 'not ours':
      return []
    case 'doubted':
      return [{ text: 'For the cause, run:', shell: 'status' }]
    case 'unread':
    case 'twice':
      return [{ text: 'To find the file, run:', shell: 'validate' }]
    case 'older':
      return [{ text: 'To accept these manifests, run:', shell: 'reconcile --accept' }]
  }
}

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

export const ACCESS = z.strictObject({
  takesAway: z.array(z.string()).readonly(),
  gives: z.array(z.string()).readonly(),
})

/** Sentences with a leading space. */
export function accessWords({
  takesAway,
  gives = [],
}: {
  readonly takesAway: readonly string[]
  readonly gives?: readonly string[] | undefined
}): string {
  const loss = takesAway.length === 0 ? '' : ` It takes away ${takesAway.join(', ')}.`
  return gives.length === 0 ? loss : `${loss} It gives ${gives.join(', ')}.`
}

export function noneWords(noun: string): string {
  return `The service has no ${noun}, or the Service manifest has a wrong organizationId or serviceId. Both cases give the same reply.`
}
