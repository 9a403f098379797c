import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startDaemon } from '../../src/daemon/daemon.ts'
import type { Touched } from '../../src/daemon/watch-touches.ts'
import { createMemoryLedger } from '../../src/ledger/memory.ts'
import { createSource, type LoadResult } from '../../src/manifest/load.ts'
import { createBoard } from '../../src/reconcile/board.ts'
import type { Event } from '../../src/reconcile/events.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { createWorld } from '../../src/reconcile/world.ts'
import { createModelPlatform } from '../reconcile/model-platform.ts'
import { createModelSecrets } from '../reconcile/model-secrets.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { alertManifest } from '../support/manifests.ts'
import { until } from '../support/until.ts'

let dir: string
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-whole-')))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

function write(name: string, id: string): string {
  const path = join(dir, `${name}.yaml`)
  writeFileSync(path, alertManifest(name, id))
  return path
}

async function setUp() {
  const clock = createFakeClock()
  const ledger = createMemoryLedger({ emit: () => undefined, hashKey: new Uint8Array(32) })
  const board = createBoard()
  const events: Event[] = []
  const readings: LoadResult[] = []
  const watched = {
    nudge: (_touched: Touched) => undefined as void,
    noise: () => undefined as void,
    quiet: true,
    /** What happens each time that the directory is read. */
    meanwhile: () => undefined as void,
  }
  const source = createSource({ root: dir })
  const secrets = createModelSecrets()
  const deps = {
    platform: createModelPlatform({ clock, ledger }),
    ledger,
    secrets,
    mounted: secrets,
    world: createWorld({ hashKey: ledger.hashKey, clock }),
    clock,
    emit: (event: Event) => void events.push(event),
    random: () => 0.5,
    newId: () => 'id',
    timing: { intervalMs: 3_600_000, resyncMs: 3_600_000 },
    maxCreates: 10,
    fail: undefined,
  }
  const daemon = await startDaemon({
    deps,
    board,
    reconciler: createReconciler(deps, board),
    concurrency: 2,
    source: {
      ...source,
      async load(...args) {
        await Promise.resolve()
        watched.meanwhile()
        const result = await source.load(...args)
        readings.push(result)
        return result
      },
    },
    async watch(onNudge, onNoise) {
      watched.nudge = (touched) => onNudge('event', touched)
      watched.noise = onNoise
      return { mode: () => 'recursive', isQuiet: () => watched.quiet, close: () => Promise.resolve() }
    },
  })
  const reading = (number: number) => until(`reading ${number}`, () => readings.length >= number && readings)
  await reading(1)
  /** Edits `a` once a second, and each time waits for the readings that follow. */
  const editEachSecond = async (times: number, readingsOf: (edit: number) => number = () => 1) => {
    for (let n = 0; n < times; n += 1) {
      const before = readings.length
      watched.nudge(new Set([write('a', `v${n}`)]))
      await reading(before + readingsOf(n))
      await clock.advance(1_000)
    }
  }
  return { clock, daemon, events, readings, reading, watched, editEachSecond }
}

test('an edit is read by itself, and the whole directory two seconds later', async () => {
  const edited = write('a', 'one')
  write('b', 'one')
  const { clock, daemon, events, reading, watched } = await setUp()
  write('a', 'two')
  write('b', 'two') // of this one the kernel dropped the event
  watched.nudge(new Set([edited]))
  expect((await reading(2))[1]).toMatchObject({ partial: true, changed: ['Alert/a'] })
  await clock.advance(2_000)
  expect((await reading(3))[2]).toMatchObject({ partial: false, changed: ['Alert/b'] })
  // it belongs to the event, and the watcher is not blamed for it
  expect(events.filter((event) => event.type === 'SourceLoaded' && event.missedByWatcher)).toEqual([])
  await daemon.stop(AbortSignal.timeout(1_000))
})

test('the whole is not read while a file may be half written', async () => {
  const edited = write('a', 'one')
  const { clock, daemon, readings, reading, watched } = await setUp()
  write('a', 'two')
  watched.nudge(new Set([edited]))
  await reading(2)
  watched.quiet = false
  await clock.advance(60_000)
  expect(readings).toHaveLength(2)
  watched.quiet = true
  await clock.advance(2_000)
  expect((await reading(3))[2]).toMatchObject({ partial: false })
  await daemon.stop(AbortSignal.timeout(1_000))
})

test('an edit ends the reading that only makes sure, is read itself, and the whole follows', async () => {
  const edited = write('a', 'one')
  const { clock, daemon, events, reading, watched } = await setUp()
  watched.nudge(new Set([edited]))
  await reading(2)
  write('a', 'two')
  const makesSure = clock.advance(2_000)
  watched.noise()
  watched.nudge(new Set([edited]))
  await makesSure
  const seen = await until('the edit', async () => {
    const all = await reading(3)
    return all.some(({ changed }) => changed.includes('Alert/a')) && all
  })
  expect(seen.flatMap(({ changed }) => changed)).toEqual(['Alert/a', 'Alert/a'])
  await clock.advance(2_000)
  await until('the whole', async () => (await reading(3)).at(-1)?.partial === false)
  expect(events.filter(({ type }) => type === 'SourceFailed')).toEqual([])
  await daemon.stop(AbortSignal.timeout(1_000))
})

test('where edits never stop, the whole is read every half minute, behind an edit', async () => {
  write('a', 'one')
  const { daemon, readings, editEachSecond } = await setUp()
  await editEachSecond(70, (n) => (n === 30 || n === 61 ? 2 : 1))
  expect(readings.filter(({ partial }) => !partial)).toHaveLength(3)
  expect(readings.filter(({ partial, changed }) => !partial && changed.length > 0)).toHaveLength(1)
  await daemon.stop(AbortSignal.timeout(1_000))
})

test('where each edit ends the whole behind the one before, it is read with an edit every minute', async () => {
  write('a', 'one')
  const { daemon, readings, watched, editEachSecond } = await setUp()
  watched.meanwhile = () => watched.noise()
  await editEachSecond(70)
  expect(readings.filter(({ partial }) => !partial)).toHaveLength(2)
  expect(readings.filter(({ partial, changed }) => !partial && changed.length > 0)).toHaveLength(2)
  await daemon.stop(AbortSignal.timeout(1_000))
})

test('what a person asks for while a whole reading comes due is not lost', async () => {
  const edited = write('a', 'one')
  const { daemon, watched, editEachSecond } = await setUp()
  await editEachSecond(30)
  let token = 'none yet'
  watched.meanwhile = () => {
    watched.meanwhile = () => undefined
    token = daemon.request(undefined).token
  }
  write('a', 'last')
  watched.nudge(new Set([edited]))
  expect(await until('the request to be done', () => daemon.progress(token)?.done)).toBe(true)
  await daemon.stop(AbortSignal.timeout(1_000))
})

test('what a person asks for is read whole, also when an edit comes at the same time', async () => {
  const edited = write('a', 'one')
  const { daemon, reading, watched } = await setUp()
  watched.nudge(new Set([edited]))
  const { token } = daemon.request(undefined)
  watched.nudge(new Set([edited]))
  watched.noise()
  expect((await reading(3))[2]).toMatchObject({ partial: false })
  await until('the request to be done', () => daemon.progress(token)?.done === true)
  await daemon.stop(AbortSignal.timeout(1_000))
})
