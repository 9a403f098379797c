import { aborted, type Clock } from '../lib/clock.ts'
import type { Key } from '../kinds/key.ts'
import type { Priority } from '../contract/platform.ts'
import type { ReconcileContext, ReconcileRequest, ReconcileResult } from '../reconcile/context.ts'
import type { Reconciler } from '../reconcile/reconciler.ts'
import { PRIORITIES, createQueue, type Ask, type Queue, type Taken } from './queue.ts'
import { serviceQueueOf } from './service-queue.ts'
import { setImmediate as giveWay } from 'node:timers/promises'
import type { Emit } from '../contract/events.ts'

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

export interface Again extends Omit<Ask, 'dueAt'> {
  readonly afterMs: number
}

interface DispatcherOptions {
  readonly clock: Clock
  readonly queue: Queue
  /** Maximum of parallel runs at priority 0, and again at priorities 1 and 2 together. */
  readonly concurrency: number
  /** @param releaseSlot lets another run start before this one ends @returns when to run the key again */
  readonly run: (taken: Taken, releaseSlot: () => Promise<void>) => Promise<Again | undefined>
  readonly emit: Emit
}

const AFTER_BUG_MS = 60_000

/** The queue counts as stuck if a key can run, but no run starts or ends for this long. */
const STUCK_MS = 60_000

export function createDispatcher(options: DispatcherOptions) {
  const { clock, queue, emit } = options
  const urgent = createSlots(options, [0])
  const patient = createSlots(options, [1, 2])
  const idle = Promise.withResolvers<void>()
  let deadline: AbortSignal | undefined
  let awake = false
  let refillsLeft = options.concurrency
  let releasedRuns = 0
  let timer: { readonly at: number; readonly cancel: () => void } | undefined
  let shown: ReturnType<Queue['depth']> | undefined
  let progressAt = clock.monotonic()

  function slotsOf(priority: Priority): ReturnType<typeof createSlots> {
    return priority === 0 ? urgent : patient
  }

  function mayTake(service: string, priority: Priority): boolean {
    return slotsOf(priority).mayStart(service)
  }

  // Waits for `setImmediate`, so that sockets and timers get their turn between runs.
  function wake(): void {
    if (awake || deadline !== undefined) return
    awake = true
    setImmediate(() => {
      awake = false
      refillsLeft = options.concurrency
      if (deadline !== undefined) return
      pump()
      showDepth()
    })
  }

  /** Starts waiting keys immediately, but only a limited number of times per tick, so that timers run. */
  function refill(): void {
    wake()
    if (refillsLeft === 0 || deadline !== undefined) return
    refillsLeft -= 1
    pump()
  }

  function pump(): void {
    const now = clock.monotonic()
    for (let taken = queue.take(now, mayTake); taken !== undefined; taken = queue.take(now, mayTake)) {
      start(taken, now)
    }
    setTimer(queue.nextDueAt(), now)
  }

  function start(taken: Taken, now: number): void {
    progressAt = now
    slotsOf(taken.priority).started(taken.service)
    emit({ type: 'QueueWaited', priority: taken.priority, waitMs: taken.waitedMs })
    void finish(taken)
  }

  async function finish(taken: Taken): Promise<void> {
    let hasSlot = true
    const again = await attempt(taken, async () => {
      if (!hasSlot || releasedRuns >= options.concurrency) return
      hasSlot = false
      releasedRuns += 1
      freeSlot(taken)
      await giveWay()
    })
    progressAt = clock.monotonic()
    if (again !== undefined) add(taken.key, again)
    queue.done(taken.key)
    if (hasSlot) freeSlot(taken)
    else {
      releasedRuns -= 1
      wake()
    }
    if (deadline !== undefined && queue.running === 0) idle.resolve()
  }

  function freeSlot({ priority, service }: Taken): void {
    slotsOf(priority).finished(service)
    refill()
  }

  async function attempt(taken: Taken, releaseSlot: () => Promise<void>): Promise<Again | undefined> {
    try {
      return await options.run(taken, releaseSlot)
    } catch (cause) {
      if (deadline?.aborted === true && cause === deadline.reason) return undefined // the stop, no bug
      const error = cause instanceof Error ? cause : new Error('a reconcile threw no error', { cause })
      emit({ type: 'Bug', message: `the reconcile of ${taken.key} threw`, error })
      return { priority: 1, afterMs: AFTER_BUG_MS, service: taken.service }
    }
  }

  function add(key: Key, { priority, afterMs, service }: Again): void {
    queue.add(key, { priority, service, dueAt: clock.monotonic() + Math.max(0, afterMs) })
  }

  function setTimer(dueAt: number | undefined, now: number): void {
    if (timer?.at === dueAt) return
    timer?.cancel()
    timer = dueAt === undefined ? undefined : { at: dueAt, cancel: clock.after(dueAt - now, onTimer) }
  }

  function onTimer(): void {
    timer = undefined
    wake()
  }

  function showDepth(): void {
    const depth = queue.depth()
    if (PRIORITIES.every((priority) => depth[priority] === shown?.[priority])) return
    shown = depth
    emit({ type: 'QueueChanged', depth })
  }

  return {
    ask(key: Key, again: Again) {
      add(key, again)
      wake()
    },
    /** Never rejects. */
    async stop(signal: AbortSignal) {
      deadline = signal
      timer?.cancel()
      timer = undefined
      if (queue.running > 0) await Promise.race([idle.promise, aborted(signal)])
      return { unfinished: queue.running }
    },
    /** Whether the queue moves, for `/healthz`. */
    health() {
      if (deadline !== undefined) return { ok: true, detail: 'stopping' }
      const now = clock.monotonic()
      const oldestMs = queue.oldestReadyAgeMs(now, mayTake)
      const stillMs = now - progressAt
      const ok = oldestMs <= STUCK_MS || stillMs <= STUCK_MS
      const facts = `${queue.running} running, ${queue.waiting} waiting`
      return ok
        ? { ok, detail: facts }
        : { ok, detail: `no reconcile started or ended for ${Math.round(stillMs / 1000)} s; ${facts}` }
    },
  }
}

/**
 * Divides the slots equally between services with ready or running keys, rounded up. The last free slot is for a
 * service without runs, because a hanging service must not fill all.
 */
function createSlots({ concurrency, queue }: DispatcherOptions, priorities: readonly Priority[]) {
  const running = new Map<string, number>()
  let total = 0

  function share(): number {
    const services = new Set(running.keys())
    for (const priority of priorities) {
      for (const service of queue.readyServices(priority)) services.add(service)
    }
    return Math.max(1, Math.ceil(concurrency / Math.max(1, services.size)))
  }

  return {
    mayStart(service: string) {
      if (total >= concurrency) return false
      const mine = running.get(service) ?? 0
      if (mine === 0) return true
      if (total === concurrency - 1 && queue.services > running.size) return false
      return mine < share()
    },
    started(service: string) {
      running.set(service, (running.get(service) ?? 0) + 1)
      total += 1
    },
    finished(service: string) {
      const left = (running.get(service) ?? 0) - 1
      if (left > 0) running.set(service, left)
      else running.delete(service)
      total -= 1
    },
  }
}
