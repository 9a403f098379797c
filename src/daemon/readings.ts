import type { Key } from '../kinds/key.ts'
import type { LoadResult, Source } from '../manifest/load.ts'
import type { Deps } from '../reconcile/deps.ts'
import { createSerial } from './serial.ts'
import type { TriggerCause } from './watcher.ts'

/** Why the directory is read. */
export type ReadingCause = TriggerCause | 'asked' | 'start'

/** What is known of one reading besides what it said. */
export interface ReadingContext {
  readonly durationMs: number
  /** On the monotonic clock. */
  readonly startedAt: number
  readonly cause: ReadingCause
  /** The requests that this reading answers. */
  readonly tokens: readonly string[]
}

/** When the directory is read, and how much of it: one reading at a time. */
export interface Readings {
  /** Reads soon, because of what a watcher saw or found. */
  nudge(cause: TriggerCause): void
  /** Reads for a person: all of it, and what it says is believed. */
  request(token: string): void
  start(): void
  /** Reads again soon: three readings have to agree that a key is gone. */
  doubt(): void
  /** An edit is under way: what only makes sure gives way to it, and sees no half of it. */
  giveWay(): void
  /** Whether a first reading was tried. */
  readonly attempted: boolean
  /** Resolves as soon as it was. */
  readonly firstAttempt: Promise<void>
  /** ms since the epoch. */
  readonly lastLoadAt: number | undefined
  /** Waits for the reading in progress, whose signal the caller has aborted. */
  stop(): Promise<void>
}

export interface ReadingsOptions {
  readonly deps: Pick<Deps, 'world' | 'clock'>
  readonly source: Source
  readonly stopping: AbortSignal
  /** Whether no edit is under way. */
  readonly isQuiet: () => boolean
  readonly onLoaded: (result: LoadResult, context: ReadingContext) => void
  readonly onFailed: (message: string, context: ReadingContext) => void
}

type Touched = ReadonlySet<string> | 'anything'

/** A key that vanished is looked for again after this. */
const DOUBT_MS = 500

/** After a reading of only what events named, the whole follows: the kernel may drop events without a word. */
const WHOLE_AFTER_MS = 2_000
/** Where edits never stop, the whole is read behind one of them so often, */
const WHOLE_BEHIND_MS = 30_000
/** and when each next edit ended that, with one: the edit then waits for the whole. */
const WHOLE_WITHIN_MS = 60_000

export function createReadings(options: ReadingsOptions): Readings {
  const { deps, source, stopping } = options
  const { world, clock } = deps
  const loads = createSerial(load)
  let cause: ReadingCause = 'start'
  let touched: Touched = new Set()
  let asked: string[] = []
  let attempted = false
  const firstAttempt = Promise.withResolvers<void>()
  let lastLoadAt: number | undefined
  let cancelNext: (() => void) | undefined
  /** When the first reading began that was not whole and that no whole one has followed. */
  let partialSince: number | undefined
  /** Whether somebody waits for the next reading; if not, it only makes sure. */
  let awaited = false
  /** Ends the reading under way, if it only makes sure. */
  let makingSure: AbortController | undefined

  async function load(): Promise<void> {
    const startedAt = clock.monotonic()
    const sure = awaited ? undefined : new AbortController()
    const [tokens, why, where] =
      sure === undefined ? [asked, cause, touched] : [[], 'event' as const, 'anything' as const]
    makingSure = sure
    awaited = false
    asked = []
    cause = 'poll'
    touched = new Set()
    cancelNext?.()
    cancelNext = undefined
    const context = () => ({ durationMs: clock.monotonic() - startedAt, startedAt, cause: why, tokens })
    try {
      if (sure !== undefined && !options.isQuiet()) sure.abort()
      const owedFor = partialSince === undefined ? 0 : startedAt - partialSince
      const byName = why === 'event' && tokens.length === 0 && owedFor < WHOLE_WITHIN_MS
      const result = await source.load(
        filesOfRecords(),
        {
          accept: tokens.length > 0 ? 'believe' : 'doubt',
          touched: byName ? where : 'anything',
          // The slow full reading trusts nothing but bytes, and what it finds counts as missed.
          trust: why === 'full' || tokens.length > 0 ? 'bytes' : 'stamps',
        },
        sure === undefined ? stopping : AbortSignal.any([stopping, sure.signal]),
      )
      partialSince = result.partial ? (partialSince ?? startedAt) : undefined
      if (result.partial && owedFor >= WHOLE_BEHIND_MS) void loads.run()
      else if (result.partial) readWholeSoon()
      lastLoadAt = clock.now()
      options.onLoaded(result, context())
    } catch (error) {
      if (sure?.signal.aborted === true) readWholeSoon()
      else if (!stopping.aborted) {
        options.onFailed(error instanceof Error ? error.message : String(error), context())
      }
    } finally {
      attempted = true
      firstAttempt.resolve()
      makingSure = undefined
    }
  }

  function filesOfRecords(): ReadonlyMap<Key, string | undefined> {
    const files = new Map<Key, string | undefined>()
    for (const { key, file } of world.records()) files.set(key, file)
    return files
  }

  function readWholeSoon(): void {
    if (stopping.aborted) return
    cancelNext ??= clock.after(WHOLE_AFTER_MS, () => {
      cancelNext = undefined
      if (options.isQuiet()) void loads.run()
      else readWholeSoon()
    })
  }

  /** @param where what is to be read at least */
  function read(why: ReadingCause, where: Touched): void {
    cause = why
    touched = both(touched, where)
    awaited = true
    void loads.run()
  }

  return {
    nudge: (why) => read(why, 'anything'),
    request(token) {
      asked.push(token)
      read('asked', 'anything')
    },
    start: () => read('start', 'anything'),
    doubt() {
      if (stopping.aborted) return
      cancelNext ??= clock.after(DOUBT_MS, () => read('asked', 'anything'))
    },
    giveWay: () => makingSure?.abort(),
    get attempted() {
      return attempted
    },
    firstAttempt: firstAttempt.promise,
    get lastLoadAt() {
      return lastLoadAt
    },
    async stop() {
      cancelNext?.()
      await loads.stop()
    },
  }
}

function both(a: Touched, b: Touched): Touched {
  return a === 'anything' || b === 'anything' ? 'anything' : a.union(b)
}
