import type { Key } from '../kinds/key.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Priority } from '../contract/platform.ts'
import type { WritableBoard } from '../reconcile/state/status-board.ts'
import type { ReconcileContext, ReconcileRequest, ReconcileResult } from '../reconcile/context.ts'
import type { OperatorCommand } from '../contract/person-command.ts'
import type { Reconciler } from '../reconcile/reconciler.ts'
import { createLoop } from './loop.ts'
import { serviceQueueOf } from './service-queue.ts'
import type { Clock } from '../lib/clock.ts'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

interface ActingParts {
  readonly context: ReconcileContext
  readonly board: WritableBoard
  readonly reconciler: Reconciler
  readonly concurrency: number
  /** Names of services (or `alerts`) whose credentials were refused and have changed since. */
  readonly renewed: () => Promise<readonly string[]>
  /** ms in which a request of the previous leader can still arrive. Undefined: there was no leader. */
  readonly lateForMs: number | undefined
  /** Whether the key's manifest was missing in the last read, but not yet in three reads in a row. */
  readonly isUnconfirmed: (key: Key) => boolean
  /** Called when a reconcile begins. The result is called at its end, except after a stop. */
  readonly onRun: (key: Key) => () => void
  readonly onRan: (isVanishing: boolean) => void
}

export type Acting = ReturnType<typeof startLeaderLoop>

export function startLeaderLoop(parts: ActingParts) {
  const { context, board, reconciler } = parts
  const { store, clock } = context
  const stopping = new AbortController()
  const changedAt = new Map<Key, number>()
  const asked = new Set<Key>()
  const ending = new Map<Key, () => void>()
  const wereOvertaken = new Set<Key>()
  /** Records as the former leader left them. */
  const left = new Map<Key, LedgerRecord>()
  const loop = createLoop({ ...parts, stopping: stopping.signal, begin, reconciled })
  const trimHeap = createHeapTrim((delayMs, callback) => clock.after(delayMs, callback))
  const renewals = createRenewals(clock, parts.renewed, onRenewed)
  if (parts.lateForMs !== undefined) clock.after(parts.lateForMs, applyAgain)

  /** Applies upserts again that a late request of the previous leader might have overwritten. */
  function applyAgain(): void {
    if (stopping.signal.aborted) return
    for (const record of store.records()) {
      const { key } = record
      if (store.lifecycleOf(key) !== 'upsert') continue
      store.overtaken.set(key, left.get(key) ?? record)
      loop.ask(key, 1)
    }
  }

  function begin(key: Key): Pick<ReconcileRequest, 'changedAt' | 'isAsked'> {
    // While the manifest might be gone, `POST /-/reconcile` waits for further reads and a later reconcile.
    if (!parts.isUnconfirmed(key)) ending.set(key, parts.onRun(key))
    if (store.overtaken.has(key)) wereOvertaken.add(key)
    const record = store.lifecycleOf(key) === 'upsert' ? store.record(key) : undefined
    if (record !== undefined && !left.has(key)) left.set(key, record)
    return { changedAt: changedAt.get(key), isAsked: asked.delete(key) }
  }

  function reconciled(key: Key, { action, outcome, next, also }: ReconcileResult) {
    const wasOvertaken = wereOvertaken.delete(key)
    if (outcome.result === 'done') changedAt.delete(key)
    const isCertain = ['upsert', 'report'].includes(action.type) || action.reason === 'InSync'
    if (outcome.result === 'done' && isCertain && wasOvertaken) store.overtaken.delete(key)
    if (outcome.result !== 'stopped') ending.get(key)?.()
    ending.delete(key)
    if (loop.isLast()) trimHeap(store.catalog?.entries.size ?? 0)
    parts.onRan(action.reason === 'ManifestVanishing')
    for (const other of also) loop.ask(other, 1)
    return next && ({ priority: next.why === 'retry' ? 1 : 2, afterMs: next.afterMs } as const)
  }

  function onRenewed(service: string): void {
    for (const { key, conditions } of board.list()) {
      // Skips synced resources. Also skips pending changes, because `askFor` would send them again.
      const isOther = conditions.Synced.status === 'True' || conditions.Synced.reason === 'Changing'
      if (isOther || serviceQueueOf(store, key) !== service) continue
      askFor(key)
    }
  }

  function askFor(key: Key): void {
    asked.add(key)
    loop.ask(key, 0)
  }

  return {
    ask: (key: Key, priority: Priority) => loop.ask(key, priority),
    /** Asks for a reconcile now. It counts as a person's request, which ends a back-off. */
    askFor,
    /** Stops the current reconcile of the key, then carries out a person's command. */
    async operate(command: OperatorCommand) {
      const { key } = command
      try {
        return await loop.interrupt(key, async () => {
          stopping.signal.throwIfAborted()
          return reconciler.operate(command, stopping.signal)
        })
      } finally {
        loop.ask(key, 0)
      }
    },
    /** @param at when the change was read: monotonic ms */
    noteChange: (key: Key, at: number) => void changedAt.set(key, at),
    queueDepth: () => loop.depth(),
    health: () => loop.health(),
    async stop(deadline: AbortSignal) {
      stopping.abort(new DOMException('Pipewright is stopping', 'AbortError'))
      renewals.stop()
      return loop.stop(deadline)
    },
  }
}

const LOOK_MS = 5_000

/** Reconciles as soon as refused credentials have changed, before the next retry. */
export function createRenewals(
  clock: Clock,
  renewed: ActingParts['renewed'],
  onRenewed: (service: string) => void,
): { stop(): void } {
  let isStopped = false
  let cancel = clock.after(LOOK_MS, () => void look())

  async function look(): Promise<void> {
    for (const service of await renewed()) if (!isStopped) onRenewed(service)
    if (!isStopped) cancel = clock.after(LOOK_MS, () => void look())
  }

  return {
    stop() {
      isStopped = true
      cancel()
    },
  }
}

/** After so many ms, garbage collection can free the memory of the last requests. */
const AFTER_MS = 2_000

const WORTH_IT = 20

/** Collects garbage once, after the first pass, because an idle V8 keeps its memory. */
export function createHeapTrim(
  after: Clock['after'],
  collect: () => void = collectAll,
): (resources: number) => void {
  let done = false
  return (resources) => {
    if (done || resources < WORTH_IT) return
    done = true
    after(AFTER_MS, collect)
  }
}

function collectAll(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void // V8's, with the flag above
  setFlagsFromString('--no-expose-gc')
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
