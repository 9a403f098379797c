import type { LoadResult, Source } from '../manifest/source.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import { createdOf, recordedOf } from '../reconcile/state/recorded.ts'
import { createSerial } from './serial.ts'
import type { TriggerCause } from './watcher.ts'

/** Why the directory is read. */
export type ReadingCause = TriggerCause | 'asked' | 'start'

/** `normal`: a reading that lost much at once is not accepted, and three have to agree that a key is gone. */
type Acceptance = 'force' | 'normal'

/** What is known of one reading besides what it said. */
export interface ReadingContext {
  readonly durationMs: number
  /** On the monotonic clock. */
  readonly startedAt: number
  readonly cause: ReadingCause
  /** The requests that this reading answers. */
  readonly tokens: readonly string[]
}

/** When the directory is read: one reading at a time, each of all of it. */
export interface Readings {
  /** Reads soon, because of what a watcher saw or found. */
  nudge(cause: TriggerCause): void
  /** Reads because somebody asked, and trusts nothing but bytes. @param accept `force`: a person says that what it finds is meant */
  request(token: string, accept: Acceptance): void
  start(): void
  /** Reads again soon: three readings have to agree that a key is gone. */
  readAgain(): void
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
  readonly context: Pick<ReconcileContext, 'store' | 'clock'>
  readonly source: Source
  readonly stopping: AbortSignal
  readonly onLoaded: (result: LoadResult, context: ReadingContext) => void
  readonly onFailed: (message: string, context: ReadingContext) => void
}

/** When a key was not found, the next reading comes after this. */
const AGAIN_MS = 500

export function createReadings(options: ReadingsOptions): Readings {
  const { context, source, stopping } = options
  const { store, clock } = context
  const loads = createSerial(load)
  let cause: ReadingCause = 'start'
  let asked: string[] = []
  let acceptance: Acceptance = 'normal'
  let attempted = false
  const firstAttempt = Promise.withResolvers<void>()
  let lastLoadAt: number | undefined
  let cancelAgain: (() => void) | undefined

  async function load(): Promise<void> {
    const startedAt = clock.monotonic()
    const [tokens, why, accept] = [asked, cause, acceptance]
    asked = []
    acceptance = 'normal'
    cancelAgain?.()
    cancelAgain = undefined
    const about = () => ({ durationMs: clock.monotonic() - startedAt, startedAt, cause: why, tokens })
    try {
      const result = await source.load(
        recordedOf(store.records()),
        {
          accept,
          created: createdOf(store.records()),
          // The slow full reading trusts nothing but bytes, and what it finds counts as missed.
          trust: why === 'full' || tokens.length > 0 ? 'bytes' : 'stamps',
        },
        stopping,
      )
      lastLoadAt = clock.now()
      options.onLoaded(result, about())
    } catch (error) {
      if (!stopping.aborted) options.onFailed(error instanceof Error ? error.message : String(error), about())
    } finally {
      attempted = true
      firstAttempt.resolve()
    }
  }

  function read(why: ReadingCause): void {
    cause = why
    void loads.run()
  }

  return {
    nudge: read,
    request(token, accept) {
      asked.push(token)
      if (accept === 'force') acceptance = accept
      read('asked')
    },
    start: () => read('start'),
    readAgain() {
      if (stopping.aborted) return
      cancelAgain ??= clock.after(AGAIN_MS, () => read('asked'))
    },
    get attempted() {
      return attempted
    },
    firstAttempt: firstAttempt.promise,
    get lastLoadAt() {
      return lastLoadAt
    },
    async stop() {
      cancelAgain?.()
      await loads.stop()
    },
  }
}
