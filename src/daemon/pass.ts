import { dependencyWaits } from '../plan/gates.ts'
import type { Key } from '../kinds/key.ts'
import { isAlarm } from '../kinds/lookup.ts'
import type { Priority } from '../contract/platform.ts'
import { lifecycleOfView, type StatusBoard, type ResourceView } from '../contract/view.ts'
import { CHANGES } from '../plan/action.ts'
import type { Reason } from '../plan/reason.ts'
import { isStoppedByUs } from '../plan/run-state.ts'
import type { ReconcileContext, ReconcileResult } from '../reconcile/context.ts'
import { listedKind } from '../reconcile/gather/listing.ts'
import { createLoop, type LoopParts } from './loop.ts'

/** Limit of runs per key, because its dependencies can change repeatedly. */
const MOST_RUNS = 3

export interface PassOptions extends Omit<LoopParts, 'begin' | 'reconciled' | 'ended'> {
  /** `normal`: the kinds that are only read run first. `last`: other reconciles run before those of this pass. */
  readonly urgency: 'normal' | 'last'
  readonly settled?: ReadonlySet<Key> | undefined
  /** Called once at the end. When the returned signal aborts, the pass stops waiting for running reconciles. */
  readonly deadline: () => AbortSignal
  readonly onReconciled: (key: Key, result: ReconcileResult) => void
  /** Makes the pass wait until changed resources are ready or clearly bad. */
  readonly wait?: Wait
}

/** A key runs after its dependencies, and again when a dependency changed. */
export async function reconcileAll(options: PassOptions) {
  const { context, stopping, wait } = options
  const { store, clock } = context
  const runs = new Map<Key, number>()
  const waiting = new Set<Key>()
  const reconciled = new Set<Key>()
  const limited = new Set<Key>()
  const changes = wait && createChanges(wait, context)
  let running = 0
  let cancelLimit: (() => void) | undefined
  const { promise: done, resolve: finish } = Promise.withResolvers<void>()
  const loop = createLoop({
    ...options,
    begin(key) {
      if (waiting.delete(key)) runs.set(key, (runs.get(key) ?? 0) + 1)
      running += 1
    },
    reconciled(key, result) {
      if (result.outcome.result !== 'stopped') reconciled.add(key)
      else if (changes?.moving.has(key) !== true) reconciled.delete(key)
      if (result.action.reason === 'CreateLimit') limited.add(key)
      else limited.delete(key)
      options.onReconciled(key, result)
      for (const other of result.also) ask(other)
      const wasMoving = changes?.moving.has(key) === true
      const again = changes?.review(key, result)
      if (wasMoving && again === undefined) for (const other of changes?.held ?? []) ask(other)
      return again
    },
    ended(key) {
      running -= 1
      if (loop.bugs.has(key)) changes?.moving.delete(key)
      for (const other of order.ended(key)) ask(other)
      goOn()
    },
  })

  function goOn(): void {
    if (waiting.size + running > 0) return
    for (const key of [...order.rest(), ...releasedByLimit()]) ask(key)
    if (waiting.size > 0) return
    if (wait === undefined || changes === undefined || changes.moving.size === 0) finish()
    else if (cancelLimit === undefined) {
      cancelLimit = clock.after(wait.limitMs, finish)
      changes.begin()
      for (const [key, count] of runs) if (count >= MOST_RUNS) ask(key)
    }
  }

  /** Keys that the create limit refused and now allows, because other creates turned out to be renames. */
  function releasedByLimit(): readonly Key[] {
    return [...limited].filter((key) => store.createLimitReached(context.maxCreates, key) === undefined)
  }

  function ask(key: Key): void {
    if (options.settled?.has(key) === true || order.isHeld(key)) return
    if (cancelLimit === undefined && (runs.get(key) ?? 0) >= MOST_RUNS) return
    waiting.add(key)
    loop.ask(key, options.urgency === 'last' ? 2 : priorityOf(store, key))
  }

  const keys = keysOf(context).filter((key) => options.settled?.has(key) !== true)
  const order = createOrder(keys, (key) => store.dependents(key))
  for (const key of keys) ask(key)
  goOn()
  stopping.addEventListener('abort', () => finish(), { once: true })
  if (stopping.aborted) finish()
  await done
  cancelLimit?.()
  const { unfinished } = await loop.stop(options.deadline())
  // A key that was reconciled counts as done, even if it waits for another run.
  const left = [...waiting, ...order.rest()].filter((key) => !reconciled.has(key))
  return {
    unfinished: unfinished + left.length,
    reconciled,
    /** Sorted keys of resources that are neither ready nor clearly bad. */
    unsettled: changes?.unsettled() ?? [],
    bugs: loop.bugs,
  }
}

export function keysOf({ store }: ReconcileContext): readonly Key[] {
  const keys = new Set(store.catalog?.entries.keys())
  for (const record of store.records()) keys.add(record.key)
  return [...keys].toSorted()
}

