import { aborted } from '../lib/clock.ts'
import type { Key } from '../kinds/key.ts'
import type { Priority } from '../contract/platform.ts'
import type { ReconcileContext, ReconcileRequest, ReconcileResult } from '../reconcile/context.ts'
import type { Reconciler } from '../reconcile/reconciler.ts'
import { type Again, createDispatcher } from './dispatcher.ts'
import { createQueue, type Taken } from './queue.ts'
import { serviceQueueOf } from './service-queue.ts'

export interface LoopParts {
  readonly context: ReconcileContext
  readonly reconciler: Pick<Reconciler, 'reconcile'>
  readonly concurrency: number
  readonly stopping: AbortSignal
  readonly begin: (key: Key) => void | Pick<ReconcileRequest, 'changedAt' | 'isAsked'>
  /** @returns when to run the key again */
  readonly reconciled: (key: Key, result: ReconcileResult) => Omit<Again, 'service'> | undefined
  readonly ended?: (key: Key) => void
}

export function createLoop(parts: LoopParts) {
  const { context, reconciler, concurrency, stopping } = parts
  const { store, clock, emit } = context
  const queue = createQueue()
  const bugs = new Map<Key, unknown>()
  const turns = new Map<Key, Promise<unknown>>()
  const running = new Map<Key, AbortController>()
  const dispatcher = createDispatcher({
    clock,
    queue,
    concurrency,
    emit,
    run: (taken, releaseSlot) => inTurn(taken.key, () => run(taken, releaseSlot)),
  })

  async function run({ key, priority }: Taken, releaseSlot: () => Promise<void>): Promise<Again | undefined> {
    const stop = new AbortController()
    if (stopping.aborted) stop.abort(stopping.reason)
    running.set(key, stop)
    try {
      const begun = parts.begin(key) ?? { changedAt: undefined }
      const request = { priority, signal: stop.signal, reconcileId: context.newId(), releaseSlot, ...begun }
      const again = parts.reconciled(key, await reconciler.reconcile(key, request))
      return again && { ...again, service: serviceQueueOf(store, key) }
    } catch (error) {
      if (!stopping.aborted) bugs.set(key, error)
      throw error
    } finally {
      running.delete(key)
      parts.ended?.(key)
    }
  }

  function inTurn<T>(key: Key, work: () => Promise<T>): Promise<T> {
    const before = turns.get(key)
    const turn = before === undefined ? work() : before.then(work, work)
    turns.set(key, turn)
    return turn.finally(() => {
      if (turns.get(key) === turn) turns.delete(key)
    })
  }

  function cancelAll(): void {
    for (const stop of running.values()) stop.abort(stopping.reason)
  }
  stopping.addEventListener('abort', cancelAll, { once: true })

  return {
    health: () => dispatcher.health(),
    /** Cancels the key's reconcile, which might wait for long. Then calls `work`, before the key's next reconcile. */
    interrupt<T>(key: Key, work: () => Promise<T>) {
      running.get(key)?.abort(new DOMException('a person decides', 'AbortError'))
      return inTurn(key, work)
    },
    async stop(deadline: AbortSignal) {
      const stopped = await dispatcher.stop(deadline)
      await Promise.race([Promise.allSettled(turns.values()), aborted(deadline)])
      return stopped
    },
    bugs,
    ask(key: Key, priority: Priority) {
      dispatcher.ask(key, { priority, afterMs: 0, service: serviceQueueOf(store, key) })
    },
    depth: () => queue.depth(),
    isLast() {
      const due = queue.depth()
      return queue.running <= 1 && due[0] + due[1] + due[2] === 0
    },
  }
}
