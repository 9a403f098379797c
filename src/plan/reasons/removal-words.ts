import { timeOf } from '../../kinds/instant.ts'
import type { Step } from '../step.ts'
import { A_KEY, A_TIME } from './row.ts'
import { z } from '../../kinds/zod.ts'

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
      'not ours',
      'never in sync',
      'locked',
    ]),
  }),
  /** Fields that changed since last in sync. */
  z.strictObject({ is: z.literal('changed'), fields: z.array(z.string()).readonly() }),
  /** `taken`: that key's resource would block a new create. */
  z.strictObject({ is: z.enum(['claimed', 'taken']), key: A_KEY }),
  /** Unrecorded, of the same name. */
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

export function removalWords(removal: RemovalWords, { asked, noun, after, staysBehind }: Told): string {
  const stays = staysBehind === undefined ? '' : ` ${staysBehind}`
  switch (removal.is) {
    case 'later':
      return `${asked} The ${noun} is deleted at ${timeOf(removal.at)}, unless it is changed elsewhere before.${stays}${after}`
    case 'now':
      return `${asked} The ${noun} will be deleted.${stays}${after}`
    case 'going':
      return `${asked} The request to delete the ${noun} was sent at ${timeOf(removal.at)}. It is checked until the ${noun} is gone.${stays}${after}`
    case 'done':
      return `${asked} The ${noun} was deleted.${stays}`
    case 'gone already':
      return `${asked} The ${noun} was gone already.`
    case 'not found':
      return `${asked} The ${noun} is not found. It is checked again until that is sure.`
    case 'doubted':
      return `${asked} No resource is deleted until a reading of the manifests is accepted.`
    case 'older':
      return `${asked} No resource is deleted, because another process has acted on another revision of the manifests, which might be newer than the one here.`
    case 'changed':
      return `${asked} The ${noun} is not as it was when it was last in sync (${removal.fields.join(', ')}). Therefore it is not deleted.`
    case 'never in sync':
      return `${asked} The ${noun} was not seen in sync since its manifest last changed. Therefore it is not deleted.`
    case 'not ours':
      return `${asked} The ${noun} was adopted, and only policy.ensure: absent deletes such a ${noun}.`
    case 'locked':
      return `${asked} No resource is deleted, because a Lock names another ${noun} for this manifest.`
    case 'claimed':
      return `${asked} No resource is deleted, because ${removal.key} names or describes this ${noun}.`
    case 'taken':
      return `${asked} The ${noun} is not deleted, because no new one would be created: ${removal.key} looks like it.`
    case 'listed':
      return `${asked} The ${noun} is not deleted, because no new one would be created: the service has ${noun} ${removal.ids.join(', ')} of the name "${removal.name}", which no manifest holds.`
  }
}

export function removalSteps(removal: RemovalWords, noun: string, toKeep?: string): readonly Step[] {
  switch (removal.is) {
    case 'later':
      return toKeep === undefined ? [] : [{ text: toKeep }]
    case 'never in sync':
      return [
        {
          text: 'To have it replaced, undo the edit, wait until it is in sync, and make the edit again.',
        },
      ]
    case 'locked':
      return [{ text: 'Correct the Lock.' }]
    case 'claimed':
      return [
        { text: `If ${removal.key} is to keep the ${noun}, remove this manifest.` },
        { text: `If not, take the ${noun} out of ${removal.key}, or set policy.replaces there.` },
      ]
    case 'taken':
      return [
        {
          text: `If this is to be another ${noun} beside it,`,
          edit: { path: ['policy', 'replaces'], value: removal.key },
        },
        { text: 'If not, give it a different spec.' },
      ]
    case 'listed':
      return [{ text: `Delete that one in the console, or give this ${noun} another spec.name.` }]
    case 'now':
    case 'going':
    case 'done':
    case 'gone already':
    case 'not found':
    case 'doubted':
    case 'older':
    case 'changed':
    case 'not ours':
      return []
  }
}
