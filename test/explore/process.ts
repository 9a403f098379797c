import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { Secret } from '../../src/lib/secret.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import type { ReconcileContext } from '../../src/reconcile/context.ts'
import type { SecretStore } from '../../src/contract/secrets.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { createOutcomeOutbox, type OutcomeOutbox } from '../../src/reconcile/apply/outcome-outbox.ts'
import { createStateStore, type StateStore } from '../../src/reconcile/state/store.ts'
import { USUAL } from '../reconcile/engine.ts'
import { clockOf, type SetClock } from './clock.ts'
import { catalogOf } from './directory.ts'
import { HASH_KEY, keptMask, withHashesKept } from './hashes.ts'
import { createLedger, NO_CHOICE } from './ledger.ts'
import { BLANK_MEMORY, forgetAll, LISTING_MS, newId, type Memory, type Model } from './model.ts'
import { createPlatform } from './platform.ts'
import { shellLedger } from './pod-ledger.ts'
import { forever, tell, type Process, type Run } from './run.ts'

/* Pipewright itself: the real reconciler, built from what the model says that it knows. */

const NEVER = new AbortController().signal

/** @param memory what it knows beyond the ledger; a second one, beside the first, knows nothing else */
function createProcess(run: Run, memory: Memory, isSecond: boolean): Process {
  const { model } = run
  const clock = clockOf(model)
  const profile = run.world.profile ?? DEFAULT
  const store = withHashesKept(createStateStore({ profile, hashKey: HASH_KEY, clock }))
  let isDead = false
  const { promise: died, resolve: end } = Promise.withResolvers<'died'>()

  const process: Process = {
    isSecond,
    get isDead() {
      return isDead
    },
    die() {
      isDead = true
      if (!isSecond) forgetAll(model)
      end('died')
      return forever()
    },
    async reconcile(key) {
      if (!isSecond && run.busy.has(key)) throw new Error(`${key} is being reconciled`)
      if (!isSecond) run.busy.add(key)
      const request = { priority: 1, signal: NEVER, reconcileId: 'r', changedAt: undefined } as const
      const reconciled = reconciler.reconcile(key, { ...request, releaseSlot: async () => undefined })
      const ended = await Promise.race([reconciled, died])
      if (!isSecond) run.busy.delete(key)
      return ended
    },
    read: () => store.setCatalog(catalogOf(model, profile)),
    memory: () => ({
      ...memoryOf(store, outbox, model.now),
      knowsServices: model.memory.knowsServices || !model.isServiceFlawed,
      ...(profile !== DEFAULT && {
        listings: listingsOf(store, model.now),
        writes: writesOf(store, model.now),
      }),
    }),
  }

  const context = contextOf(run, {
    platform: createPlatform(run, process),
    ledger: createLedger(run, process),
    store,
    clock,
  })
  const outbox = createOutcomeOutbox(context)
  const reconciler = createReconciler(context, createBoard(), outbox)
  remember(model.records.values(), memory, { store, outbox, clock })
  process.read()
  run.processes.add(process)
  return process
}

export function contextOf(
  { model, world }: Run,
  parts: Pick<ReconcileContext, 'platform' | 'ledger' | 'store' | 'clock'>,
): ReconcileContext {
  return {
    ...USUAL,
    ...parts,
    profile: world.profile ?? DEFAULT,
    secrets: secretsOf(model),
    mask: keptMask(world.mounted?.others),
    random: () => 0,
    newId: () => newId(model, 'intent'),
  }
}

/** What a process knows beyond the ledger. @param now on its monotonic clock */
export function memoryOf(
  store: StateStore,
  outbox: OutcomeOutbox,
  now: number,
): Pick<Memory, 'looks' | 'recordedAt' | 'unsaved'> {
  return {
    looks: keysOf(store).flatMap((key) => {
      const observation = store.observation(key)
      return observation === undefined ? [] : [[key, observation] as const]
    }),
    recordedAt: [...store.records()].flatMap(({ key, remote }) => {
      const age = store.ageMs(key)
      return age === undefined || remote === undefined ? [] : [[remote.id, now - age] as const]
    }),
    unsaved: [...outbox.pending],
  }
}

