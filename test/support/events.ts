import { type Event, NOTHING_SAID_BEFORE } from '../../src/contract/events.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'

/* Events and lines of history, as they are while all is well. */

type Of<T extends Event['type']> = Extract<Event, { readonly type: T }>
type Entry<T extends HistoryEntry['type']> = Extract<HistoryEntry, { readonly type: T }>

export function reconciled(over: Partial<Of<'ReconcileFinished'>> = {}): Of<'ReconcileFinished'> {
  return {
    type: 'ReconcileFinished',
    key: 'Pipe/orders',
    reconcileId: 'rec-1',
    revision: 'abc123',
    manifestRevision: 'abc122',
    action: 'observe',
    because: { reason: 'InSync', facts: { as: 'create-once' } },
    result: 'done',
    requestId: 'req-1',
    durationMs: 1_500,
    changed: false,
    file: 'orders.yaml',
    line: 3,
    changeToApplyMs: undefined,
    ...over,
  }
}

export function loaded(over: Partial<Of<'SourceLoaded'>> = {}): Of<'SourceLoaded'> {
  return {
    type: 'SourceLoaded',
    saidBefore: NOTHING_SAID_BEFORE,
    since: undefined,
    revision: { id: 'abc123', from: 'git' },
    durationMs: 20,
    changed: [],
    removed: 0,
    manifests: { Service: 1, Pipe: 2, QueryEndpoint: 0, Alert: 0, Lock: 0 },
    findings: [],
    problem: undefined,
    missedByWatcher: false,
    ...over,
  }
}

export function createFinished(over: Partial<Of<'CreateFinished'>> = {}): Of<'CreateFinished'> {
  return {
    type: 'CreateFinished',
    key: 'Pipe/orders',
    intentId: 'intent-1',
    outcome: 'created',
    pipeId: 'p-1',
    requestId: 'req-2',
    because: { reason: 'Created', facts: { pipeId: 'p-1' } },
    revision: 'abc123',
    ...over,
  }
}

const COMMON = {
  key: 'Pipe/x',
  at: Date.UTC(2026, 5, 1, 12),
  revision: 'abc',
  requestId: undefined,
  message: '',
} as const

export function conditionEntry(over: Partial<Entry<'condition'>> = {}): Entry<'condition'> {
  return { type: 'condition', condition: 'Synced', status: 'True', reason: 'InSync', ...COMMON, ...over }
}

export function actionEntry(over: Partial<Entry<'action'>> = {}): Entry<'action'> {
  const what = { action: 'create', reason: 'New', result: 'done', intentId: 'i' } as const
  return { type: 'action', ...what, ...COMMON, ...over }
}
