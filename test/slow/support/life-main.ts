import { createSecretMask } from '../../../src/lib/mask/secret-mask.ts'
import { DEFAULT } from '../../../src/kinds/profiles/default/profile.ts'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Writable } from 'node:stream'
import { createDaemon } from '../../../src/daemon/daemon.ts'
import type { TriggerCause } from '../../../src/daemon/watcher.ts'
import { openLedger } from '../../../src/ledger/open.ts'
import { createSource } from '../../../src/manifest/source.ts'
import { createBoard } from '../../../src/reconcile/state/status-board.ts'
import { type Event, NOTHING_SAID_BEFORE } from '../../../src/contract/events.ts'
import { createReconciler } from '../../../src/reconcile/reconciler.ts'
import { createStateStore } from '../../../src/reconcile/state/store.ts'
import { createRecentEvents } from '../../../src/server/recent-events.ts'
import { createTelemetry } from '../../../src/telemetry/telemetry.ts'
import { createIds, USUAL } from '../../reconcile/engine.ts'
import { endpoint, pipe, service } from '../../reconcile/manifests.ts'
import { createModelPlatform } from '../../reconcile/model-platform.ts'
import { createModelSecrets } from '../../reconcile/model-secrets.ts'
import { createFakeClock } from '../../support/fake-clock.ts'
import { holdings, type Holdings } from './git-sync-holdings.ts'

/*
 * A process of its own that lives through hours of a driven clock: the real daemon, ledger, source, log and metrics,
 * with edits, removals, renames, faults of the platform and drift; and says what it held on the way.
 */

export interface Sample extends Holdings {
  readonly hour: number
  /** Timers of the daemon that wait. */
  readonly timers: number
  readonly ledgerBytes: number
  /** What the ledger's file would be without the gaps in its pages, which come and go with what is written when. */
  readonly packedBytes: number
  readonly historyLines: number
  readonly resources: number
}

export type LifeReport = Awaited<ReturnType<typeof live>>

const PIPES = 40
const HISTORY_LIMIT = 200
const MINUTE = 60_000
const HOURS_BETWEEN_SAMPLES = 2

