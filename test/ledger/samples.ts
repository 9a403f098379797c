import type { Activity } from '../../src/contract/activity.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { blankRecord, type LedgerRecord, type Remote } from '../../src/plan/record.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { openSqlite, type SqliteLedgerOptions } from '../../src/ledger/open-sqlite-ledger.ts'

/** A time that stands still: a ledger only measures and stamps. */
export const CLOCK: Clock = { now: () => 1_800_000_000_000, monotonic: () => 5, after: () => () => undefined }

/** As its owner, unless the options say otherwise. */
export async function openFile(file: string, options: Partial<SqliteLedgerOptions> = {}): Promise<Ledger> {
  const all = { file, init: 'auto', mode: 'owner', clock: CLOCK, emit: ignore, ...options } as const
  return (await openSqlite(all)).ledger
}

export const ORDERS: Key = 'Pipe/orders'

export const ACTIVITY: Activity = {
  command: 'run',
  process: 12,
  host: 'pod-0',
  startedAt: 1,
  url: 'http://127.0.0.1:8080/',
  revision: 'abc',
}

export function ignore(..._any: readonly unknown[]): void {}

const PIPE: Remote = { id: 'p-1', origin: 'created', at: 1, revision: 'abc', seenAt: 2 }

/** Of the condition that is not well in the next one. */
export const FACTS = { service: 'analytics', wanted: 30, made: 0, limit: 25, until: 4 }

export function fullRecord(key: Key): LedgerRecord {
  const condition = { status: 'True', reason: 'InSync', facts: { as: 'create-once' }, since: 3 } as const
  return {
    key,
    version: 0,
    file: 'teams/a.yaml',
    line: 3,
    service: { name: 'analytics', organizationId: 'o', serviceId: 's' },
    platformName: 'orders',
    remote: PIPE,
    former: {
      remote: { ...PIPE, id: 'p-0', saidGoneAt: 5, refutedAt: 6, seenAs: { name: 'h' } },
      service: { name: 'before', organizationId: 'o', serviceId: 's' },
      platformName: 'orders-before',
      applied: { digest: 'd0', fields: {}, secrets: {} },
    },
    replaced: { count: 2, at: 4 },
    intent: {
      id: 'i-1',
      attempt: 2,
      reason: 'Missing',
      requestDigest: 'd',
      revision: 'abc',
      openedAt: 1,
      sendBy: 2,
      endBy: 3,
      state: 'succeeded',
      seen: { at: 2, requestId: 'r', what: 'the connection was reset', pipeId: 'p-2' },
      saidEarlyAt: 7,
      isAllowed: true,
      earlier: [1, 2],
    },
    upsert: {
      at: 1,
      revision: 'abc',
      requestId: 'r',
      reply: { id: 'e', roles: ['sql_console_admin'], openApiKeys: ['k'], allowedOrigins: '*' },
    },
    applied: { digest: 'd', fields: { 'source.kafka.topics': 'h' }, secrets: { 'source.x': 'h' } },
    backoff: { failures: 3, until: 9, digest: 'd' },
    conditions: {
      Valid: condition,
      Synced: { status: 'False', reason: 'CreateLimit', since: 3, facts: FACTS },
      Ready: condition,
    },
  }
}

export function blank(key: Key, changes: Partial<LedgerRecord> = {}): LedgerRecord {
  return { ...blankRecord(key), ...changes }
}

export function entry(key: Key, message: string): HistoryEntry {
  return {
    type: 'action',
    key,
    at: 1,
    revision: 'abc',
    message,
    action: 'intent',
    reason: 'New',
    result: 'started',
  }
}
