import type { Clock } from '../lib/clock.ts'
import type { Emit, WatchMode } from '../contract/events.ts'
import { fileErrorCode } from '../manifest/files/read-bytes.ts'
import { statWalk, listenTo, watchPathsOf } from './watch-paths.ts'

/** `event`: the kernel reported a change. `poll`: only a walk of the directory found it. `full`: a timer. */
export type TriggerCause = 'event' | 'poll' | 'full'

export type Watcher = Awaited<ReturnType<typeof createWatcher>>

/** Defaults, in ms. */
const TIMES = {
  quietMs: 250, // of quiet before a trigger
  noisyLimitMs: 5_000, // of noise before a trigger
  walkMs: 1_000, // between two walks, at least
  longestWalkMs: 30_000, // between two walks, at most
  fullMs: 300_000, // between two full reads, which compare bytes
  pollingFullMs: 10_000, // the same, without events
}

export interface WatcherOptions extends Partial<typeof TIMES> {
  /** Directory as configured. It can be a link, behind links, or missing. */
  readonly root: string
  readonly clock: Clock
  readonly onTrigger: (cause: TriggerCause) => void
  readonly emit: Emit
  readonly walk?: typeof statWalk
  readonly listen?: typeof listenTo
}

/** Pause after a walk, as a multiple of its duration: walks use 1 % of a core. */
const PAUSE_FACTOR = 100
/** After so many events, the kernel might have dropped some: its queue holds 16,384 by default. */
const STORM = 5_000
const EXHAUSTED: Readonly<Record<string, string>> = {
  ENOSPC: 'raise the sysctl fs.inotify.max_user_watches',
  EMFILE: 'raise the sysctl fs.inotify.max_user_instances, or the limit of open files (ulimit -n)',
  ENFILE: 'raise the sysctl fs.file-max',
}

/** Resolves when watching has begun: read the directory after that. Never rejects: polling replaces a failed watch. */
export async function createWatcher(options: WatcherOptions) {
  const { root, clock, emit, walk = statWalk, listen = listenTo } = options
  const { quietMs, noisyLimitMs, walkMs, longestWalkMs, fullMs, pollingFullMs } = { ...TIMES, ...options }
  const closing = new AbortController()
  const debounce = createDebounce({ clock, quietMs, noisyLimitMs, onQuiet: () => trigger(cause) })
  const listening = createSerial(listenAnew)
  const walks = createSerial(walkOnce)
  let mode: WatchMode = 'none'
  let heard = '' // signature of the watched paths
  let stopListening: (() => Promise<void>) | undefined
  let cause: TriggerCause = 'event'
  let known = await walk(root, closing.signal) // a read has followed or will follow
  let isAnnounced = false // by an event, since the last walk began
  let events = 0 // since the last trigger
  let lastFullAt = clock.monotonic()
  let cancelWalk: (() => void) | undefined

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
      const isCommitOnly = seen.split(' ')[0] === known.split(' ')[0] // Git writes it outside the tree
      known = seen
      const by = wasAnnounced || isAnnounced || isCommitOnly ? 'event' : 'poll'
      if (mode === 'polling' || !debounce.isPending()) notice(by)
    } else if (isFullDue && !debounce.isPending()) {
      lastFullAt = endedAt
      trigger('full')
    }
  }

  /** Watches again if a link was replaced, the root is new, or events were missed. */
  async function listenAnew(): Promise<void> {
    const paths = await watchPathsOf(root)
    if (mode !== 'polling' && paths.signature === heard) return
    heard = paths.signature
    await stopListening?.() // first: chokidar would reuse the dead handle of a replaced folder
    if (mode === 'polling') return
    stopListening = await listen(paths, onEvent)
    if (mode !== 'none') onEvent() // for changes before it listened
    setMode(paths.mode, paths.message)
  }

  /** An error also counts as an event, because the read that follows reports its cause. */
  function onEvent(error?: unknown): void {
    const code = fileErrorCode(error)
    const remedy = EXHAUSTED[code]
    if (remedy !== undefined)
      setMode(
        'polling',
        `cannot watch the manifests any more (${code}), so Pipewright polls them; to watch again, ${remedy}, and restart`,
      )
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

/** Waits until events end, because a file might be half written. */
export function createDebounce(options: {
  readonly clock: Clock
  readonly quietMs: number
  readonly noisyLimitMs: number
  readonly onQuiet: () => void
}) {
  const { clock, quietMs, noisyLimitMs, onQuiet } = options
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
    noise(): void {
      const now = clock.monotonic()
      quietAt = now + quietMs
      if (isPending) return
      isPending = true
      settle(now + noisyLimitMs)
    },
    isPending: () => isPending,
    cancel(): void {
      isPending = false
      cancelTimer?.()
    },
  }
}

/** Never runs `task` twice at a time. Calls during a run share the next run. @param task must not reject */
export function createSerial(task: () => Promise<void>) {
  let current: Promise<void> | undefined
  let next: Promise<void> | undefined
  let stopped = false

  function start(): Promise<void> {
    if (stopped) return Promise.resolve()
    current = task().finally(() => {
      current = undefined
    })
    return current
  }

  return {
    /** Resolves after a run that began after this call. */
    run() {
      if (stopped) return Promise.resolve()
      if (current === undefined) return start()
      next ??= current.then(() => {
        next = undefined
        return start()
      })
      return next
    },
    async stop() {
      stopped = true
      await current
    },
  }
}
