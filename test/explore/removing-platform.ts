import type { Looks, Reply } from '../../src/contract/platform.ts'
import { remoteError } from '../reconcile/model-platform.ts'
import { changes } from './life.ts'
import { isVisible, shortId } from './model.ts'
import { judgeRemoval } from './removal-laws.ts'
import { choose, forever, tell, type Process, type Run } from './run.ts'

/* What a service that deletes pipes answers: it takes a while until one is gone. */

/** What may become of a deletion, besides that it is begun and answered. */
export const REMOVE_REPLIES = ['lost', 'fails', 'fails for good', 'refused'] as const
export type RemoveReply = (typeof REMOVE_REPLIES)[number]

/** @param check as of `Platform.remove` */
export async function removePipe(
  run: Run,
  process: Process,
  {
    id,
    check,
    looks,
  }: { readonly id: string; readonly check: (looks: Looks) => Promise<void>; readonly looks: Looks },
): Promise<Reply<unknown>> {
  const { model, world } = run
  for (;;) {
    if (process.isDead) return forever()
    await run.passMeanwhile(run, process, 'while its deletion waits for the budget', 'permit')
    if (process.isDead) return forever()
    await check(looks)
    const pipe = model.pipes.find((each) => each.id === id)
    const what = `  It deletes pipe ${shortId(id)}`
    if (pipe?.life === undefined || !isVisible(model, pipe)) {
      tell(run, `${what}: 404.`)
      throw remoteError('Missing', 'none')
    }
    judgeRemoval(run, pipe)
    const end = choose(run, [
      { name: 'answered', cost: 0 },
      ...REMOVE_REPLIES.map((name) => world.removeReplies?.includes(name) === true && { name, cost: 1 }),
      world.crashes && { name: 'dies before', cost: 1 },
      world.crashes && { name: 'dies after', cost: 1 },
    ])
    tell(run, `${what} (${end}).`)
    const isBegun = end === 'answered' || end === 'lost' || end === 'dies after'
    if (isBegun) {
      changes(model, pipe, { state: 'Deleting' })
      model.deleted.add(id)
    }
    if (end.startsWith('dies')) return process.die()
    if (end === 'answered') {
      await run.passMeanwhile(run, process, 'while the reply is on its way', 'reply')
      if (process.isDead) return forever()
      return { value: {}, requestId: 'request', credential: 'api' }
    }
    if (end === 'refused') throw remoteError('Rejected', 'none')
    if (end === 'fails for good') throw remoteError('Unavailable', 'unknown')
  }
}