/** A second daemon, that was just started on the same ledger. */
export function secondProcess(run: Run): Process {
  run.model.hasSecond = true
  const memory = { ...BLANK_MEMORY, knowsServices: !run.model.isServiceFlawed }
  return createProcess(run, memory, true)
}

/** What a person's command at the shell works with: a process of its own, beside. */
export async function createShell(run: Run): Promise<ReconcileContext> {
  const { model } = run
  const clock = clockOf(model)
  const profile = run.world.profile ?? DEFAULT
  const store = withHashesKept(createStateStore({ profile, hashKey: HASH_KEY, clock }))
  store.setCatalog(catalogOf(model, profile))
  const ledger = model.pods === undefined ? createLedger(run, NO_CHOICE) : await shellLedger(run)
  return contextOf(run, { platform: createPlatform(run, NO_CHOICE), ledger, store, clock })
}

/** The process of a run; it is started where none is. */
export function processOf(run: Run): Process {
  if (run.process?.isDead === true) {
    tell(run, 'Pipewright is started again.')
    run.process = undefined
  }
  run.process ??= createProcess(run, run.model.memory, false)
  return run.process
}

/** Knows again what is known. */
export function remember(
  records: Iterable<LedgerRecord>,
  memory: Memory,
  {
    store,
    outbox,
    clock,
  }: { readonly store: StateStore; readonly outbox: OutcomeOutbox; readonly clock: SetClock },
): void {
  const recordedAt = new Map(memory.recordedAt)
  for (const record of records) {
    const at = record.remote && recordedAt.get(record.remote.id)
    if (at !== undefined) {
      clock.at = at
      store.note({ ...record, remote: undefined })
    }
    // A process that goes on does not take its own failed creates for those of an earlier one.
    if (memory.writes !== undefined && record.intent?.state === 'failed')
      clock.at = new Map(memory.writes).get(record.key) ?? 0
    store.note(record)
    clock.at = undefined
  }
  for (const [key, observation] of memory.looks) store.noteObservation(key, observation)
  for (const [name, { askedAt, items, reply }] of memory.listings ?? []) {
    const asked = { value: [...items.values()], ...reply }
    void store.listings.since(name, { since: askedAt, now: askedAt }, async () => asked)
  }
  for (const [key, at] of memory.writes ?? []) {
    clock.at = at
    store.lastWrites.noteEnd({ key })
    clock.at = undefined
  }
  for (const [key, unsaved] of memory.unsaved) outbox.remember(key, unsaved)
}

/** Those that somebody may still look at. */
function listingsOf({ listings }: StateStore, now: number): NonNullable<Memory['listings']> {
  return [...listings.all()].filter(([, { askedAt }]) => now - askedAt <= LISTING_MS)
}

function writesOf(store: StateStore, now: number): NonNullable<Memory['writes']> {
  return keysOf(store)
    .map((key) => [key, store.lastWrites.endedAt({ key })] as const)
    .filter(([, at]) => now - at <= LISTING_MS)
}

function keysOf(store: StateStore): readonly LedgerRecord['key'][] {
  return [...store.records()].map(({ key }) => key)
}

function secretsOf(model: Model): SecretStore {
  return {
    async read({ name }) {
      const value = name === 'kafka' ? model.password : 'secret'
      if (value === undefined) return { found: false, file: `/secrets/${name}`, why: 'absent' }
      const secret = mounted.get(value) ?? new Secret(value)
      mounted.set(value, secret)
      return { found: true, value: secret }
    },
  }
}

/** By their values: one for all stories, so that its hash is made once. */
const mounted = new Map<string, Secret>()
