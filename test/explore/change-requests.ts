import { Secret } from '../../src/lib/secret.ts'
import type { Reply } from '../../src/contract/platform.ts'
import { RemoteError } from '../../src/contract/remote-error.ts'
import { remoteError, replyOf } from '../reconcile/model-platform.ts'
import { changes } from './life.ts'
import { isVisible, shortId, type Pipe } from './model.ts'
import { judgeRemoval } from './removal-laws.ts'
import { choose, forever, tell, type Process, type Run } from './run.ts'

/* A request that changes or deletes a pipe is sent until it is answered. */

/** What may become of a deletion, besides that it is begun and answered. */
export const REMOVE_REPLIES = ['lost', 'fails', 'fails for good', 'refused'] as const
export type RemoveReply = (typeof REMOVE_REPLIES)[number]

interface ChangeRequest {
  readonly id: string
  readonly noun: 'change' | 'deletion'
  readonly isRepeatable: boolean
  /** Called before each attempt. @returns what it does, in words */
  readonly prepare: () => Promise<string>
  /** It arrives. @returns how it ends */
  readonly arrive: (pipe: Pipe) => string
}

export async function sendChange(
  run: Run,
  process: Process,
  { id, noun, isRepeatable, prepare, arrive }: ChangeRequest,
): Promise<Reply<unknown>> {
  for (;;) {
    if (process.isDead) return forever()
    await run.passMeanwhile(run, process, `while its ${noun} waits for the budget`, 'permit')
    if (process.isDead) return forever()
    const what = await prepare()
    const pipe = run.model.pipes.find((each) => each.id === id)
    if (pipe?.life === undefined || !isVisible(run.model, pipe)) {
      tell(run, `${what}: 404.`)
      throw remoteError('Missing', 'none')
    }
    const end = arrive(pipe)
    tell(run, `${what} (${end}).`)
    if (end.startsWith('dies')) return process.die()
    if (end === 'answered' || end === 'not applied') {
      await run.passMeanwhile(run, process, 'while the reply is on its way', 'reply')
      return process.isDead ? forever() : replyOf({})
    }
    if (end === 'must be paused') throw mustBePaused()
    if (end === 'refused') throw remoteError('Rejected', 'none')
    if (!isRepeatable || end === 'fails for good') throw remoteError('Unavailable', 'unknown')
  }
}

/** It takes a while until a pipe is gone. @param check as of `Platform.remove` */
export function removePipe(run: Run, process: Process, id: string, check: () => Promise<void>) {
  return sendChange(run, process, {
    id,
    noun: 'deletion',
    isRepeatable: true,
    async prepare() {
      await check()
      return `  It deletes pipe ${shortId(id)}`
    },
    arrive(pipe) {
      judgeRemoval(run, pipe)
      const end = chooseEnd(
        run,
        REMOVE_REPLIES.filter((name) => run.world.removeReplies?.includes(name)),
      )
      if (!isEffective(end)) return end
      changes(run.model, pipe, { state: 'Deleting' })
      run.model.deleted.add(id)
      return end
    },
  })
}

/** @param faults what may happen besides an answer and a crash */
export function chooseEnd(run: Run, faults: readonly string[]): string {
  const crashes = run.world.crashes ? ['dies before', 'dies after'] : []
  const others = [...faults, ...crashes].map((name) => ({ name, cost: 1 }))
  return choose<string>(run, [{ name: 'answered', cost: 0 }, ...others])
}

export function isEffective(end: string): boolean {
  return end === 'answered' || end === 'lost' || end === 'dies after'
}

function mustBePaused(): RemoteError {
  const { facts } = remoteError('Rejected', 'none')
  const what = 'it must be paused'
  return new RemoteError(what, { ...facts, what, reply: new Secret(what) })
}
