import { timeOf } from '../../kinds/instant.ts'
import type { Step } from '../step.ts'
import { isUpserted } from '../../kinds/lookup.ts'
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
  /** The service has pipes of the same name without a record. */
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
      return `${kept} no replacement could be created, because the service has another ${noun} "${removal.name}" without a manifest: ${removal.ids.join(', ')}.`
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
      return [{ text: `Delete the other ${noun} in the console, or give this ${noun} another spec.name.` }]
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
