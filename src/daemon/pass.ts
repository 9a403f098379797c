import type { Key } from '../kinds/key.ts'
import { isAlarm } from '../kinds/lookup.ts'
import type { Priority } from '../contract/platform.ts'
import { lifecycleOfView, type StatusBoard, type ResourceView } from '../contract/view.ts'
import type { ActionType } from '../plan/action.ts'
import type { Reason } from '../plan/reason.ts'
import { isStoppedByUs } from '../plan/rest.ts'
import type { ReconcileContext, ReconcileResult } from '../reconcile/context.ts'
import { listedKind } from '../reconcile/gather/listing.ts'
import { createLoop, type LoopParts } from './loop.ts'

/** Limit for keys whose dependencies change repeatedly. */
const MOST_RUNS = 3

export interface PassOptions extends Omit<LoopParts, 'begin' | 'reconciled' | 'ended'> {
  /** `normal`: dependencies first. `last`: behind all other requests to the platform. */
  readonly urgency: 'normal' | 'last'
  /** The pass skips them. */
  readonly settled?: ReadonlySet<Key> | undefined
  /** Called once at the stop. The signal cancels running reconciles. */
  readonly deadline: () => AbortSignal
  readonly onReconciled: (key: Key, result: ReconcileResult) => void
}

export interface Pass {
  readonly unfinished: number
  readonly reconciled: ReadonlySet<Key>
  readonly bugs: ReadonlyMap<Key, unknown>
}

/** A key runs after its dependencies, and again when a dependency changed. Shared by `apply` and `plan`. */
export async function passOver(options: PassOptions): Promise<Pass> {
  const { context, stopping } = options
  const { store } = context
  const runs = new Map<Key, number>()
  const waiting = new Set<Key>()
  const reconciled = new Set<Key>()
  const limited = new Set<Key>()
  let running = 0
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  const loop = createLoop({
    ...options,
    begin(key) {
      waiting.delete(key)
      runs.set(key, (runs.get(key) ?? 0) + 1)
      running += 1
    },
    reconciled(key, result) {
      if (result.outcome.result === 'stopped') reconciled.delete(key)
      else reconciled.add(key)
      if (result.action.reason === 'CreateLimit') limited.add(key)
      else limited.delete(key)
      options.onReconciled(key, result)
      for (const other of result.also) ask(other)
      return undefined
    },
    ended(key) {
      running -= 1
      for (const other of order.ended(key)) ask(other)
      if (waiting.size === 0 && running === 0)
        for (const other of [...order.rest(), ...releasedByLimit()]) ask(other)
      if (waiting.size === 0 && running === 0) finish()
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
    loop.ask(key, options.urgency === 'last' ? 2 : priorityOf(store, key))
  }

  const keys = keysOf(context).filter((key) => options.settled?.has(key) !== true)
  const order = createOrder(keys, (key) => store.dependents(key))
  for (const key of keys) ask(key)
  if (waiting.size === 0) for (const key of order.rest()) ask(key)
  if (keys.length === 0) finish()
  stopping.addEventListener('abort', () => finish(), { once: true })
  if (stopping.aborted) finish()
  await done
  const { unfinished } = await loop.stop(options.deadline())
  // Another look at a reconciled key is optional.
  const left = [...waiting, ...order.rest()].filter((key) => !reconciled.has(key))
  return { unfinished: unfinished + left.length, reconciled, bugs: loop.bugs }
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
  const { context, board, stopping } = options
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
  let running = 0
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  const loop = createLoop({
    ...options,
    begin(key) {
      due.delete(key)
      running += 1
    },
    reconciled(key, result) {
      if (isChange(result)) changed.add(key)
      if (result.action.type !== 'hold') retried.add(key)
      review(key)
      for (const other of result.also) {
        due.add(other)
        loop.ask(other, 1)
      }
      const afterMs = Math.min(result.next?.afterMs ?? LONGEST_LOOK_MS, LONGEST_LOOK_MS)
      return moving.has(key) ? { priority: 1, afterMs } : undefined
    },
    ended(key) {
      if (loop.bugs.has(key)) moving.delete(key)
      running -= 1
      end()
    },
  })

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
  for (const key of moving) loop.ask(key, 1, FIRST_LOOK_MS)
  end()
  const timer = setTimeout(finish, options.waitMs)
  stopping.addEventListener('abort', () => finish(), { once: true })
  if (stopping.aborted) finish()
  await done
  clearTimeout(timer)
  const { unfinished } = await loop.stop(options.deadline())
  return { unsettled: moving.size === 0 ? [] : [...moving, ...held].toSorted(), unfinished, bugs: loop.bugs }
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
