import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { Secret } from '../../src/lib/secret.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import type { ReconcileContext } from '../../src/reconcile/context.ts'
import type { OperatorContext } from '../../src/reconcile/operator/operator.ts'
import type { SecretStore } from '../../src/contract/secrets.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { createOutcomeOutbox, type OutcomeOutbox } from '../../src/reconcile/apply/outcome-outbox.ts'
import { createStateStore, type StateStore } from '../../src/reconcile/state/store.ts'
import { catalogOf } from './directory.ts'
import { withHashesKept } from './hashes.ts'
import { createLedger, NO_CHOICE } from './ledger.ts'
import { BEGIN, BLANK_MEMORY, forgetAll, LISTING_MS, newId, type Memory, type Model } from './model.ts'
import { createPlatform } from './platform.ts'
import { forever, tell, type Process, type Run } from './run.ts'

/* Pipewright itself: the real reconciler, built from what the model says that it knows. */

const HASH_KEY = new Uint8Array(32).fill(7)
const NEVER = new AbortController().signal
/** Waits up to this are passed at once; longer ones are limits, and nothing takes that long. */
const SHORT_MS = 5_000

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
      const request = { priority: 1, stopping: NEVER, reconcileId: 'r', changedAt: undefined } as const
      const reconciled = reconciler.reconcile(key, { ...request, releaseSlot: async () => undefined })
      const ended = await Promise.race([reconciled, died])
      if (!isSecond) run.busy.delete(key)
      return ended
    },
    read: () => store.setCatalog(catalogOf(model, profile)),
    memory: () => ({
      looks: keysOf(store).flatMap((key) => {
        const observation = store.observation(key)
        return observation === undefined ? [] : [[key, observation] as const]
      }),
      recordedAt: [...store.records()].flatMap(({ key, remote }) => {
        const age = store.ageMs(key)
        return age === undefined || remote === undefined ? [] : [[remote.id, model.now - age] as const]
      }),
      unsaved: [...outbox.pending],
      knowsServices: model.memory.knowsServices || !model.isServiceFlawed,
      ...(profile !== DEFAULT && { listings: listingsOf(store, model.now) }),
    }),
  }

  const context: ReconcileContext = {
    profile,
    platform: createPlatform(run, process),
    ledger: createLedger(run, process),
    secrets: secretsOf(model),
    mounted: secretsOf(model),
    store,
    clock,
    emit: () => undefined,
    random: () => 0,
    newId: () => newId(model, 'intent'),
    timing: { intervalMs: 300_000, resyncMs: 3_600_000 },
    healthyStates: undefined,
    maxCreates: 25,
  }
  const outbox = createOutcomeOutbox(context)
  const reconciler = createReconciler(context, createBoard(), outbox)
  remember(model, memory, store, outbox, clock)
  process.read()
  run.processes.add(process)
  return process
}

/** A second daemon, that was just started on the same ledger. */
export function secondProcess(run: Run): Process {
  run.model.hasSecond = true
  const memory = { ...BLANK_MEMORY, knowsServices: !run.model.isServiceFlawed }
  return createProcess(run, memory, true)
}

/** What a person's command at the shell works with: a process of its own, beside. */
export function createShell(run: Run): OperatorContext {
  const { model } = run
  const clock = clockOf(model)
  const profile = run.world.profile ?? DEFAULT
  const store = withHashesKept(createStateStore({ profile, hashKey: HASH_KEY, clock }))
  store.setCatalog(catalogOf(model, profile))
  return {
    profile,
    platform: createPlatform(run, NO_CHOICE),
    ledger: createLedger(run, NO_CHOICE),
    secrets: secretsOf(model),
    store,
    clock,
  }
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

function remember(
  model: Model,
  memory: Memory,
  store: StateStore,
  outbox: OutcomeOutbox,
  clock: Clock & { at: number | undefined },
): void {
  const recordedAt = new Map(memory.recordedAt)
  for (const record of model.records.values()) {
    const at = record.remote && recordedAt.get(record.remote.id)
    if (at !== undefined) {
      clock.at = at
      store.note({ ...record, remote: undefined })
    }
    store.note(record)
    clock.at = undefined
  }
  for (const [key, observation] of memory.looks) store.noteObservation(key, observation)
  for (const [name, { askedAt, items, reply }] of memory.listings ?? []) {
    const asked = { value: [...items.values()], ...reply }
    void store.listings.since(name, { since: askedAt, now: askedAt }, async () => asked)
  }
  for (const [key, unsaved] of memory.unsaved) outbox.remember(key, unsaved)
}

/** Those that somebody may still look at. */
function listingsOf({ listings }: StateStore, now: number): NonNullable<Memory['listings']> {
  return [...listings.all()].filter(([, { askedAt }]) => now - askedAt <= LISTING_MS)
}

function keysOf(store: StateStore): readonly LedgerRecord['key'][] {
  return [...store.records()].map(({ key }) => key)
}

/** The clock of a model; it can be set for a moment. */
function clockOf(model: Model): Clock & { at: number | undefined } {
  return {
    at: undefined,
    now() {
      return BEGIN + model.jumpedMs + (this.at ?? model.now)
    },
    monotonic() {
      return this.at ?? model.now
    },
    after(ms, callback) {
      if (ms <= SHORT_MS) queueMicrotask(callback)
      return () => undefined
    },
  }
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
