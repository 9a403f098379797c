import type { Key } from '../kinds/key.ts'
import type { Event } from '../contract/events.ts'

/** Something that is shown is other than before. */
export interface Change {
  readonly type: (typeof CHANGE_TYPES)[number]
  /** Empty: not about single resources. */
  readonly keys: readonly Key[]
}

export const CHANGE_TYPES = ['resources', 'source', 'history'] as const

/** What is shown otherwise because of an event, whatever came before it. */
export function changesOf(event: Event): readonly Change[] {
  switch (event.type) {
    case 'ReconcileFinished':
      return event.changed
        ? [
            { type: 'resources', keys: [event.key] },
            { type: 'history', keys: [event.key] },
          ]
        : []
    case 'ConditionChanged':
      return [{ type: 'resources', keys: [event.key] }]
    case 'Forgotten':
      return [{ type: 'resources', keys: [event.key] }]
    case 'SourceLoaded':
      return event.changed.length > 0 || event.missedByWatcher
        ? [
            { type: 'source', keys: [] },
            { type: 'resources', keys: event.changed },
          ]
        : [{ type: 'source', keys: [] }]
    case 'SourceFailed':
    case 'CreateLimitChanged':
    case 'WatchModeChanged':
      return [{ type: 'source', keys: [] }]
    case 'CreateStarted':
    case 'CreateFinished':
    case 'Observed':
    case 'RequestFinished':
    case 'BudgetWaited':
    case 'RateLimited':
    case 'ServicePaused':
    case 'ServiceResumed':
    case 'LedgerWritten':
    case 'QueueChanged':
    case 'QueueWaited':
    case 'Started':
    case 'Stopping':
    case 'Stopped':
    case 'OutcomeLost':
    case 'NotificationSent':
    case 'NotificationFailed':
    case 'NotificationsSettled':
    case 'NotificationsWaiting':
    case 'NotificationsForgotten':
    case 'FailpointSet':
    case 'Bug':
      return []
  }
}
