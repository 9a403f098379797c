import type { Clock } from '../lib/clock.ts'

/** Who noticed that something may have changed. `poll` and `full` mean that no event came, though one could have. */
export type NudgeCause = 'event' | 'poll' | 'full'

/** When to read the directory again. */
export interface Nudges {
  /** Takes the first look, with which later ones are compared, and begins to poll. */
  start(): Promise<void>
  /** Something happened on disk. */
  event(): void
  /** There are no events any more: polls are answered at once, and full readings come more often. */
  rely(on: 'events' | 'polls'): void
  /** Whether no nudge is waiting for quiet. */
  isQuiet(): boolean
  /** No nudge comes after this. */
  close(): void
}

export interface NudgesOptions {
  readonly clock: Clock
  /** A nudge waits until nothing happened for so long: a file may be half written. */
  readonly quietMs: number
  /** But no longer than this. */
  readonly noisyLimitMs: number
  readonly pollMs: number
  readonly fullMs: number
  /** Time between full readings where there are no events. */
  readonly pollingFullMs: number
  /** A fingerprint of the root; it changes when the root does, but not for every change below it. */
  readonly cheapLook: () => Promise<string>
  readonly onNudge: (cause: NudgeCause) => void
}

interface Pending {
  readonly cause: NudgeCause
  readonly firstAt: number
  lastAt: number
}

/**
 * Turns events, polls and the passing of time into nudges (design §7). A change that a poll sees and no event
 * announced gets one more poll period: only then was it missed. After each nudge the fingerprint is taken anew,
 * so that what an event announced is not mistaken for something missed, nor the other way round.
 */
export function createNudges(options: NudgesOptions): Nudges {
  const { clock } = options
  let pending: Pending | undefined
  let known: string | undefined
  let suspected = false
  let relies: 'events' | 'polls' = 'events'
  let looks = 0
  let closed = false
  let cancelQuiet = nothing
  let cancelPoll = nothing
  let cancelFull = nothing

  async function look(): Promise<string> {
    try {
      return await options.cheapLook()
    } catch (error) {
      return `no look: ${error instanceof Error ? error.message : 'unknown'}`
    }
  }

  /** The look that was begun last decides, in whatever order they end. */
  async function learn(): Promise<void> {
    looks += 1
    const number = looks
    const seen = await look()
    if (number === looks) known = seen
  }

  function touch(cause: NudgeCause): void {
    if (closed) return
    const now = clock.monotonic()
    if (pending !== undefined) {
      pending.lastAt = now
      return
    }
    pending = { cause, firstAt: now, lastAt: now }
    cancelQuiet = clock.after(options.quietMs, settle)
  }

  function settle(): void {
    if (pending === undefined) return
    const { cause, firstAt, lastAt } = pending
    const at = Math.min(lastAt + options.quietMs, firstAt + options.noisyLimitMs)
    const waitMs = at - clock.monotonic()
    if (waitMs > 0) cancelQuiet = clock.after(waitMs, settle)
    else nudge(cause)
  }

  function nudge(cause: NudgeCause): void {
    cancelQuiet()
    pending = undefined
    suspected = false
    void learn()
    options.onNudge(cause)
  }

  async function poll(): Promise<void> {
    const seen = await look()
    if (closed) return
    cancelPoll = clock.after(options.pollMs, () => void poll())
    if (known === undefined || seen === known) {
      known = seen
      suspected = false
    } else if (relies === 'polls') {
      known = seen
      touch('poll')
    } else if (pending === undefined) {
      if (suspected) nudge('poll')
      else suspected = true
    }
  }

  function full(): void {
    // A change that is about to be announced must not look as if only the full reading had found it.
    const busy = pending !== undefined || suspected
    planFull(busy ? Math.min(options.pollMs, fullMs()) : fullMs())
    if (!busy) nudge('full')
  }

  function planFull(afterMs: number): void {
    cancelFull()
    cancelFull = clock.after(afterMs, full)
  }

  function fullMs(): number {
    return relies === 'events' ? options.fullMs : Math.min(options.fullMs, options.pollingFullMs)
  }

  return {
    async start() {
      await learn()
      if (closed) return
      cancelPoll = clock.after(options.pollMs, () => void poll())
      planFull(fullMs())
    },
    event: () => touch('event'),
    rely(on) {
      relies = on
      if (!closed) planFull(fullMs())
    },
    isQuiet: () => pending === undefined,
    close() {
      closed = true
      pending = undefined
      cancelQuiet()
      cancelPoll()
      cancelFull()
    },
  }
}

function nothing(): void {}
