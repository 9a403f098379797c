import { runStateOf, type Activity, type RunState, type WholeFacts } from '../contract/activity.ts'
import { createProblemTracker } from '../reconcile/state/problem-tracker.ts'
import type { CommandContext } from '../server/command-line.ts'
import { commandContext, settingsOfDaemon, type Here } from './command-context.ts'
import { nobody } from './io.ts'
import { sentence } from '../plan/reasons/row.ts'
import type { Ledger } from '../contract/ledger.ts'
import type { Clock } from '../lib/clock.ts'
import { bestMessage, reasonOf, sinceOf, tellingCondition, type ResourceStatus } from '../contract/status.ts'
import type { Difference } from '../kinds/difference.ts'
import { kindOf, nameOf, type Key } from '../kinds/key.ts'
import { isReference } from '../kinds/lookup.ts'
import type { Conditions } from '../plan/condition.ts'
import { statusOf } from '../plan/conditions.ts'
import { messageOf, type Reason } from '../plan/reason.ts'
import type { Intent, LedgerRecord, RecordedUpsert } from '../plan/record.ts'
import type { Status } from '../plan/severity.ts'

/** As commands show it. Times are ms since the epoch. */
export interface ResourceView {
  readonly key: Key
  readonly kind: string
  readonly status: Status
  readonly reason: Reason
  readonly message: string
  /** Since when the status holds. */
  readonly since: number
  /** Id. Undefined: no problem, or an older daemon. */
  readonly problem?: string | undefined
  /** Last answer of the platform. Undefined: never, or recorded by an earlier version. */
  readonly checkedAt: number | undefined
  /** False: only the daemon knows the time of the check. */
  readonly isCheckKnown?: false
  readonly labels: Readonly<Record<string, string>>
  readonly service: string | undefined
  readonly pipeId: string | undefined
  readonly file: string | undefined
  readonly line: number | undefined
  readonly manifestRevision: string | undefined
  /** Differences of the last read. */
  readonly differences: readonly Difference[]
  readonly conditions: Conditions
  readonly intent?: Intent | undefined
  readonly lastUpsert?: RecordedUpsert | undefined
}

/** The ledger's last or current process. */
export interface DaemonView {
  readonly state: RunState
  /** A server does not name its process. */
  readonly last: (Omit<Activity, 'process' | 'host'> & Partial<Activity>) | undefined
}

/** From ledger or server. */
export interface StatusReading {
  /** ms since the epoch, by the source's clock. */
  readonly now: number
  readonly daemon: DaemonView
  /** Problems beyond single resources. */
  readonly whole: WholeFacts
  readonly here: CommandContext
  readonly resources: readonly ResourceView[]
}

/** Also beside a daemon. @throws {LedgerError} */
export async function readLedgerStatus(ledger: Ledger, settings: Here, clock: Clock): Promise<StatusReading> {
  const now = clock.now()
  const { last, checkedAt } = await ledger.activity()
  const records = await ledger.list()
  return {
    now,
    whole: { ...last, ...(ledger.rollback !== undefined && { problem: sentence(ledger.rollback) }) },
    here: commandContext(settingsOfDaemon(settings, last)),
    daemon: { state: runStateOf(last, await ledger.owned(), now), last },
    resources: withProblems(
      records.map((record) => ({
        ...viewOfRecord(record, checkedAt?.get(record.key)),
        ...(checkedAt === undefined && { isCheckKnown: false as const }),
      })),
      clock,
    ),
  }
}

/** Without a daemon, a tracker of its own finds the problems. */
export function withProblems(resources: readonly ResourceView[], clock: Clock): readonly ResourceView[] {
  const byKey = new Map(resources.map((resource) => [resource.key, resource]))
  const board = { get: (key: Key) => byKey.get(key), list: () => resources }
  const problems = createProblemTracker({ clock, emit: nobody }, board)
  return resources.map((resource) => ({ ...resource, problem: problems.of(resource.key)?.id }))
}

function viewOfRecord(record: LedgerRecord, checkedAt: number | undefined): ResourceView {
  const { key, file, line, remote, intent, upsert } = record
  const conditions = record.conditions ?? unseen(key, intent)
  const reason = reasonOf(conditions)
  const telling = tellingCondition({ conditions, reason })
  return {
    key,
    kind: kindOf(key),
    status: statusOf(conditions),
    reason,
    message: bestMessage(conditions, telling.message),
    since: telling.since,
    checkedAt,
    labels: record.labels ?? {},
    service: record.service?.name ?? (isReference(key) ? nameOf(key) : undefined),
    pipeId: remote?.id,
    file,
    line,
    manifestRevision: record.manifest?.revision,
    differences: record.differences ?? [],
    conditions,
    intent,
    lastUpsert: upsert,
  }
}

export function viewOfStatus(
  status: Omit<ResourceStatus, 'observed'> & Pick<ResourceView, 'problem'>,
): ResourceView {
  return { ...status, since: sinceOf(status) }
}

/** @param intent of a create in flight, or interrupted by the end of its process */
function unseen(key: Key, intent: Intent | undefined): Conditions {
  const why = intent?.state === 'open' ? 'creating' : 'waiting'
  const condition = {
    status: 'Unknown',
    reason: 'Unobserved',
    message: messageOf({ reason: 'Unobserved', facts: { why } }, key),
    since: 0,
  } as const
  return { Valid: condition, Synced: condition, Ready: condition }
}