/** Kinds that are only read come first, because other keys wait for them. */
function priorityOf(store: ReconcileContext['store'], key: Key): Priority {
  const lifecycle = store.lifecycleOf(key)
  return lifecycle === 'reference' || lifecycle === 'read-only' ? 0 : 1
}

function createOrder(keys: readonly Key[], dependents: (key: Key) => readonly Key[]) {
  const before = new Map<Key, Set<Key>>()
  for (const key of keys)
    for (const other of dependents(key)) {
      if (other !== key) before.getOrInsertComputed(other, () => new Set()).add(key)
    }
  return {
    isHeld: (key: Key) => before.has(key),
    /** @returns the keys that waited only for this key */
    ended(key: Key) {
      return dependents(key).filter((other) => {
        const needed = before.get(other)
        needed?.delete(key)
        return needed?.size === 0 && before.delete(other)
      })
    },
    /** Releases the remaining keys, which wait for each other. */
    rest() {
      const held = keys.filter((key) => before.has(key))
      before.clear()
      return held
    },
  }
}

export interface Wait {
  readonly board: StatusBoard
  /** `started again`: waits only for pipes that Pipewright stopped for a change, until they run. */
  readonly waitsFor: 'all' | 'started again'
  /** Longest wait, after the first reconcile of all keys. */
  readonly limitMs: number
  readonly onLook: (moving: ReadonlySet<Key>, of: number) => void
}

/** Longest time between two reads of an awaited key. */
const LONGEST_LOOK_MS = 10_000

/** Longest wait while the ledger cannot save the outcome of a create. */
const SAVE_MS = 10_000

function createChanges({ board, waitsFor, onLook }: Wait, context: ReconcileContext) {
  const { store, clock } = context
  const changed = new Set<Key>()
  const moving = new Set<Key>()
  const moved = new Set<Key>()
  const held = new Set<Key>()
  const retried = new Set<Key>()
  let begunAt: number | undefined

  function isAwaited(status: ResourceView, wasMoving: boolean): boolean {
    const { key, reason } = status
    if (reason === 'OutcomeUnsaved') return clock.monotonic() - (begunAt ?? Infinity) < SAVE_MS
    if (waitsFor === 'started again') return isStoppedByUs(store.record(key))
    return isMoving(status, { isChanged: changed.has(key), wasMoving }) || isRetriedSoon(status)
  }

  /** Whether a retry might help: for example, the service wakes up, or a list shows the outcome. */
  function isRetriedSoon({ key, reason }: ResourceView): boolean {
    if (reason === 'ServiceIdle') return true
    if (reason === 'Rejected') return !retried.has(key)
    return reason === 'OutcomeUnknown' && listedKind(context, key) !== undefined
  }

  function show(): void {
    if (begunAt !== undefined) onLook(moving, moved.size)
  }

  return {
    moving,
    held,
    review(key: Key, result: ReconcileResult) {
      const wasMoving = moving.delete(key)
      if (CHANGES.has(result.action.type) && result.outcome.result === 'done') changed.add(key)
      if (wasMoving && result.action.type !== 'hold') retried.add(key)
      const status = board.get(key)
      held.delete(key)
      if (status !== undefined && dependencyWaits(status.because).length > 0) held.add(key)
      if (status !== undefined && isAwaited(status, wasMoving)) {
        held.delete(key)
        moving.add(key)
        moved.add(key)
      }
      show()
      if (!moving.has(key)) return undefined
      return {
        priority: 1 as const,
        afterMs: Math.min(result.next?.afterMs ?? LONGEST_LOOK_MS, LONGEST_LOOK_MS),
      }
    },
    begin() {
      begunAt ??= clock.monotonic()
      show()
    },
    unsettled: () => (moving.size === 0 ? [] : [...moving, ...held].toSorted()),
  }
}

/** With these reasons, a change in progress might continue. */
const PASSING: ReadonlySet<Reason> = new Set(['Unavailable', 'RateLimited'])

function isMoving(
  resource: ResourceView,
  { isChanged, wasMoving }: { readonly isChanged: boolean; readonly wasMoving: boolean },
): boolean {
  const { key, status, reason, conditions } = resource
  if (status === 'Progressing' && isChanged) return true
  if (wasMoving && PASSING.has(reason)) return true
  // `Deleting` includes the grace period before the delete request.
  if (conditions.Synced.reason === 'Deleting') return true
  if (lifecycleOfView(resource) !== 'create-once') return false
  if (reason === 'MissingUnconfirmed') return true
  // The state of an alert describes the data that it watches, not whether a change is complete.
  if (isAlarm(key)) return status === 'Progressing' && conditions.Synced.reason === 'Changing'
  // Also waits for a change that another process began.
  if (status === 'Progressing')
    return conditions.Synced.reason === 'Changing' || conditions.Ready.reason === 'Changing'
  // A pipe whose state is not clearly bad might still reach a state in `policy.healthyStates`.
  const { Ready } = conditions
  return (
    status === 'NotReady' &&
    Ready.reason === 'UnhealthyState' &&
    Ready.facts !== undefined &&
    'mayBeMoving' in Ready.facts
  )
}
