import type { Entry } from '../../contract/catalog.ts'
import type { Difference } from '../../kinds/difference.ts'
import { kindOf, nameOf, type Key } from '../../kinds/key.ts'
import { isWritten, lifecycleOf } from '../../kinds/lookup.ts'
import { maskSensitive } from '../../kinds/mask.ts'
import { asService } from '../../kinds/service/kind.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import type { Action } from '../../plan/action.ts'
import type { Condition, Conditions } from '../../plan/condition.ts'
import { statusOf } from '../../plan/conditions.ts'
import { messageOf } from '../../plan/reason.ts'
import { blankRecord, type LedgerRecord } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { bestMessage, reasonOf, type ResourceStatus, type StatusBoard } from '../../contract/status.ts'
import type { Observation } from './store.ts'

export interface WritableBoard extends StatusBoard {
  set(status: ResourceStatus): void
  remove(key: Key): void
  /** For each changed or removed key. The last listener counts. */
  listen(listener: (key: Key) => void): void
}

export function createBoard(): WritableBoard {
  const statuses = new Map<Key, ResourceStatus>()
  let sorted: readonly Key[] | undefined
  let listed: readonly ResourceStatus[] | undefined
  let version = 0
  let listener: ((key: Key) => void) | undefined

  function changed(key: Key): void {
    version += 1
    listed = undefined
    listener?.(key)
  }

  return {
    get: (key) => statuses.get(key),
    list() {
      sorted ??= [...statuses.keys()].toSorted()
      listed ??= sorted.flatMap((key) => statuses.get(key) ?? [])
      return listed
    },
    get version() {
      return version
    },
    set(status) {
      if (!statuses.has(status.key)) sorted = undefined
      statuses.set(status.key, status)
      changed(status.key)
    },
    remove(key) {
      if (!statuses.delete(key)) return
      sorted = undefined
      changed(key)
    },
    listen(next) {
      listener = next
    },
  }
}

export function describeStatus(input: {
  readonly key: Key
  readonly entry: Entry | undefined
  readonly record: LedgerRecord
  readonly observation: Observation | undefined
  readonly conditions: Conditions
  readonly action: Action
  readonly differences: readonly Difference[]
  readonly message: string
  readonly manifestRevision: string | undefined
  readonly checkedAt: number | undefined
  readonly lastReconciledAt: number | undefined
  readonly nextReconcileAt: number | undefined
}): ResourceStatus {
  const { key, entry, record, observation, conditions, action, differences, message, manifestRevision } =
    input
  const manifest = entry?.manifest
  return {
    key,
    kind: kindOf(key),
    name: nameOf(key),
    ...(isWritten({ key, manifest, record }) && { isWritten: true as const }),
    labels: manifest?.metadata.labels ?? record.labels ?? entry?.stated?.labels ?? {},
    status: statusOf(conditions),
    conditions,
    action: action.type,
    reason: reasonOf(conditions),
    message,
    differences,
    file: entry?.position.file ?? record.file,
    line: entry?.position.line ?? record.line,
    manifestRevision,
    checkedAt: input.checkedAt,
    service: serviceNameOf(manifest, record) ?? entry?.stated?.service,
    pipeId: record.remote?.id,
    state: observation?.shownState,
    observed: observation?.reply ?? repliedBefore(record),
    lastReconciledAt: input.lastReconciledAt,
    nextReconcileAt: input.nextReconcileAt,
    suspendedUntil:
      manifest !== undefined && 'policy' in manifest ? manifest.policy?.suspend?.until : undefined,
  }
}

function serviceNameOf(manifest: ResourceManifest | undefined, record: LedgerRecord): string | undefined {
  const named = asService(manifest)
  if (named !== undefined) return named.metadata.name
  return (manifest && serviceOf(manifest)) ?? record.service?.name
}

/** An endpoint cannot be read: its last reply is its state. */
function repliedBefore({ upsert }: LedgerRecord): string | undefined {
  return upsert?.reply && JSON.stringify(maskSensitive(upsert.reply))
}

function isToBeCreated(key: Key, entry: Entry | undefined): boolean {
  return (
    entry !== undefined && lifecycleOf({ key, manifest: entry.manifest, record: undefined }) === 'create-once'
  )
}

/** Creates are blocked after a rollback of the ledger. */
function heldBack(key: Key, said: string, since: number): Condition {
  const because = { reason: 'LedgerFailed', facts: { said } } as const
  return { status: 'Unknown', ...because, message: messageOf(because, key), since }
}

const WAITING = { reason: 'Unobserved', facts: { why: 'waiting' } } as const

/** From the ledger, before the key's first reconcile. */
export function seedStatus({ store, clock, ledger }: ReconcileContext, board: WritableBoard, key: Key): void {
  const entry = store.entry(key)
  const record = store.record(key) ?? blankRecord(key)
  const unseen = {
    status: 'Unknown',
    reason: 'Unobserved',
    message: messageOf(WAITING, key),
    since: clock.now(),
  } as const
  const lost = record.conditions === undefined && isToBeCreated(key, entry) ? ledger.rollback : undefined
  const remembered: Conditions = record.conditions ?? {
    Valid: unseen,
    Synced: lost === undefined ? unseen : heldBack(key, lost, clock.now()),
    Ready: unseen,
  }
  const invalid = entry?.state === 'invalid'
  const finding = entry?.findings[0]
  const conditions: Conditions = invalid
    ? {
        ...remembered,
        Valid: {
          status: 'False',
          reason: 'InvalidManifest',
          message: finding === undefined ? 'The manifest has errors.' : `${finding.message} ${finding.hint}`,
          since: remembered.Valid.status === 'False' ? remembered.Valid.since : clock.now(),
          ...(finding && {
            facts: {
              said: `${finding.message} ${finding.hint}`,
              mistake: `${finding.code}: ${finding.message}`,
            },
          }),
        },
      }
    : remembered
  const before = board.get(key)
  board.set(
    describeStatus({
      key,
      entry,
      record,
      observation: store.observation(key),
      conditions,
      action: { type: 'observe', ...WAITING },
      differences: record.differences ?? [],
      message: invalid ? conditions.Valid.message : bestMessage(remembered, remembered.Synced.message),
      manifestRevision: store.manifestRevision(key),
      checkedAt: store.checkedAt(key),
      lastReconciledAt: before?.lastReconciledAt,
      nextReconcileAt: clock.now(),
    }),
  )
}
