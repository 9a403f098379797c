import { NotLeading, type Term } from '../../src/contract/leadership.ts'
import { createOlderCheckout } from '../../src/daemon/leader-state.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import type { Key } from '../../src/kinds/key.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { createFence } from '../../src/platform/handle-reply.ts'
import type { ReconcileResult } from '../../src/reconcile/context.ts'
import { createOutcomeOutbox } from '../../src/reconcile/apply/outcome-outbox.ts'
import { createReconciler } from '../../src/reconcile/reconciler.ts'
import { syncStoreFromLedger } from '../../src/reconcile/state/record-io.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { objectsIn } from '../support/object-store.ts'
import { clockOf } from './clock.ts'
import { clusterOf } from './cluster.ts'
import { catalogOf } from './directory.ts'
import { HASH_KEY, withHashesKept } from './hashes.ts'
import { BLANK_MEMORY, keysOf } from './model.ts'
import { createPlatform } from './platform.ts'
import { leaseIn, ledgerOn } from './pod-ledger.ts'
import { openStore } from './pod-store.ts'
import { atRevision, nameOf, podAt, podsOf, RECORDS, REQUEST_MS, type Pod } from './pods.ts'
import { contextOf, memoryOf, remember } from './process.ts'
import { forever, tell, type Run } from './run.ts'

/* One of two processes of which one acts: the real Lease, ledger and reconciler, built from what the model says that it knows. */

export type LivePod = Awaited<ReturnType<typeof createPod>>

const NEVER = new AbortController().signal

export async function podOf(run: Run, index: number): Promise<LivePod> {
  const known = run.pods.get(index)
  if (known !== undefined) return known
  const pod = await createPod(run, index)
  run.pods.set(index, pod)
  return pod
}

/** What the processes of this step know goes back into the model. */
export function savePods({ model, pods }: Run): void {
  for (const [index, pod] of pods) podsOf(model).all[index] = pod.state()
}

