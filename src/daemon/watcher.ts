import type { Clock } from '../lib/clock.ts'
import type { Emit, WatchMode } from '../contract/events.ts'
import { codeOf } from '../manifest/files/read-bytes.ts'
import { createSerial } from './serial.ts'
import { statWalk, listenTo, watchPathsOf } from './watch-paths.ts'

/** Who noticed that something may have changed. `poll`, a walk, and `full`, the passing of time, mean that no event came. */
export type TriggerCause = 'event' | 'poll' | 'full'

/** Says when the manifests directory may have changed, never what (design §7). */
export interface Watcher {
  mode(): WatchMode
  /** Ends everything; no trigger comes after it was called. */
  close(): Promise<void>
}

/** Milliseconds, unless a test has others. */
const TIMES = {
  quietMs: 250, // of quiet before a trigger
  noisyLimitMs: 5_000, // of steady noise before a trigger
  walkMs: 1_000, // between two walks, at least
  longestWalkMs: 30_000, // between two walks, at most
  fullMs: 300_000, // between two full readings, which trust nothing but bytes
  pollingFullMs: 10_000, // the same, where there are no events
}

export interface WatcherOptions extends Partial<typeof TIMES> {
  /** The manifests directory as it was named; may be a link, have links on its way, or not be there yet. */
  readonly root: string
  readonly clock: Clock
  /** The directory should be read. */
  readonly onTrigger: (cause: TriggerCause) => void
  readonly emit: Emit
  /** The file system and the kernel, unless a test has its own. */
  readonly walk?: typeof statWalk
  readonly listen?: typeof listenTo
}

/** After a walk of 50 ms, five seconds pass before the next: a hundredth of a core. */
const PAUSE_FACTOR = 100
/** With so many events in one go the kernel may have dropped others without a word: by default its queue holds 16,384. */
const STORM = 5_000
/** Errors that mean the kernel has no more to give, and the limit to raise. */
const EXHAUSTED: Readonly<Record<string, string>> = {
  ENOSPC: 'raise the sysctl fs.inotify.max_user_watches',
  EMFILE: 'raise the sysctl fs.inotify.max_user_instances, or the limit of open files (ulimit -n)',
  ENFILE: 'raise the sysctl fs.file-max',
}

/**
 * Events make a trigger soon; a walk of the tree, now and then, makes the ones that no event announced. When it is fulfilled
 * the watching has begun: read the directory after that. Failures never reject and never throw; they end in walks alone.
 */
export async function createWatcher(options: WatcherOptions): Promise<Watcher> {
  const { root, clock, emit, walk = statWalk, listen = listenTo } = options
  const { quietMs, noisyLimitMs, walkMs, longestWalkMs, fullMs, pollingFullMs } = { ...TIMES, ...options }
  const closing = new AbortController()
  const debounce = createDebounce({ clock, quietMs, noisyLimitMs, onQuiet: () => trigger(cause) })
  const listening = createSerial(listenAnew)
  const walks = createSerial(walkOnce)
  let mode: WatchMode = 'none'
  let heard = '' // the signature of what it listens to
  let stopListening: (() => Promise<void>) | undefined
  let cause: TriggerCause = 'event'
  let known = await walk(root, closing.signal) // what a reading has followed, or is about to
  let isAnnounced = false // by an event, since the last walk began
  let events = 0 // since the last trigger
  let lastFullAt = clock.monotonic()
  let cancelWalk: (() => void) | undefined

  /** Something happened. While it gets quiet a walk sees what the reading will find: nothing of that was missed. */
  function notice(by: 'event' | 'poll'): void {
    if (closing.signal.aborted) return
    if (by === 'event' || !debounce.isPending()) cause = by
    debounce.noise()
    planWalk(quietMs / 2)
  }

  function trigger(by: TriggerCause): void {
    if (by === 'poll' || events > STORM) heard = ''
    events = 0
    void listening.run()
    options.onTrigger(by)
  }

  function planWalk(afterMs: number): void {
    cancelWalk?.()
    cancelWalk = clock.after(afterMs, () => void walks.run())
  }

  async function walkOnce(): Promise<void> {
    const wasAnnounced = isAnnounced
    isAnnounced = false
    const startedAt = clock.monotonic()
    const seen = await walk(root, closing.signal).catch(() => known)
    if (closing.signal.aborted) return
    const endedAt = clock.monotonic()
    planWalk(Math.max(walkMs, Math.min((endedAt - startedAt) * PAUSE_FACTOR, longestWalkMs)))
    const isFullDue = endedAt - lastFullAt >= (mode === 'polling' ? pollingFullMs : fullMs)
    if (seen !== known) {
      const isCommitOnly = seen.split(' ')[0] === known.split(' ')[0] // Git writes it where nobody listens
      known = seen
      // An event that is merely late comes before it was quiet. One that came may have been read too early.
      const by = wasAnnounced || isAnnounced || isCommitOnly ? 'event' : 'poll'
      if (mode === 'polling' || !debounce.isPending()) notice(by)
    } else if (isFullDue && !debounce.isPending()) {
      lastFullAt = endedAt
      trigger('full')
    }
  }

  /** Listens where there is something to hear now: behind a swapped link, in a root that appeared, after a miss. */
  async function listenAnew(): Promise<void> {
    const paths = await watchPathsOf(root)
    if (mode !== 'polling' && paths.signature === heard) return
    heard = paths.signature
    await stopListening?.() // first, since a dead handle on a folder would be shared with its successor
    if (mode === 'polling') return
    stopListening = await listen(paths, onEvent)
    if (mode !== 'none') onEvent() // for what happened before it listened
    setMode(paths.mode, paths.message)
  }

  /** An odd error is one more event: the reading will say what is wrong. */
  function onEvent(error?: unknown): void {
    const code = codeOf(error)
    const remedy = EXHAUSTED[code]
    if (remedy !== undefined)
      setMode('polling', `cannot watch any more (${code}), polling instead; ${remedy}`)
    isAnnounced = true
    events += 1
    notice('event')
  }

  function setMode(next: WatchMode, message: string): void {
    if (mode === next || mode === 'polling') return
    mode = next
    emit({ type: 'WatchModeChanged', mode, message })
  }

  await listening.run()
  planWalk(walkMs)

  return {
    mode: () => mode,
    async close() {
      closing.abort()
      debounce.cancel()
      cancelWalk?.()
      await listening.stop()
      await stopListening?.()
    },
  }
}

export interface DebounceOptions {
  readonly clock: Clock
  /** How long nothing may happen before `onQuiet`. */
  readonly quietMs: number
  /** How long steady noise puts it off at most. */
  readonly noisyLimitMs: number
  readonly onQuiet: () => void
}

/** Waits until noise has ended, since a file may be half written. Takes one timer, however much happens. */
export function createDebounce({ clock, quietMs, noisyLimitMs, onQuiet }: DebounceOptions) {
  let isPending = false
  let quietAt = 0
  let cancelTimer: (() => void) | undefined

  function settle(limitAt: number): void {
    const waitMs = Math.min(quietAt, limitAt) - clock.monotonic()
    if (waitMs > 0) cancelTimer = clock.after(waitMs, () => settle(limitAt))
    else {
      isPending = false
      onQuiet()
    }
  }

  return {
    /** Something happened. */
    noise(): void {
      const now = clock.monotonic()
      quietAt = now + quietMs
      if (isPending) return
      isPending = true
      settle(now + noisyLimitMs)
    },
    /** Whether `onQuiet` is still to come. */
    isPending: () => isPending,
    /** What was to come does not. */
    cancel(): void {
      isPending = false
      cancelTimer?.()
    },
  }
}
