import { DEFAULT } from '../../../src/kinds/profiles/default/profile.ts'
import { setTimeout } from 'node:timers/promises'
import { type LoadResult, createSource } from '../../../src/manifest/source.ts'
import type { Key } from '../../../src/kinds/key.ts'
import {
  createSerial,
  createWatcher,
  type TriggerCause,
  type WatcherOptions,
} from '../../../src/daemon/watcher.ts'
import { systemClock } from '../../../src/daemon/system-clock.ts'
import type { listenTo } from '../../../src/daemon/watch-paths.ts'
import { LIMIT_MS } from '../../support/until.ts'

/** One reading, without the manifests: a thousand of them are remembered. */
export interface SeenReading {
  readonly why: TriggerCause | 'start'
  readonly revision: string
  readonly changed: readonly Key[]
  readonly problem: string | undefined
}

/** The real watcher and the real source, joined as the daemon joins them. */
export interface Following extends AsyncDisposable {
  readonly readings: readonly SeenReading[]
  readonly last: () => LoadResult
  readonly mode: () => string
  /** Waits until a reading fulfils the condition, then gives it. */
  see(what: string, wanted: (result: LoadResult) => boolean): Promise<LoadResult>
  /** Waits until nothing was read for so long. */
  quiet(ms: number): Promise<void>
}

const NEVER = 2 ** 40

/** A kernel that has no watches left. */
export const exhausted: typeof listenTo = async (_paths, onEvent) => {
  onEvent(Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' }))
  return () => Promise.resolve()
}

/** Begins to follow; with events alone, unless walks are asked for. */
export async function follow(root: string, options: Partial<WatcherOptions> = {}): Promise<Following> {
  const source = createSource({ profile: DEFAULT, root })
  const stopping = new AbortController()
  const readings: SeenReading[] = []
  let why: SeenReading['why'] = 'start'
  let last: LoadResult | undefined
  let lastAt = 0

  const loads = createSerial(async () => {
    lastAt = Number.POSITIVE_INFINITY // until this one has ended
    const because = why
    const result = await source
      .load(new Map(), { accept: 'normal' }, stopping.signal)
      .catch((error: unknown) => (stopping.signal.aborted ? undefined : Promise.reject(error as Error)))
    lastAt = performance.now()
    if (result === undefined) return
    last = result
    const { catalog } = result.state
    readings.push({
      why: because,
      revision: catalog.revision.id,
      changed: result.changed,
      problem: catalog.problem?.reason,
    })
  })
  const watcher = await createWatcher({
    root,
    clock: systemClock,
    quietMs: 5,
    noisyLimitMs: 5_000,
    walkMs: NEVER,
    fullMs: NEVER,
    onTrigger(cause) {
      why = cause
      void loads.run()
    },
    emit: () => undefined,
    ...options,
  })
  await loads.run()

  function now(): LoadResult {
    if (last === undefined) throw new Error('nothing was read yet')
    return last
  }

  return {
    readings,
    last: now,
    mode: () => watcher.mode(),
    async see(what, wanted) {
      for (const end = performance.now() + LIMIT_MS; performance.now() < end; await setTimeout(2)) {
        if (wanted(now())) return now()
      }
      const told = JSON.stringify(readings.slice(-3))
      throw new Error(`waited ${LIMIT_MS} ms in vain for ${what}; the last readings: ${told}`)
    },
    async quiet(ms) {
      while (performance.now() - lastAt < ms) await setTimeout(10)
    },
    async [Symbol.asyncDispose]() {
      stopping.abort(new DOMException('over', 'AbortError'))
      await watcher.close()
      await loads.stop()
    },
  }
}
