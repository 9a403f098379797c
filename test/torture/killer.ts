import { setTimeout as pause } from 'node:timers/promises'
import type { Ending, Run, Runner } from './daemon.ts'
import type { Journal } from './journal.ts'
import type { LedgerView } from './ledger-view.ts'
import type { Random } from './random.ts'
import type { Scene } from './scene.ts'
import { LIMIT_MS, until as soon } from '../support/until.ts'

/** Starts the daemon, and ends it in all the ways a daemon ends. */
export type Killer = ReturnType<typeof createKiller>

export interface KillerParts {
  readonly runner: Runner
  readonly journal: Journal
  readonly ledger: LedgerView
  readonly random: Random
  readonly scene: Scene
  /** ms since the epoch of the last create, or change, that arrived, to aim at. */
  readonly lastCreateAt: () => number
}

/** So long a start may take on a busy machine. */
const START_MS = 15_000

const LONG_MS = 240_000

export function createKiller({ runner, journal, ledger, random, scene, lastCreateAt }: KillerParts) {
  const counts = { kills: 0, early: 0, terms: 0, doubles: 0, seconds: 0 }
  let run: Run | undefined

  function start(platform: 'online' | 'offline' = 'online'): Run {
    const logLevel = random.weighted([
      [8, 'info'],
      [1, 'debug'],
      [1, 'trace'],
    ] as const)
    const next = runner.start({ logLevel, platform })
    journal.note(undefined, `run ${next.number} starts${next.offline ? ', with nobody at the platform' : ''}`)
    run = next
    return next
  }

  async function over(current: Run, how: string): Promise<Ending> {
    const limit = new Promise<'late'>((resolve) => setTimeout(resolve, LIMIT_MS, 'late').unref())
    const ending = await Promise.race([current.ending, limit])
    if (ending === 'late') {
      journal.violate('process', `run ${current.number} did not end within ${LIMIT_MS} ms after ${how}`)
      current.kill('SIGKILL')
      return current.ending
    }
    journal.note(undefined, `run ${current.number} ended with ${ending} after ${how}`)
    return ending
  }

  async function kill(current: Run): Promise<void> {
    counts.kills += 1
    if (current.url === undefined) counts.early += 1
    current.kill('SIGKILL')
    await over(current, 'SIGKILL')
  }

  async function term(current: Run): Promise<Ending> {
    counts.terms += 1
    current.kill('SIGTERM')
    const ending = await over(current, 'SIGTERM')
    // A process that is not up yet has no handler, and dies of the signal.
    if (ending === 0) await nothingLeftOpen(current)
    else if (ending !== 'SIGTERM') {
      journal.violate(
        'process',
        `run ${current.number} ended with ${ending} after SIGTERM: ${current.stderr}`,
      )
    }
    return ending
  }

  async function nothingLeftOpen(current: Run): Promise<void> {
    for (const { key, intent } of (await ledger.records()) ?? []) {
      if (intent?.state !== 'open' || intent.openedAt < current.startedAt) continue
      journal.violate(
        'process',
        `run ${current.number} stopped in good order and left ${key} with the open intent ${intent.id}`,
      )
    }
  }

  async function double(current: Run): Promise<void> {
    counts.doubles += 1
    current.kill('SIGTERM')
    await pause(random.between(0, 300))
    current.kill('SIGTERM')
    const ending = await over(current, 'two signals')
    if (ending !== 0 && ending !== 1 && ending !== 'SIGTERM') {
      journal.violate(
        'process',
        `run ${current.number} ended with ${ending} after two signals: ${current.stderr}`,
      )
    }
  }

  /** A second daemon on the same ledger, which must be refused while the first one lives. */
  async function second(current: Run): Promise<void> {
    const up = await soon(
      'the first daemon',
      () => current.url ?? (current.endedAt === undefined ? undefined : 'gone'),
      10_000,
    ).catch(() => 'gone')
    if (up === 'gone') return
    counts.seconds += 1
    const other = runner.start({ logLevel: 'info', platform: 'online' })
    journal.note(undefined, `run ${other.number} starts beside run ${current.number}`)
    const ending = await over(other, 'being refused')
    const refused = ending === 1 && /another|locked|already/i.test(other.stderr)
    if (!refused && current.endedAt === undefined) {
      journal.violate(
        'process',
        `a second daemon on the ledger was not refused: ended with ${ending}, ${other.stderr}`,
      )
    }
  }

  /** A while, or until the next create arrives: half of the ends aim at one. Most whiles begin when the daemon listens. */
  async function whileItLives(current: Run, end: { readonly at: number }): Promise<void> {
    const [ms, begins] = random.weighted([
      [24, [random.between(30, 1_000), 'at once']],
      [20, [random.between(0, 400), 'listening']],
      [40, [random.between(400, 2_200), 'listening']],
      // A change takes some looks, one after the other.
      [scene.changes ? 80 : 12, [random.between(2_200, 5_000), 'listening']],
      [scene.changes ? 40 : 4, [random.between(6_000, 16_000), 'listening']],
      // Long enough for a 404 to be believed, which begins anew with each process.
      [end.at - Date.now() > LONG_MS ? 3 : 0, [random.between(90_000, LONG_MS), 'listening']],
    ] as const)
    const aim = ms < 90_000 && random.chance(0.5) ? random.next() * ms : Infinity
    const delay = random.chance(0.5) ? 0 : random.between(0, 30)
    if (begins === 'listening') {
      const limit = Math.min(end.at, current.startedAt + START_MS)
      while (Date.now() < limit && current.endedAt === undefined && current.url === undefined) await pause(4)
    }
    const from = Date.now()
    while (
      Date.now() < Math.min(from + ms, end.at) &&
      current.endedAt === undefined &&
      lastCreateAt() < from + aim
    )
      await pause(4)
    await pause(delay)
  }

  return {
    counts,
    get run() {
      return run
    },
    /** A life without an end of our making. */
    start,
    /** Ends the run that is there, in good order. */
    async stop() {
      if (run === undefined || run.endedAt !== undefined) return 0
      return term(run)
    },
    /** One life: a start, a while, an end. */
    async life(end: { readonly at: number }) {
      const current = start(random.chance(0.03) ? 'offline' : 'online')
      await whileItLives(current, end)
      if (current.endedAt !== undefined) {
        journal.violate(
          'process',
          `run ${current.number} ended by itself with ${await current.ending}: ${current.stderr}`,
        )
        return
      }
      await random.weighted([
        [85, kill],
        [8, async (it: Run) => void (await term(it))],
        [4, double],
        [
          6,
          async (it: Run) => {
            await second(it)
            await kill(it)
          },
        ],
      ] as const)(current)
    },
  }
}
