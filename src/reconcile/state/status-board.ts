import type { Entry } from '../../contract/catalog.ts'
import { rememberedConditions, viewOf, type ResourceView, type StatusBoard } from '../../contract/view.ts'
import type { Key } from '../../kinds/key.ts'
import { lifecycleOf } from '../../kinds/lookup.ts'
import type { Condition } from '../../plan/condition.ts'
import { statusOf } from '../../plan/conditions.ts'
import { blankRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'

export interface WritableBoard extends StatusBoard {
  set(view: ResourceView): void
  remove(key: Key): void
  /** Only the last listener counts. */
  listen(listener: (key: Key) => void): void
}

export function createBoard(): WritableBoard {
  const views = new Map<Key, ResourceView>()
  let sorted: readonly Key[] | undefined
  let listed: readonly ResourceView[] | undefined
  let listener: ((key: Key) => void) | undefined

  function changed(key: Key): void {
    listed = undefined
    listener?.(key)
  }

  return {
    get: (key) => views.get(key),
    list() {
      sorted ??= [...views.keys()].toSorted()
      listed ??= sorted.flatMap((key) => views.get(key) ?? [])
      return listed
    },
    set(view) {
      if (!views.has(view.key)) sorted = undefined
      views.set(view.key, view)
      changed(view.key)
    },
    remove(key) {
      if (!views.delete(key)) return
      sorted = undefined
      changed(key)
    },
    listen(next) {
      listener = next
    },
  }
}

/** Shows the recorded status before a reconcile. An edited resource is no longer in sync. */
export function seedStatus({ store, clock, ledger }: ReconcileContext, board: WritableBoard, key: Key): void {
  const now = clock.now()
  const entry = store.entry(key)
  const record = store.record(key) ?? blankRecord(key)
  const remembered = rememberedConditions(record, now)
  const { Valid } = remembered
  const isNew = record.conditions === undefined && entry !== undefined
  const isToBeCreated = isNew && lifecycleOf({ ...entry, record: undefined }) === 'create-once'
  const said = isToBeCreated ? ledger.rollback : undefined
  const isEdited = entry !== undefined && entry.digest !== record.manifest?.digest
  const isStale = isEdited && statusOf(remembered) === 'Ready'
  const since = Valid.status === 'False' ? Valid.since : now
  board.set(
    viewOf({
      entry,
      record,
      observation: store.observation(key),
      conditions: {
        ...remembered,
        ...(isStale && { Synced: rememberedConditions(blankRecord(key), now).Synced }),
        ...(said && { Synced: { status: 'Unknown', reason: 'LedgerFailed', facts: { said }, since: now } }),
        ...(entry?.state === 'invalid' && { Valid: { ...invalidBecause(entry), since } }),
      },
      action: 'observe',
      manifestRevision: store.manifestRevision(key),
      checkedAt: store.checkedAt(key),
      lastReconciledAt: board.get(key)?.lastReconciledAt,
      nextReconcileAt: now,
      dueAt: clock.monotonic(),
    }),
  )
}

function invalidBecause({ findings: [finding] }: Entry): Omit<Condition, 'since'> {
  const invalid = { status: 'False', reason: 'InvalidManifest' } as const
  if (finding === undefined) return invalid
  const said = `${finding.message} ${finding.hint}`
  return { ...invalid, facts: { said, mistake: `${finding.code}: ${finding.message}` } }
}
