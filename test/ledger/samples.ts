import type { Key } from '../../src/kinds/key.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import type { HistoryEntry } from '../../src/reconcile/history.ts'

/** A time that stands still: a ledger only measures and stamps. */
export const CLOCK: Clock = { now: () => 1_800_000_000_000, monotonic: () => 5, after: () => () => undefined }

export const ORDERS: Key = 'Pipe/orders'

export function ignore(): void {}

/** A record with every field set. */
export function fullRecord(key: Key): LedgerRecord {
  const condition = { status: 'True', reason: 'InSync', message: 'as asked', since: 3 } as const
  return {
    key,
    version: 0,
    file: 'teams/a.yaml',
    line: 3,
    service: { name: 'analytics', organizationId: 'o', serviceId: 's' },
    platformName: 'orders',
    pipe: { id: 'p-1', origin: 'created', at: 1, revision: 'abc', requestId: undefined },
    intent: {
      id: 'i-1',
      attempt: 2,
      requestDigest: 'd',
      revision: 'abc',
      openedAt: 1,
      state: 'succeeded',
      seen: { at: 2, httpStatus: undefined, requestId: 'r', what: 'the connection was reset' },
    },
    upsert: {
      at: 1,
      revision: 'abc',
      requestId: 'r',
      reply: { id: 'e', roles: ['sql_console_admin'], openApiKeys: ['k'], allowedOrigins: '*' },
    },
    applied: { digest: 'd', fields: { 'source.kafka.topics': 'h' }, secrets: { 'source.x': 'h' } },
    misses: { count: 1, firstAt: 1, lastAt: 2 },
    backoff: { failures: 3, until: 9, digest: 'd' },
    conditions: { Valid: condition, Synced: condition, Ready: condition },
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
    requestId: undefined,
    message,
    action: 'intent',
    reason: 'New',
    result: 'started',
    intentId: undefined,
  }
}
