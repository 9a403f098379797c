import { timeOf } from '../../kinds/instant.ts'
import { A_KEY, A_TIME, type Words } from './row.ts'
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
  readonly toKeep: string
  readonly wayOut: string
  readonly staysBehind: string | undefined
  /** With a leading space. */
  readonly after: string
}

export function removalWords(removal: RemovalWords, told: Told): Words {
  const { asked, noun, toKeep, wayOut, after } = told
  const stays = told.staysBehind === undefined ? '' : ` ${told.staysBehind}`
  switch (removal.is) {
    case 'later':
      return {
        cause: `${asked} The ${noun} is deleted at ${timeOf(removal.at)}, unless it is changed elsewhere before.${stays}${after}`,
        remedy: toKeep,
      }
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
      return `${asked} No resource is deleted, because another process has acted on another revision of the manifests, which may be newer than the one here.`
    case 'changed':
      return {
        cause: `${asked} The ${noun} is not as it was when it was last in sync (${removal.fields.join(', ')}). Therefore it is not deleted.`,
        remedy: wayOut,
      }
    case 'never in sync':
      return {
        cause: `${asked} The ${noun} was not seen in sync since its manifest last changed. So it is not deleted.`,
        remedy: 'To have it replaced, undo the edit, wait until it is in sync, and make the edit again.',
      }
    case 'not ours':
      return {
        cause: `${asked} The ${noun} was adopted, and only policy.ensure: absent deletes such a ${noun}.`,
        remedy: wayOut,
      }
    case 'locked':
      return `${asked} No resource is deleted, because a Lock names another ${noun} for this manifest. Correct the Lock.`
    case 'claimed':
      return {
        cause: `${asked} No resource is deleted, because ${removal.key} names this ${noun}.`,
        remedy: `If ${removal.key} is to keep the ${noun}, remove this manifest. If not, take the ${noun} out of ${removal.key}.`,
      }
    case 'taken':
      return {
        cause: `${asked} The ${noun} is not deleted, because no new one would be created: ${removal.key} looks like it.`,
        remedy: `If this is to be another ${noun} beside it, set policy.replaces: ${removal.key}. If not, give it a different spec.`,
      }
    case 'listed':
      return {
        cause: `${asked} The ${noun} is not deleted, because no new one would be created: the service has ${noun} ${removal.ids.join(', ')} of the name "${removal.name}", which no manifest holds.`,
        remedy: `Delete that in the console, or give this ${noun} another spec.name.`,
      }
  }
}
