import { setImmediate as giveWay } from 'node:timers/promises'
import type { Key } from '../kinds/key.ts'
import type { Clock } from '../lib/clock.ts'
import type { Emit } from '../contract/events.ts'
import type { Priority } from '../contract/platform.ts'
import { PRIORITIES, type Queue, type Taken } from './queue.ts'
import { createSlots, type Slots } from './slots.ts'

/** When a key wants to be reconciled next. */
export interface Again {
  readonly priority: Priority
  readonly afterMs: number
  readonly service: string
}

export interface Dispatcher {
  /** Looks at the queue again, soon; for whoever added to the queue directly. */
  wake(): void
  /** Puts a key into the queue and wakes. */
  ask(key: Key, again: Again): void
  /**
   * Takes nothing new, waits for what runs until `deadline` is aborted, and never rejects.
   * @returns how many runs had not ended by then
   */
  stop(deadline: AbortSignal): Promise<{ readonly unfinished: number }>
  /** Whether the queue moves, for `/healthz`; says nothing about the platform. */
  health(): { readonly ok: boolean; readonly detail: string }
}

export interface DispatcherOptions {
  readonly clock: Clock
  readonly queue: Queue
  /** Runs at a time, once for what changed or was asked for, and once more for retries and drift checks together. */
  readonly concurrency: number
  /**
   * Reconciles one key and says when it wants to come back, if at all. A rejection is a bug. It may leave its place before
   * it ends: then another key may start, unless as many as may run have left theirs. What it does after that comes behind
   * all that is there to be sent or heard.
   */
  readonly run: (taken: Taken, releaseSlot: () => Promise<void>) => Promise<Again | undefined>
  readonly emit: Emit
}

/** A run that threw comes back after this time. */
const AFTER_BUG_MS = 60_000

/** Something may be due and admissible for so long before the queue counts as stuck. */
const STUCK_MS = 60_000

/** Takes keys from the queue when they are due and runs them, under limits of its own (design §7). */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { clock, queue, emit } = options
  const urgent = createSlots({ concurrency: options.concurrency, priorities: [0], queue })
  const patient = createSlots({ concurrency: options.concurrency, priorities: [1, 2], queue })
  const waitingForIdle = new Set<() => void>()
  let deadline: AbortSignal | undefined
  let awake = false
  let atOnce = options.concurrency
  /** Runs that left their place and have not ended. */
  let withoutPlace = 0
  let timer: { readonly at: number; readonly cancel: () => void } | undefined
  let shown: ReturnType<Queue['depth']> | undefined
  let progressAt = clock.monotonic()

  function slotsOf(priority: Priority): Slots {
    return priority === 0 ? urgent : patient
  }

  function mayTake(service: string, priority: Priority): boolean {
    return slotsOf(priority).mayStart(service)
  }

  // In an immediate, not at once: asks that come together are looked at together, and a row of quick runs
  // leaves the event loop free for timers and sockets in between.
  function wake(): void {
    if (awake || deadline !== undefined) return
    awake = true
    setImmediate(() => {
      awake = false
      atOnce = options.concurrency
      if (deadline !== undefined) return
      pump()
      showDepth()
    })
  }

  /**
   * The place that a run leaves is taken at once: the platform is asked again before the next reply is gone through, and
   * not after all that came together. So often in a row at most, so that a row of quick runs is no exception to the above.
   */
  function goOn(): void {
    wake()
    if (atOnce === 0 || deadline !== undefined) return
    atOnce -= 1
    pump()
  }

  function pump(): void {
    const now = clock.monotonic()
    queue.promote(now)
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
    let isPlaced = true
    const again = await attempt(taken, async () => {
      if (!isPlaced || withoutPlace >= options.concurrency) return
      isPlaced = false
      withoutPlace += 1
      freePlace(taken)
      await giveWay()
    })
    progressAt = clock.monotonic()
    if (again !== undefined) add(taken.key, again)
    queue.done(taken.key)
    if (isPlaced) freePlace(taken)
    else {
      withoutPlace -= 1
      wake()
    }
    if (queue.running > 0) return
    for (const resolve of waitingForIdle) resolve()
  }

  function freePlace({ priority, service }: Taken): void {
    slotsOf(priority).finished(service)
    goOn()
  }

  async function attempt(taken: Taken, releaseSlot: () => Promise<void>): Promise<Again | undefined> {
    try {
      return await options.run(taken, releaseSlot)
    } catch (cause) {
      if (deadline?.aborted === true && cause === deadline.reason) return undefined // it was to give up, no bug
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
    wake,
    ask(key, again) {
      add(key, again)
      wake()
    },
    async stop(signal) {
      deadline = signal
      timer?.cancel()
      timer = undefined
      if (queue.running > 0 && !signal.aborted) await idleOr(signal, waitingForIdle)
      return { unfinished: queue.running }
    },
    health() {
      if (deadline !== undefined) return { ok: true, detail: 'stopping' }
      const now = clock.monotonic()
      const oldestMs = queue.oldestReadyAgeMs(now, mayTake)
      const stillMs = now - progressAt
      const ok = oldestMs <= STUCK_MS || stillMs <= STUCK_MS
      const facts = `${queue.running} running, ${queue.waiting} waiting`
      return ok
        ? { ok, detail: facts }
        : { ok, detail: `nothing started or ended for ${Math.round(stillMs / 1000)} s; ${facts}` }
    },
  }
}

/** Waits until nothing runs, or the signal is aborted, whichever is first. */
async function idleOr(signal: AbortSignal, waiting: Set<() => void>): Promise<void> {
  await new Promise<void>((resolve) => {
    function end(): void {
      waiting.delete(end)
      signal.removeEventListener('abort', end)
      resolve()
    }
    waiting.add(end)
    signal.addEventListener('abort', end, { once: true })
  })
}