async function main(hours: number): Promise<LifeReport> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-life-')))
  try {
    return await live(base, hours)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

async function live(base: string, hours: number) {
  await using stack = new AsyncDisposableStack()
  const root = join(base, 'manifests')
  mkdirSync(root)
  const clock = createFakeClock()
  const board = createBoard()
  const file = join(base, 'ledger.db')
  const counts = new Map<string, number>()
  const readings = new Set<() => void>()
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const telemetry = createTelemetry({
    operations: [],
    log: { level: 'info', format: 'json', destination: nowhere },
    version: 'life',
    board: () => board.list(),
    namedResources: 100,
    facts: () => ({ isActing: true, withoutLock: 0, withoutManifest: undefined, budgetUsed: 0 }),
    clock,
  })
  const recentEvents = createRecentEvents(() => clock.now())
  const emit = (event: Event) => {
    counts.set(event.type, (counts.get(event.type) ?? 0) + 1)
    telemetry.emit(event)
    recentEvents.add(event)
    if (event.type === 'SourceLoaded' || event.type === 'SourceFailed') for (const tell of readings) tell()
  }
  const { ledger } = await openLedger(`sqlite:${file}`, {
    init: 'auto',
    mode: 'owner',
    historyLimit: HISTORY_LIMIT,
    clock,
    emit,
  })
  stack.use(ledger)
  const platform = createModelPlatform({ clock, ledger })
  const random = createRandom()
  const secrets = createModelSecrets()
  const context = {
    ...USUAL,
    profile: DEFAULT,
    platform,
    ledger,
    secrets,
    mask: createSecretMask(),
    store: createStateStore({ profile: DEFAULT, hashKey: ledger.hashKey, clock }),
    clock,
    emit,
    random,
    newId: createIds(),
    maxCreates: PIPES * 2,
  }
  const triggers: ((cause: TriggerCause) => void)[] = []
  write('service', service())
  write('endpoint', endpoint('analytics', { roles: ['sql_console_read_only'] }))
  for (let n = 0; n < PIPES; n += 1) write(`p${n}`, pipe(`p${n}`))
  const firstReading = reading()
  const daemon = createDaemon({
    lateForMs: () => undefined,
    context,
    board,
    reconciler: createReconciler(context, board),
    source: createSource({ profile: DEFAULT, root }),
    concurrency: 8,
    renewed: async () => [],
    probeNow: () => undefined,
    forgetSecrets: () => undefined,
    onAccept: () => undefined,
    saidBefore: () => NOTHING_SAID_BEFORE,
    watch: async (onTrigger) => {
      triggers.push(onTrigger)
      return { mode: () => 'recursive', close: () => Promise.resolve() }
    },
  })
  await daemon.start(true)
  await firstReading

  function pathOf(name: string): string {
    return join(root, `${name}.yaml`)
  }

  function write(name: string, text: string): void {
    writeFileSync(pathOf(name), text)
  }

  /** Fulfilled when the next reading has been taken over; it reads a real disk, which the clock knows nothing of. */
  function reading(): Promise<void> {
    return new Promise((resolve) => {
      const tell = () => {
        readings.delete(tell)
        resolve()
      }
      readings.add(tell)
    })
  }

  async function readAgain(): Promise<void> {
    const read = reading()
    for (const trigger of triggers) trigger('event')
    await read
    await clock.settle()
  }

  async function sample(hour: number): Promise<Sample> {
    await telemetry.metrics.render()
    const held = await holdings()
    return {
      ...held,
      hour,
      timers: clock.pending,
      ledgerBytes: sizeOf(file),
      packedBytes: packedSizeOf(file, join(base, 'packed.db')),
      historyLines: (await ledger.history({ key: undefined, limit: 100_000 })).length,
      resources: board.list().length,
    }
  }

  /** Ten minutes of a life: something is edited, and sometimes more happens. */
  async function tenMinutes(turn: number): Promise<void> {
    const n = turn % PIPES
    const edited = turn % 2 === 0 ? { replicas: 2 } : {}
    write(`p${n}`, pipe(`p${n}`, edited))
    await readAgain()
    if (turn % 3 === 0) {
      platform.script('get', ...Array.from({ length: 5 }, () => unavailable()))
    }
    if (turn % 5 === 0) {
      // A manifest goes away for a while, and comes back.
      rmSync(pathOf('p0'))
      await readAgain()
    }
    if (turn % 5 === 1) write('p0', pipe('p0'))
    if (turn % 7 === 0) {
      const [drifting] = platform.pipes.values()
      if (drifting !== undefined) drifting.body = { ...drifting.body, scaling: { replicas: turn } }
    }
    for (let minute = 0; minute < 10; minute += 1) {
      await clock.advance(MINUTE)
      // Readings that the clock began read a real disk.
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    await readAgain()
  }

  const samples: Sample[] = []
  for (let hour = 1; hour <= hours; hour += 1) {
    for (let part = 0; part < 6; part += 1) await tenMinutes((hour - 1) * 6 + part)
    if (hour % HOURS_BETWEEN_SAMPLES === 0) samples.push(await sample(hour))
  }
  await daemon.stop(AbortSignal.timeout(5_000))
  await telemetry.close()
  return {
    samples,
    /** How often each type of event was told. */
    events: Object.fromEntries(counts),
    posts: platform.posts.length,
  }
}

function unavailable() {
  return { type: 'fail', class: 'Unavailable', effect: 'unknown', worked: false } as const
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

function packedSizeOf(file: string, copy: string): number {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 10_000 })
  db.prepare('VACUUM INTO ?').run(copy)
  const size = sizeOf(copy)
  rmSync(copy)
  return size
}

/** The same chances in every run. */
function createRandom(): () => number {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

const alive = setInterval(() => undefined, 2 ** 30)
const report = await main(Number(process.argv[2]))
process.stdout.write(JSON.stringify(report))
clearInterval(alive)
