import type { LedgerRecord } from '../../src/plan/record.ts'
import { asksForDeletion, isAsAsked, isSame } from './life.ts'
import { keyOfWish, MINUTE, shortId, type Model, type Pipe } from './model.ts'
import type { Run } from './run.ts'

/* A deletion is asked for by a manifest that is there (design, promise 4). */

/** Time in which the manifest can be taken back. */
export const GRACE_MS = 10 * MINUTE

/** A request to delete a pipe is about to go out. */
export function judgeRemoval({ model, world, broken }: Run, pipe: Pipe): void {
  const fault = faultOf(model, pipe, world.faults.includes('console edits'))
  if (fault !== undefined) broken.push(`Pipe ${shortId(pipe.id)} is deleted, ${fault}.`)
}

/** @param isEdited whether people change pipes in the console; a manifest may be edited while it asks for the deletion */
function faultOf(model: Model, pipe: Pipe, isEdited: boolean): string | undefined {
  const record = holderOf(model, pipe)
  if (record === undefined || pipe.life === undefined) return 'and no record holds it'
  if (record.removal?.isSent !== true) return 'and the ledger does not say that it is about to be'
  const index = model.wishes.findIndex((wish) => wish.isPresent && keyOfWish(wish) === record.key)
  const wish = model.wishes[index]
  if (wish === undefined || !asksForDeletion(wish)) return 'and no manifest in force asks for that'
  const since = model.askedAt[index]
  // A request that was sent before may be repeated.
  const isNew = !model.deleted.has(pipe.id)
  if (isNew && (since === undefined || model.now - since < GRACE_MS))
    return `and ${record.key} asks for that for less than ten minutes`
  if (wish.policy['ensure'] !== 'absent')
    return pipe.wish === undefined ? 'to be replaced, and we did not create it' : undefined
  const isSeen = isEdited && isSame(pipe.life.told, pipe.life.live)
  return isSeen && !isAsAsked(pipe.life, wish) ? 'and it was seen that it was changed' : undefined
}

function holderOf({ records }: Model, { id }: Pick<Pipe, 'id'>): LedgerRecord | undefined {
  return [...records.values()].find(({ remote }) => remote?.id === id)
}

/** Whether a record may give this pipe up: it is gone, because we deleted it, or while its manifest asks for that. */
export function isRemoved({ pipes, wishes, deleted }: Model, pipeId: string): boolean {
  if (pipes.some(({ id }) => id === pipeId)) return false
  return deleted.has(pipeId) || wishes.some(({ policy }) => policy['ensure'] === 'absent')
}

/** A look at a key is over, and its process lives: it is known if its manifest asks for no deletion. */
export function noteAsked({ wishes, askedAt }: Model, key: string): void {
  for (const [index, wish] of wishes.entries()) {
    const isAsking = wish.isPresent && asksForDeletion(wish)
    if (keyOfWish(wish) === key && !isAsking) delete askedAt[index]
  }
}

/** In the end, when nothing fails any more: what is to be deleted, and is as its manifest says, is gone. */
export function judgeRemoved(model: Model): readonly string[] {
  return model.pipes.flatMap((pipe) => {
    const key = holderOf(model, pipe)?.key
    const wish = model.wishes.find((each) => each.isPresent && keyOfWish(each) === key)
    const isAsked = wish !== undefined && asksForDeletion(wish) && wish.policy['ensure'] === 'absent'
    return isAsked && pipe.life !== undefined && isAsAsked(pipe.life, wish)
      ? [`In the end pipe ${shortId(pipe.id)} is still there, and ${key} asks for its deletion.`]
      : []
  })
}
