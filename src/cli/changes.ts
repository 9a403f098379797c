import type { Event } from '../reconcile/events.ts'
import type { Change } from '../server/change.ts'

/** Tells the page's live connections that something shown is other than before. */
export interface Changes {
  /** @param more what is shown otherwise beside what the event itself says */
  tell(event: Event, more: readonly Change[]): void
  subscribe(listener: (change: Change) => void): () => void
}

export function createChanges(): Changes {
  const listeners = new Set<(change: Change) => void>()
  return {
    tell(event, more) {
      for (const change of changesOf(event)) for (const listener of listeners) listener(change)
      for (const change of more) for (const listener of listeners) listener(change)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function changesOf(event: Event): readonly Change[] {
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
    case 'BrakeChanged':
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