async function createPod(run: Run, index: number) {
  const { model } = run
  const first = podAt(model, index)
  const name = nameOf(index)
  const clock = clockOf(model, () => podAt(model, index).behindMs)
  const { promise: died, resolve: end } = Promise.withResolvers<void>()
  let isOver = false
  let quiet = 0
  let ended: Promise<void> = Promise.resolve()

  const live = clusterOf(run, {
    name,
    pod: index,
    get isDead() {
      return isOver
    },
    get isQuiet() {
      return quiet > 0
    },
    die: () => process.die(),
    stand: (where) => run.passMeanwhile(run, process, where, 'reply'),
  })
  const opened = await openStore(live, { index, first, clock })
  const { mirror, lease, leadership } = opened
  let { term } = opened
  let { actsOn } = first
  let { begun } = first
  const [read, readSince] = [[...first.read], [...first.readSince]]
  const checkout = createOlderCheckout(clock)
  for (const revision of read) checkout.noteRead(revisionId(revision))
  if (begun !== undefined) {
    clock.at = begun.at
    checkout.begin(begun.before)
    clock.at = undefined
  }
  for (const revision of readSince) checkout.noteRead(revisionId(revision))

  const profile = run.world.profile ?? DEFAULT
  const store = withHashesKept(
    createStateStore({ profile, hashKey: HASH_KEY, clock, olderThan: () => checkout.olderThan }),
  )
  const ledger = ledgerOn(run, opened.api, mirror, clock)

  /** As the daemon does it, before each request that changes something. */
  async function confirm(): Promise<number> {
    if (term === undefined) throw new NotLeading('this process does not act', false)
    checkout.check()
    actOn()
    const certainUntil = await term.confirm()
    const pods = podsOf(model)
    pods.actedOn = Math.max(pods.actedOn, podAt(model, index).checkout)
    return certainUntil
  }

  function actOn(): void {
    actsOn = checkout.actedOn(store.revision)
    leadership.actOn(actsOn)
  }

  const now = () => clock.monotonic()
  let { lateUntil } = first.acts ?? { lateUntil: undefined }

  const process = {
    pod: index,
    isSecond: false,
    get isDead() {
      return isOver
    },
    get isActing() {
      return !isOver && term !== undefined
    },
    die() {
      for (const pipe of model.pipes) pipe.isTold = false
      startAgain()
      return forever()
    },
    reconcile,
    read() {
      const { checkout: revision } = podAt(model, index)
      const catalog = catalogOf(atRevision(model, revision), profile)
      store.setCatalog({ ...catalog, revision: { id: revisionId(revision), from: 'git' } })
    },
    memory: () => ({ ...memoryOf(store, outbox, now()), knowsServices: true }),
    /** Looks at a key, and ends when it learns that another one has taken over. */
    look: (key: Key) => until(lookAt(key)),
    takeOver: () => until(takeOver()),
    /** When what it does now is over. */
    get ended() {
      return ended
    },
    /** Looks at all that it knows of. */
    async lookAtAll() {
      for (const key of keysOf(atRevision(model, podAt(model, index).checkout)))
        if (process.isActing) await process.look(key)
    },
    /** Renews the Lease, or looks whether it is free, as each does all the time. */
    async noteLease() {
      if (term === undefined) await quietly(() => lease.read())
      else {
        await quietly(() => term?.confirm().catch(() => undefined))
        await process.hear()
      }
      await endIfOver()
    },
    /** What others have written reaches it. One that stands by may hear of it only when it takes over. */
    hear: () => mirror.relist(),
    /** Its checkout is as Git is now. */
    async readGit() {
      const revision = podsOf(model).git.length - 1
      change({ checkout: revision })
      ;(begun === undefined ? read : readSince).push(revision)
      checkout.noteRead(revisionId(revision))
      process.read()
      if (term !== undefined) await quietly(() => confirm().catch(() => undefined))
      await endIfOver()
    },
    /** It is told to stop, and is started again. */
    async stop() {
      await quietly(() => outbox.recoverAll())
      await quietly(() => term?.release())
      startAgain()
    },
    state: () => ({
      ...podAt(model, index),
      read,
      readSince,
      begun,
      ...opened.known(),
      actsOn,
      acts: term && {
        memory: process.memory(),
        lateUntil,
        overtaken: [...store.overtaken.keys()],
        isOlder: checkout.olderThan !== undefined,
      },
    }),
  }

  const context = contextOf(run, {
    platform: createPlatform(run, process, { fence: createFence(confirm), now }),
    ledger,
    store,
    clock,
  })
  const outbox = createOutcomeOutbox(context)
  const reconciler = createReconciler(context, createBoard(), outbox)
  remember(await ledger.list(), first.acts?.memory ?? BLANK_MEMORY, { store, outbox, clock })
  for (const key of first.acts?.overtaken ?? []) store.overtaken.set(key, blankRecord(key))
  process.read()
  return process

  function change(to: Partial<Pod>): void {
    podsOf(model).all[index] = { ...podAt(model, index), ...to }
  }

  /** Whatever it does ends when it is killed. */
  function until(work: Promise<void>): Promise<void> {
    ended = Promise.race([work, died])
    return ended
  }

  /** Nothing is told or chosen meanwhile. */
  async function quietly<T>(work: () => Promise<T> | undefined): Promise<void> {
    quiet += 1
    try {
      await work()
    } finally {
      quiet -= 1
    }
  }

  async function lookAt(key: Key): Promise<void> {
    tell(run, `Process ${name} looks at ${key}.`)
    podsOf(model).certainAt.delete(index)
    await syncStoreFromLedger(context)
    applyAgain()
    const wasOvertaken = store.overtaken.has(key)
    const { action, outcome } = await reconcile(key)
    const isCertain = ['upsert', 'report'].includes(action.type) || action.reason === 'InSync'
    if (outcome.result === 'done' && isCertain && wasOvertaken) store.overtaken.delete(key)
    const reason = 'reason' in outcome && outcome.reason !== undefined ? outcome.reason : action.reason
    tell(
      run,
      `  It says ${outcome.result === 'unknown' ? 'OutcomeUnknown' : reason} of ${key} (${action.type}).`,
    )
    await endIfOver()
  }

  function reconcile(key: Key): Promise<ReconcileResult> {
    const request = { priority: 1, signal: NEVER, reconcileId: 'r', changedAt: undefined } as const
    return reconciler.reconcile(key, { ...request, releaseSlot: async () => undefined })
  }

  /** What the process before sent last has arrived by now, if it ever does: as the daemon does it. */
  function applyAgain(): void {
    if (lateUntil === undefined || now() < lateUntil) return
    lateUntil = undefined
    for (const record of store.records())
      if (store.lifecycleOf(record.key) === 'upsert') store.overtaken.set(record.key, record)
  }

  async function takeOver(): Promise<void> {
    const taken: Term | undefined = await leadership
      .attempt(new AbortController().signal)
      .catch(() => undefined)
    tell(run, `Process ${name} ${taken === undefined ? 'does not take over' : 'takes over'}.`)
    if (taken === undefined) return
    term = taken
    begun = { before: taken.revisionBefore, at: now() }
    checkout.begin(taken.revisionBefore)
    lateUntil = taken.lateForMs === undefined ? undefined : now() + REQUEST_MS
    await syncStoreFromLedger(context)
  }

  /** One that another has taken over from writes down what it knows, ends, and is started again. */
  async function endIfOver(): Promise<void> {
    if (term?.over.aborted !== true || isOver) return
    await quietly(() => outbox.recoverAll())
    tell(run, `  Process ${name} ends, as another one has taken over, and is started again.`)
    startAgain()
  }

  function startAgain(): void {
    isOver = true
    run.pods.delete(index)
    change({
      starts: podAt(model, index).starts + 1,
      read: [podAt(model, index).checkout],
      readSince: [],
      begun: undefined,
      heard: objectsIn(podsOf(model), RECORDS),
      lease: leaseIn(run),
      leaseSince: model.now,
      behindMs: 0,
      actsOn: undefined,
      acts: undefined,
    })
    end()
  }
}

function revisionId(revision: number): string {
  return `git-${revision}`
}
