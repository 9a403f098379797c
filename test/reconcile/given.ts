import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { Key } from '../../src/kinds/key.ts'
import { openMemoryLedger } from '../../src/ledger/open-sqlite-ledger.ts'
import type { Conditions } from '../../src/plan/condition.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import type { ReconcileContext, ReconcileResult } from '../../src/reconcile/context.ts'
import type { Event } from '../../src/contract/events.ts'
import type { ParsedFile } from '../../src/manifest/validate/parse-file.ts'
import { recordedOf } from '../../src/reconcile/state/recorded.ts'
import { type FakeClock, createFakeClock } from '../support/fake-clock.ts'
import { createIds, startEngine, USUAL } from './engine.ts'
import { createModelDirectory, createReader } from './model-directory.ts'
import { createLedgerView } from './model-ledger.ts'
import { scenarioMask } from '../support/mounted-secrets.ts'
import { judgeWrite, type Truth, type Written } from '../support/oracle.ts'
import { service } from './manifests.ts'
import { createModelPlatform } from './model-platform.ts'
import { createModelSecrets } from './model-secrets.ts'

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE

/** Many tests write the same manifests. */
const PARSED = new Map<string, ParsedFile>()

/** What outlives a process: the platform, the ledger on its disk, mounted secrets, the directory, time. */
type Surroundings = ReturnType<typeof createSurroundings>

export function createSurroundings() {
  const clock = createFakeClock()
  const ledger = openMemoryLedger({ emit: () => undefined, hashKey: new Uint8Array(32).fill(7) }).ledger
  const writes: Written[] = []
  const platform = createModelPlatform({
    clock,
    // The ledger would read all records.
    ledger: { withIntent: async (id) => writes.findLast(({ after }) => after?.intent?.id === id)?.after },
  })
  const truth: Truth = {
    sent: (intentId) => platform.posts.find((each) => each.intentId === intentId),
    // Persons say what they like here.
    isRetrySaid: () => true,
    isPipeSaid: () => true,
    isForgetSaid: () => true,
    isRemoved: () => false,
  }
  return {
    clock,
    ledger,
    platform,
    secrets: createModelSecrets(),
    directory: createModelDirectory(PARSED),
    writes,
    onWritten: (written: Written) => {
      writes.push(written)
      const broken = judgeWrite(written, truth)
      if (broken.length > 0) throw new Error(broken.join('\n'))
    },
    newId: createIds(),
  }
}

/** One process: what it holds in memory, and its own view of the ledger. */
type Process = Awaited<ReturnType<typeof startProcess>>

type Changeable = 'profile' | 'platform' | 'maxCreates' | 'random' | 'fail'

/** Manifests are those of the default profile in any case. */
export interface ProcessOptions extends Partial<Pick<ReconcileContext, Changeable>> {
  readonly hops?: () => number
  /** As `StateStore.olderThan`. */
  readonly olderThan?: () => string | undefined
}

/** Starts a process, as the daemon does: records first, then the directory. */
export async function startProcess(
  around: Surroundings,
  { hops = () => 0, olderThan, ...options }: ProcessOptions = {},
) {
  const { clock, platform, secrets, directory, newId } = around
  const ledger = createLedgerView(around.ledger, { onWritten: around.onWritten, hops })
  const events: Event[] = []
  const parts = {
    ...USUAL,
    profile: DEFAULT,
    platform,
    ledger,
    secrets,
    mask: scenarioMask(),
    clock,
    emit: (event: Event) => void events.push(event),
    newId,
    ...options,
  }
  const { context, store, board, reconciler } = await startEngine(parts, olderThan)
  const reader = createReader(directory)

  const placesLeft: Key[] = []
  const never = new AbortController().signal
  function begin(key: Key, stopping = never): Promise<ReconcileResult> {
    return reconciler.reconcile(key, {
      priority: 1,
      signal: stopping,
      reconcileId: newId(),
      changedAt: undefined,
      releaseSlot: async () => void placesLeft.push(key),
    })
  }

  function read(): readonly Key[] {
    const { catalog, changed } = reader.read(recordedOf(store.records()))
    store.setCatalog(catalog)
    return changed
  }

  read()
  return {
    context,
    ledger,
    board,
    reconciler,
    events,
    /** Keys whose turns left their place before they ended. */
    placesLeft,
    /** Reads the directory once. @returns keys that changed */
    read,
    /** A turn that the caller waits for. */
    begin,
    /** A turn that ends: time passes while it waits. `undefined`: it never ends, because the process died in it. */
    request: (key: Key, stopping?: AbortSignal) => ended(clock, begin(key, stopping)),
    /** Every key that there is, in order. */
    keys() {
      const keys = new Set(store.catalog?.entries.keys())
      for (const record of store.records()) keys.add(record.key)
      return [...keys].toSorted()
    },
  }
}

