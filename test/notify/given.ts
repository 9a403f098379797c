import { type Key, kindOf, nameOf } from '../../src/kinds/key.ts'
import type { Event } from '../../src/contract/events.ts'
import type { Condition } from '../../src/plan/condition.ts'
import type { Status } from '../../src/plan/severity.ts'
import type { Reason } from '../../src/plan/reason.ts'
import type { ResourceStatus } from '../../src/contract/status.ts'
import type { MessageContext } from '../../src/notify/message.ts'
import type { Filter } from '../../src/notify/filter.ts'
import type { Notification } from '../../src/notify/notification.ts'

export const EVERYTHING: Filter = { kinds: [], names: [], labels: {}, severity: 'info' }

export const CONTEXT: MessageContext = {
  version: '9.9.9',
  sandbox: false,
  publicUrl: 'https://pipes.example',
  nextStep: (key) => `Look: pipewright status ${key}`,
}

const REASON_OF: Partial<Record<Status, Reason>> = {
  Ready: 'InSync',
  Suspended: 'Suspended',
  Drifted: 'Drifted',
  Missing: 'Missing',
  Failed: 'Unavailable',
  OutcomeUnknown: 'OutcomeUnknown',
  Progressing: 'MissingUnconfirmed',
  Orphaned: 'Orphaned',
}

/** A resource as the board shows it. */
export function resourceStatus(
  key: Key,
  status: Status,
  over: Partial<Omit<ResourceStatus, 'status'> & Pick<Condition, 'since'>> = {},
): ResourceStatus {
  const {
    message = `it is ${status}`,
    since = 1_000,
    reason = REASON_OF[status] ?? 'Unobserved',
    ...more
  } = over
  const fine: Condition = { status: 'True', reason: 'Healthy', message: 'It exists.', since }
  const synced: Condition = { status: status === 'Ready' ? 'True' : 'False', reason, message, since }
  return {
    key,
    kind: kindOf(key),
    name: nameOf(key),
    labels: {},
    conditions: {
      Valid: { ...fine, reason: 'Valid' },
      Synced: synced,
      Ready: status === 'Ready' ? fine : synced,
    },
    action: 'observe',
    reason,
    message,
    differences: [],
    file: 'orders.yaml',
    line: 3,
    checkedAt: undefined,
    manifestRevision: '4faf373abc0011223344556677889900aabbccdd',
    service: undefined,
    pipeId: undefined,
    state: undefined,
    observed: undefined,
    lastReconciledAt: undefined,
    nextReconcileAt: undefined,
    suspendedUntil: undefined,
    ...more,
    status,
  }
}

export function item(over: Partial<Notification> = {}): Notification {
  return {
    id: 'n-1',
    key: 'Pipe/orders',
    change: 'bad',
    severity: 'warning',
    labels: {},
    status: 'Drifted',
    condition: 'Synced',
    reason: 'Drifted',
    message: 'scaling.replicas differs',
    before: undefined,
    since: 1_000,
    changes: 1,
    revision: '4faf373abc0011223344556677889900aabbccdd',
    file: 'orders.yaml',
    line: 3,
    pipeId: undefined,
    ...over,
  }
}

export type Of<T extends Event['type']> = Extract<Event, { type: T }>

export function eventsOf<T extends Event['type']>(events: readonly Event[], type: T): readonly Of<T>[] {
  return events.filter((event): event is Of<T> => event.type === type)
}
