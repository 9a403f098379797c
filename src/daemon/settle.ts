import { lifecycleOfView, type StatusBoard, type ResourceView } from '../contract/view.ts'
import type { Key } from '../kinds/key.ts'
import { isAlarm } from '../kinds/lookup.ts'
import type { ActionType } from '../plan/action.ts'
import type { Reason } from '../plan/reason.ts'
import type { ReconcileResult } from '../reconcile/context.ts'
import { listedKind } from '../reconcile/gather/listing.ts'
import { isStoppedByUs } from '../plan/rest.ts'
import { createDispatcher } from './dispatcher.ts'
import type { PassOptions } from './pass.ts'
import { createQueue } from './queue.ts'
import { serviceQueueOf } from './service-queue.ts'

export interface SettleOptions extends Pick<
  PassOptions,
  'context' | 'reconciler' | 'concurrency' | 'stopping' | 'deadline'
> {
  readonly board: StatusBoard
  /** Created or changed by the pass before. */
  readonly changed: ReadonlySet<Key>
  /** `started again`: only pipes that were stopped for a change. */
  readonly waitsFor: 'all' | 'started again'
  readonly waitMs: number
  /** Called with the settled and all awaited keys. */
  readonly onLook: (settled: number, of: number) => void
}

export interface Settled {
  /** Not ready and not clearly bad, sorted. */
  readonly unsettled: readonly Key[]
  readonly unfinished: number
  readonly bugs: ReadonlyMap<Key, unknown>
}

/** First and longest interval between looks. The request budget can extend it. */
const FIRST_LOOK_MS = 2_000
const LONGEST_LOOK_MS = 10_000

/** Reads changing resources until they are ready or clearly bad, or the time is over. */
export async function settle(options: SettleOptions): Promise<Settled> {
  const { context, reconciler, board, stopping } = options
  const { store } = context
  const changed = new Set(options.changed)
  const moving = new Set<Key>()
  /** Every key that was ever moving. */
  const moved = new Set<Key>()
  /** Keys that wait for a dependency. */
  const held = new Set<Key>()
  /** Requested by another key, which might have started their change. */
  const due = new Set<Key>()
  /** Refused and sent again. */
  const retried = new Set<Key>()
  const bugs = new Map<Key, unknown>()
  let running = 0
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  const dispatcher = createDispatcher({
    clock: context.clock,
    queue: createQueue(),
    concurrency: options.concurrency,
    emit: context.emit,
    async run({ key, priority }, releaseSlot) {
      due.delete(key)
      running += 1
      try {
        const reconcileId = context.newId()
        const request = { priority, stopping, reconcileId, changedAt: undefined, releaseSlot }
        const result = await reconciler.reconcile(key, request)
        if (isChange(result)) changed.add(key)
        if (result.action.type !== 'hold') retried.add(key)
        review(key)
        for (const other of result.also) {
          due.add(other)
          ask(other, 0)
        }
        const afterMs = Math.min(result.next?.afterMs ?? LONGEST_LOOK_MS, LONGEST_LOOK_MS)
        return moving.has(key) ? { priority: 1, afterMs, service: serviceQueueOf(store, key) } : undefined
      } catch (error) {
        if (!stopping.aborted) bugs.set(key, error)
        moving.delete(key)
        throw error
      } finally {
        running -= 1
        end()
      }
    },
  })

  function ask(key: Key, afterMs: number): void {
    dispatcher.ask(key, { priority: 1, afterMs, service: serviceQueueOf(store, key) })
  }

  function review(key: Key): void {
    const status = board.get(key)
    const wasMoving = moving.delete(key)
    held.delete(key)
    if (status === undefined) return
    const isAwaited =
      options.waitsFor === 'started again'
        ? isStoppedByUs(store.record(key))
        : isMoving(status, { isChanged: changed.has(key), wasMoving }) || isRetriedSoon(key, status)
    if (isAwaited) {
      moving.add(key)
      moved.add(key)
    } else if (status.reason === 'DependencyNotReady') held.add(key)
    options.onLook(moved.size - moving.size, moved.size)
  }

  /** The next attempt reads the list, or the service might be awake. */
  function isRetriedSoon(key: Key, { reason }: ResourceView): boolean {
    if (reason === 'ServiceIdle') return true
    if (reason === 'Rejected') return !retried.has(key)
    return reason === 'OutcomeUnknown' && listedKind(context, key) !== undefined
  }

  function end(): void {
    if (moving.size + due.size + running === 0) finish()
  }

  for (const { key } of board.list()) review(key)
  for (const key of moving) ask(key, FIRST_LOOK_MS)
  end()
  const timer = setTimeout(finish, options.waitMs)
  stopping.addEventListener('abort', () => finish(), { once: true })
  if (stopping.aborted) finish()
  await done
  clearTimeout(timer)
  const { unfinished } = await dispatcher.stop(options.deadline())
  return { unsettled: moving.size === 0 ? [] : [...moving, ...held].toSorted(), unfinished, bugs }
}

const CHANGES: ReadonlySet<ActionType> = new Set(['create', 'adopt', 'upsert', 'update', 'delete'])

export function isChange({ action, outcome }: ReconcileResult): boolean {
  return CHANGES.has(action.type) && outcome.result === 'done'
}

/** Reasons that do not end a change in progress. */
const PASSING: ReadonlySet<Reason> = new Set(['Unavailable', 'RateLimited'])

function isMoving(
  resource: ResourceView,
  { isChanged, wasMoving }: { readonly isChanged: boolean; readonly wasMoving: boolean },
): boolean {
  const { key, status, reason, conditions } = resource
  if (status === 'Progressing' && isChanged) return true
  if (wasMoving && PASSING.has(reason)) return true
  if (lifecycleOfView(resource) !== 'create-once') return false
  // Further reads tell whether it is gone.
  if (reason === 'MissingUnconfirmed') return true
  // A pending alert is unrelated to the applied change.
  if (isAlarm(key)) return status === 'Progressing' && conditions.Synced.reason === 'Changing'
  // Includes a change that another process began.
  if (status === 'Progressing')
    return conditions.Synced.reason === 'Changing' || conditions.Ready.reason === 'StateChanging'
  // A list of healthy states can omit the states before them.
  const { Ready } = conditions
  return (
    status === 'NotReady' &&
    Ready.reason === 'UnhealthyState' &&
    Ready.facts !== undefined &&
    'mayBeMoving' in Ready.facts
  )
}
