import type { Clock } from '../lib/clock.ts'
import type { Emit, WatchMode } from '../reconcile/events.ts'
import { createNudges, type NudgeCause } from './watch-nudges.ts'
import { openPlaces, type OpenPlaces, type OpenWatch } from './watch-places.ts'
import { planWatch, type WatchPlan } from './watch-plan.ts'
import { createTouches, type Touched } from './watch-touches.ts'

export type { NudgeCause }

/** Says when the manifests directory may have changed, never what (design §7). */
export interface Watcher {
  mode(): WatchMode
  /** Whether nothing happened just now that a nudge will follow for. */
  isQuiet(): boolean
  /** Ends everything; no nudge comes after it was called. */
  close(): Promise<void>
}

export interface WatcherOptions {
  /** The manifests directory as it was given; may be a link, have links on its way, or not be there yet. */
  readonly root: string
  readonly clock: Clock
  /**
   * A cheap fingerprint of what the root is now. Called every `pollMs` and after every nudge, never more than
   * twice at a time. A rejection counts as one more fingerprint.
   */
  readonly cheapLook: () => Promise<string>
  /** The directory should be read. `poll` and `full`: no event said so, which in a mode with events is a miss. */
  readonly onNudge: (cause: NudgeCause, touched: Touched) => void
  /** Something happened; a nudge follows once it is quiet. */
  readonly onNoise?: () => void
  readonly emit: Emit
  /** `polling` never asks the kernel for events; `auto` unless set. */
  readonly mode?: 'auto' | 'polling'
  /** How long it must be quiet before a nudge; 250 unless set. */
  readonly quietMs?: number
  /** How long steady noise may put a nudge off; 5000 unless set. */
  readonly noisyLimitMs?: number
  /** Between cheap looks; 2000 unless set. */
  readonly pollMs?: number
  /** Between full readings; five minutes unless set. */
  readonly fullMs?: number
  /** Between full readings while polling; ten seconds unless set. */
  readonly pollingFullMs?: number
  /** How places are watched: chokidar, unless a test has its own. */
  readonly open?: OpenWatch
}

/** Errors that mean the kernel has no more to give, and the limit to raise. */
const EXHAUSTED: Readonly<Record<string, string>> = {
  ENOSPC: 'raise the sysctl fs.inotify.max_user_watches',
  EMFILE: 'raise the sysctl fs.inotify.max_user_instances, or the limit of open files (ulimit -n)',
  ENFILE: 'raise the sysctl fs.file-max',
}

/**
 * Watches the root and nudges. When it is fulfilled the watching has begun: read the directory after that, and
 * no change is lost between. Failures of the watching never reject and never throw; they end in polling.
 */
export async function createWatcher(options: WatcherOptions): Promise<Watcher> {
  const { root, clock, emit, open = openPlaces } = options
  const nudges = createNudges({
    clock,
    quietMs: options.quietMs ?? 250,
    noisyLimitMs: options.noisyLimitMs ?? 5_000,
    pollMs: options.pollMs ?? 2_000,
    fullMs: options.fullMs ?? 300_000,
    pollingFullMs: options.pollingFullMs ?? 10_000,
    cheapLook: look,
    onNudge(cause) {
      void rearm()
      const touched = touches.take()
      options.onNudge(cause, cause === 'event' ? touched : 'anything')
    },
  })
  const touches = createTouches()
  let mode: WatchMode = 'none'
  let armed: { readonly signature: string; readonly places: OpenPlaces } | undefined
  let arming = Promise.resolve()
  let closed = false

  function event(path?: string): void {
    touches.add(path)
    nudges.event()
    options.onNoise?.()
  }

  /** A link that was swapped is a change, whatever the caller's own look covers. */
  async function look(): Promise<string> {
    const [plan, seen] = await Promise.all([planWatch(root), options.cheapLook()])
    return `${plan.signature} ${plan.resolved} ${seen}`
  }

  /** Watches where there is something to watch now: behind a swapped link, in a root that appeared. */
  function rearm(): Promise<void> {
    arming = rearmAfter(arming)
    return arming
  }

  async function rearmAfter(before: Promise<void>): Promise<void> {
    await before
    if (isOver()) return
    try {
      const plan = await planWatch(root)
      if (plan.signature !== armed?.signature || armed.places.isLost()) await arm(plan)
    } catch (error) {
      const words = error instanceof Error ? error.message : 'no reason given'
      fallBack(`cannot watch (${words}), polling instead`)
    }
  }

  async function arm(plan: WatchPlan): Promise<void> {
    const first = armed === undefined
    await armed?.places.close() // first, since a dead watch on a directory would be shared with its successor
    const places = await open({ places: plan.places, clock, onEvent: event, onError })
    if (isOver()) {
      await places.close()
      return
    }
    armed = { signature: plan.signature, places }
    setMode(plan.mode, plan.message)
    if (!first) event() // for what happened before the new watch had begun
  }

  function onError(error: NodeJS.ErrnoException): void {
    const remedy = error.code === undefined ? undefined : EXHAUSTED[error.code]
    if (remedy === undefined) {
      event() // something is odd there: the reading will say what
      return
    }
    if (!isOver()) fallBack(`cannot watch any more (${error.code}), polling instead; ${remedy}`)
  }

  function fallBack(message: string): void {
    setMode('polling', message)
    nudges.rely('polls')
    event()
    void armed?.places.close()
  }

  function setMode(next: WatchMode, message: string): void {
    if (closed || mode === next) return
    mode = next
    emit({ type: 'WatchModeChanged', mode, message })
  }

  function isOver(): boolean {
    return closed || mode === 'polling'
  }

  if (options.mode === 'polling') {
    setMode('polling', 'polling, as told')
    nudges.rely('polls')
  }
  await rearm()
  await nudges.start()
  await rearm() // for what changed while the first watch began

  return {
    mode: () => mode,
    isQuiet: () => nudges.isQuiet(),
    async close() {
      closed = true
      nudges.close()
      await arming
      await armed?.places.close()
    },
  }
}
