import { runStateOf, type Activity, type RunState, type WholeFacts } from '../contract/activity.ts'
import type { CommandContext } from '../server/command-line.ts'
import { commandContext, settingsOfDaemon, type Here } from './command-context.ts'
import { sentence } from '../plan/reasons/row.ts'
import type { Ledger } from '../contract/ledger.ts'
import { bestMessage, reasonOf, sinceOf, tellingCondition, type ResourceStatus } from '../contract/status.ts'
import type { Difference } from '../kinds/difference.ts'
import { kindOf, nameOf, type Key } from '../kinds/key.ts'
import { isReference } from '../kinds/lookup.ts'
import type { Conditions } from '../plan/condition.ts'
import { statusOf } from '../plan/conditions.ts'
import { messageOf, type Reason } from '../plan/reason.ts'
import type { Intent, LedgerRecord, RecordedUpsert } from '../plan/record.ts'
import type { Status } from '../plan/severity.ts'

/** What a command shows of one resource. Times are ms since the epoch. */
export interface ResourceView {
  readonly key: Key
  readonly kind: string
  readonly status: Status
  readonly reason: Reason
  readonly message: string
  /** Since when it has its status. */
  readonly since: number
  /** When the platform last answered for it. Undefined: never, or an earlier version did not keep it. */
  readonly checkedAt: number | undefined
  /** False: only the process that checks it knows when it did. */
  readonly isCheckKnown?: false
  readonly labels: Readonly<Record<string, string>>
  readonly service: string | undefined
  readonly pipeId: string | undefined
  readonly file: string | undefined
  readonly line: number | undefined
  readonly manifestRevision: string | undefined
  /** The fields that differed when it was last read. */
  readonly differences: readonly Difference[]
  readonly conditions: Conditions
  readonly intent?: Intent | undefined
  readonly lastUpsert?: RecordedUpsert | undefined
}

/** The process that works with the ledger, or did last. */
export interface DaemonView {
  readonly state: RunState
  /** A server does not say which process it is. */
  readonly last: (Omit<Activity, 'process' | 'host'> & Partial<Activity>) | undefined
}

/** Everything that `status` shows, from whatever source. */
export interface StatusReading {
  /** By the clock of who was asked: ms since the epoch. */
  readonly now: number
  readonly daemon: DaemonView
  /** What is wrong with the whole, or not known yet. */
  readonly whole: WholeFacts
  /** What a command has to name for whoever works with it. */
  readonly here: CommandContext
  readonly resources: readonly ResourceView[]
}

/** What a ledger says, also while a daemon works with it. @throws {LedgerError} */
export async function readLedgerStatus(ledger: Ledger, settings: Here, now: number): Promise<StatusReading> {
  const { last, checkedAt } = await ledger.activity()
  const records = await ledger.list()
  return {
    now,
    whole: { ...last, ...(ledger.putBack !== undefined && { problem: sentence(ledger.putBack) }) },
    here: commandContext(settingsOfDaemon(settings, last)),
    daemon: { state: runStateOf(last, await ledger.owned(), now), last },
    resources: records.map((record) => ({
      ...viewOfRecord(record, checkedAt?.get(record.key)),
      ...(checkedAt === undefined && { isCheckKnown: false as const }),
    })),
  }
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

/** What a board says of a resource. */
export function viewOfStatus(status: Omit<ResourceStatus, 'observed'>): ResourceView {
  return { ...status, since: sinceOf(status) }
}

/** @param intent of a create that is under way, or was when its process ended */
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
