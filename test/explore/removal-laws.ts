import type { LedgerRecord } from '../../src/plan/record.ts'
import { isAsAsked, isSame } from './life.ts'
import { keyOfWish, MINUTE, shortId, type Model, type Pipe } from './model.ts'
import type { Run } from './run.ts'

/* What may never be of a pipe that is to be deleted (design §14: `delete`). */

/** So long after its manifest went away nothing is deleted. */
export const GRACE_MS = 10 * MINUTE

/** A request to delete a pipe is about to go out. */
export function judgeRemoval({ model, broken }: Run, pipe: Pipe): void {
  const fault = faultOf(model, pipe)
  if (fault !== undefined) broken.push(`Pipe ${shortId(pipe.id)} is deleted, ${fault}.`)
}

function faultOf(model: Model, pipe: Pipe): string | undefined {
  const index = pipe.wish
  const wish = index === undefined ? undefined : model.wishes[index]
  if (index === undefined || wish === undefined || pipe.life === undefined) return 'which we did not create'
  if (wish.isPresent) return `and the manifest of ${keyOfWish(wish)} is there`
  if (wish.asksRemoval !== true) return `and the manifest of ${keyOfWish(wish)} did not ask for that`
  const goneAt = model.goneAt[index]
  if (goneAt === undefined || model.now - goneAt < GRACE_MS)
    return `and the manifest of ${keyOfWish(wish)} is gone for less than ten minutes`
  const isSeen = isSame(pipe.life.told, pipe.life.live)
  if (isSeen && !isAsAsked(pipe.life, wish)) return 'and it was seen that somebody has changed it'
  const record = holderOf(model, pipe)
  if (record === undefined) return 'and no record holds it'
  return record.removal?.isSent === true ? undefined : 'and the ledger does not say that it is about to be'
}

function holderOf({ records }: Model, { id }: Pick<Pipe, 'id'>): LedgerRecord | undefined {
  return [...records.values()].find(({ remote }) => remote?.id === id)
}

/** Whether a record may give this pipe up: it is gone, because we deleted it, or when its manifest was gone and asked for that. */
export function isRemoved({ pipes, wishes, deleted }: Model, pipeId: string): boolean {
  if (pipes.some(({ id }) => id === pipeId)) return false
  return deleted.has(pipeId) || wishes.some((wish) => !wish.isPresent && wish.asksRemoval === true)
}

/** A look at a key is over, and its process lives: what its manifest asks for while it is there is known. */
export function noteAsked({ wishes, goneAt }: Model, key: string): void {
  for (const [index, wish] of wishes.entries()) {
    if (keyOfWish(wish) !== key || !wish.isPresent) continue
    delete goneAt[index]
    if (wish.isFlawed === true) continue
    if (wish.policy['onRemove'] === 'delete' && !wish.isSuspended) wish.asksRemoval = true
    else delete wish.asksRemoval
  }
}

/** In the end, when nothing fails any more: what was to be deleted, and is as it was left, is gone. */
export function judgeRemoved(model: Model): readonly string[] {
  return model.pipes.flatMap((pipe) => {
    const wish = pipe.wish === undefined ? undefined : model.wishes[pipe.wish]
    // Whether an edit was seen right before the manifest went away, nobody knows here.
    const isAsked = wish?.asksRemoval === true && wish.policy['onRemove'] === 'delete'
    // One that was never read in sync is kept, since nobody knows whether it is as it was.
    const isMeant = wish?.isPresent === false && isAsked && holderOf(model, pipe)?.left !== undefined
    return isMeant && pipe.life !== undefined && isAsAsked(pipe.life, wish)
      ? [`In the end pipe ${shortId(pipe.id)} is still there, and ${keyOfWish(wish)} asked for its deletion.`]
      : []
  })
}
