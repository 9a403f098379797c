import type { Key } from '../kinds/key.ts'
import type { Priority } from '../contract/platform.ts'
import type { ReconcileContext, ReconcileResult } from '../reconcile/context.ts'
import type { Reconciler } from '../reconcile/reconciler.ts'
import { createDispatcher } from './dispatcher.ts'
import { createQueue } from './queue.ts'
import { serviceQueueOf } from './service-queue.ts'

/** Limit for keys whose dependencies change repeatedly. */
const MOST_RUNS = 3

export interface PassOptions {
  readonly context: ReconcileContext
  readonly reconciler: Pick<Reconciler, 'reconcile'>
  readonly concurrency: number
  /** `normal`: dependencies first. `last`: behind all other requests to the platform. */
  readonly urgency: 'normal' | 'last'
  /** The pass skips them. */
  readonly settled?: ReadonlySet<Key> | undefined
  readonly stopping: AbortSignal
  /** Called once at the stop. The signal cancels running reconciles. */
  readonly deadline: () => AbortSignal
  readonly onStart: (key: Key) => void
  readonly onReconciled: (key: Key, result: ReconcileResult) => void
}

export interface Pass {
  readonly unfinished: number
  readonly reconciled: ReadonlySet<Key>
  readonly bugs: ReadonlyMap<Key, unknown>
}

/** A key runs after its dependencies, and again when a dependency changed. Shared by `apply` and `plan`. */
export async function passOver(options: PassOptions): Promise<Pass> {
  const { context, reconciler, stopping } = options
  const { store } = context
  const runs = new Map<Key, number>()
  const waiting = new Set<Key>()
  const reconciled = new Set<Key>()
  const bugs = new Map<Key, unknown>()
  const limited = new Set<Key>()
  let running = 0
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  const dispatcher = createDispatcher({
    clock: context.clock,
    queue: createQueue(),
    concurrency: options.concurrency,
    emit: context.emit,
    async run({ key, priority }, releaseSlot) {
      waiting.delete(key)
      runs.set(key, (runs.get(key) ?? 0) + 1)
      options.onStart(key)
      const reconcileId = context.newId()
      running += 1
      try {
        const request = { priority, stopping, reconcileId, changedAt: undefined, releaseSlot }
        const result = await reconciler.reconcile(key, request)
        if (result.outcome.result === 'stopped') reconciled.delete(key)
        else reconciled.add(key)
        if (result.action.reason === 'CreateLimit') limited.add(key)
        else limited.delete(key)
        options.onReconciled(key, result)
        for (const other of result.also) ask(other)
      } catch (error) {
        if (!stopping.aborted) bugs.set(key, error)
        throw error
      } finally {
        running -= 1
        for (const other of order.ended(key)) ask(other)
        if (waiting.size === 0 && running === 0)
          for (const other of [...order.rest(), ...releasedByLimit()]) ask(other)
        if (waiting.size === 0 && running === 0) finish()
      }
      return undefined
    },
  })
  /** Keys refused while a rename among the others still counted as a create. */
  function releasedByLimit(): readonly Key[] {
    return [...limited].filter((key) => store.createLimitReached(context.maxCreates, key) === undefined)
  }
  function ask(key: Key): void {
    if (options.settled?.has(key) === true) return
    if ((runs.get(key) ?? 0) >= MOST_RUNS || order.isHeld(key)) return
    waiting.add(key)
    const priority = options.urgency === 'last' ? 2 : priorityOf(store, key)
    dispatcher.ask(key, { priority, afterMs: 0, service: serviceQueueOf(store, key) })
  }

  const keys = keysOf(context).filter((key) => options.settled?.has(key) !== true)
  const order = createOrder(keys, (key) => store.dependents(key))
  for (const key of keys) ask(key)
  if (waiting.size === 0) for (const key of order.rest()) ask(key)
  if (keys.length === 0) finish()
  stopping.addEventListener('abort', () => finish(), { once: true })
  if (stopping.aborted) finish()
  await done
  const { unfinished } = await dispatcher.stop(options.deadline())
  // Another look at a reconciled key is optional.
  const left = [...waiting, ...order.rest()].filter((key) => !reconciled.has(key))
  return { unfinished: unfinished + left.length, reconciled, bugs }
}

/** Keys with a manifest or a record, sorted. */
export function keysOf({ store }: Pick<ReconcileContext, 'store'>): readonly Key[] {
  const keys = new Set(store.catalog?.entries.keys())
  for (const record of store.records()) keys.add(record.key)
  return [...keys].toSorted()
}

/** Other keys wait for the kinds that are only read. */
function priorityOf(store: ReconcileContext['store'], key: Key): Priority {
  const lifecycle = store.lifecycleOf(key)
  return lifecycle === 'reference' || lifecycle === 'read-only' ? 0 : 1
}

/** A key waits until its dependencies were reconciled once. */
interface Order {
  isHeld(key: Key): boolean
  /** @returns keys that this one released */
  ended(key: Key): readonly Key[]
  /** Releases the remaining keys, which wait for each other, in order. */
  rest(): readonly Key[]
}

function createOrder(keys: readonly Key[], dependents: (key: Key) => readonly Key[]): Order {
  const before = new Map<Key, Set<Key>>()
  for (const key of keys)
    for (const other of dependents(key)) {
      if (other === key) continue
      const needed = before.get(other) ?? new Set()
      before.set(other, needed.add(key))
    }
  return {
    isHeld: (key) => before.has(key),
    ended(key) {
      return dependents(key).filter((other) => {
        const needed = before.get(other)
        needed?.delete(key)
        return needed?.size === 0 && before.delete(other)
      })
    },
    rest() {
      const held = keys.filter((key) => before.has(key))
      before.clear()
      return held
    },
  }
}