/** What comes of a promise, while time passes. `undefined`: nothing ever does. */
export async function ended<T>(clock: FakeClock, promise: Promise<T>): Promise<T | undefined> {
  const [isEnded] = await endedOf(clock, [promise])
  return isEnded === true ? promise : undefined
}

/** Which of these promises come to an end, while time passes. */
export async function endedOf(
  clock: FakeClock,
  promises: readonly Promise<unknown>[],
): Promise<readonly boolean[]> {
  const states = promises.map(() => ({ isDone: false }))
  for (const [index, promise] of promises.entries()) void watch(promise, states[index])
  const areDone = () => states.every(({ isDone }) => isDone)
  for (let hop = 0; hop < 2_000 && !areDone(); hop += 1) await Promise.resolve()
  for (let step = 0; step < 60 && !areDone() && clock.pending > 0; step += 1) await clock.advance(SECOND)
  return states.map(({ isDone }) => isDone)
}

async function watch(promise: Promise<unknown>, state: { isDone: boolean } | undefined): Promise<void> {
  await Promise.allSettled([promise])
  if (state !== undefined) state.isDone = true
}

/** A process with one service, for tests that tell a story. */
export interface Given extends Omit<Surroundings, 'ledger'>, Process {
  /** What outlives this process: for the next one. */
  readonly around: Surroundings
  write(file: string, text: string): readonly Key[]
  remove(file: string): void
  /** Readings until what is missing is gone. */
  readAgain(): void
  /** As {@link Process.turn}, for one that ends. */
  go(key: Key): Promise<ReconcileResult>
  record(key: Key): Promise<LedgerRecord>
  conditions(key: Key): Promise<Conditions>
}

export async function given(
  files: Readonly<Record<string, string>> = {},
  {
    around = createSurroundings(),
    ...options
  }: ProcessOptions & { readonly around?: Surroundings | undefined } = {},
): Promise<Given> {
  const { directory } = around
  if (!directory.files.has('service.yaml')) directory.files.set('service.yaml', service())
  for (const [file, text] of Object.entries(files)) directory.files.set(file, text)
  const process = await startProcess(around, options)

  async function record(key: Key): Promise<LedgerRecord> {
    const found = await around.ledger.get(key)
    if (found === undefined) throw new Error(`there is no record of ${key}`)
    return found
  }

  return {
    ...around,
    ...process,
    around,
    write(file, text) {
      directory.files.set(file, text)
      return process.read()
    },
    remove(file) {
      directory.files.delete(file)
      process.read()
    },
    readAgain() {
      for (let reading = 0; reading < 3; reading += 1) process.read()
    },
    async go(key) {
      const reconciled = await process.request(key)
      if (reconciled === undefined) throw new Error(`the turn of ${key} did not end`)
      return reconciled
    },
    record,
    async conditions(key) {
      const { conditions } = await record(key)
      if (conditions === undefined) throw new Error(`${key} has no conditions`)
      return conditions
    },
  }
}
