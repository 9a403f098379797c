import type { Event } from '../contract/events.ts'
import { line, LINES, SILENT_EVENTS, type Line, type LineDefinition } from './log-lines.ts'

/** Readings and their failures repeat themselves; see `reading-lines.ts`. */
export type PlainEvent = Exclude<Event, { type: 'SourceLoaded' | 'SourceFailed' }>

/**
 * The line of an event that is logged whenever it happens, or `undefined` when it is only counted.
 * Info: something changed. Warn: something stands in the way. Error: our fault, or a person is needed.
 */
export function lineOf(event: PlainEvent): Line | undefined {
  switch (event.type) {
    case 'ReconcileFinished': {
      const { type: _, message, changed, ...facts } = event
      // The words of an unknown outcome are long, and the line of the create has just said them.
      const detail = event.action === 'create' && event.result === 'unknown' ? undefined : message
      return line('reconciled', changed ? changedLevel(event.result) : 'debug', { ...facts, detail })
    }
    case 'ConditionChanged':
      return line('condition', isToldByReconcile(event) ? 'debug' : 'info', {
        key: event.key,
        condition: event.condition,
        status: event.after.status,
        before: event.before?.status,
        reason: event.after.reason,
        detail: event.after.reason === 'OutcomeUnknown' ? undefined : event.after.message,
        revision: event.revision,
        file: event.file,
        line: event.line,
      })
    case 'CreateStarted': {
      const { type: _, ...facts } = event
      return line('creating', 'info', facts)
    }
    case 'CreateFinished': {
      const { type: _, message, ...facts } = event
      return line('created', CREATE_LEVELS[event.outcome], { ...facts, detail: message })
    }
    case 'Observed':
      return line('observed', 'debug', {
        key: event.key,
        state: event.state,
        differs: event.differences.map(({ field }) => field),
      })
    case 'Forgotten':
      return line('forgotten', 'info', { key: event.key })
    case 'RequestFinished': {
      const { type: _, ...facts } = event
      return line('request', 'debug', facts)
    }
    case 'BudgetWaited':
      return line('budget', 'debug', { service: event.service, waitMs: event.waitMs })
    case 'RateLimited':
      return line('rateLimited', 'warn', { service: event.service, retryAfterMs: event.retryAfterMs })
    case 'ServicePaused':
      return line('paused', 'warn', { service: event.service, detail: event.message })
    case 'ServiceResumed':
      return line('resumed', 'info', { service: event.service })
    case 'WatchModeChanged':
      return line('watchMode', event.mode === 'polling' ? 'warn' : 'info', {
        mode: event.mode,
        detail: event.message,
      })
    case 'LedgerWritten':
      return line('ledger', LEDGER_LEVELS[event.result], {
        result: event.result,
        durationMs: event.durationMs,
        detail: event.message,
      })
    case 'CreateLimitChanged':
      return line('brake', event.on ? 'warn' : 'info', {
        on: event.on,
        wanted: event.wanted,
        limit: event.limit,
      })
    case 'NotificationSent': {
      const { type: _, recovered, ...facts } = event
      return line('notified', recovered ? 'info' : 'debug', facts)
    }
    case 'NotificationFailed': {
      const { type: _, message, first, ...facts } = event
      const lost = event.retryInMs === undefined
      return line('notNotified', lost ? 'error' : first ? 'warn' : 'debug', { ...facts, detail: message })
    }
    case 'NotificationsForgotten':
      return line('notRemembered', 'warn', { detail: event.message })
    case 'Started': {
      const { type: _, ...facts } = event
      return line('started', 'info', facts)
    }
    case 'FailpointSet':
      return line('failpoint', 'warn', { failpoint: event.failpoint })
    case 'Stopping':
      return line('stopping', 'info', { signal: event.signal })
    case 'Stopped':
      return line('stopped', event.unfinished > 0 ? 'warn' : 'info', { unfinished: event.unfinished })
    case 'OutcomeLost': {
      const { type: _, message, ...facts } = event
      return line('outcomeLost', 'error', { ...facts, detail: message })
    }
    case 'Bug':
      return line('bug', 'error', { detail: event.message, err: event.error })
    case 'QueueChanged':
    case 'QueueWaited':
    case 'NotificationsSettled':
    case 'NotificationsWaiting':
      break // only counted: there are too many
  }
  return undefined
}

/** Events that have no line, or only one for debugging. */
const DETAILS: ReadonlySet<Event['type']> = new Set([
  ...SILENT_EVENTS,
  ...Object.values<LineDefinition>(LINES)
    .filter(({ levels }) => Object.keys(levels).join() === 'debug')
    .map(({ event }) => event),
])

/** Whether the line of an event, if it has one, is for debugging: of most events nothing need be made where nobody does. */
export function isDetail(event: Event): boolean {
  return event.type === 'ReconcileFinished' ? !event.changed : DETAILS.has(event.type)
}

/** The first conditions of a resource stand in the line of its reconcile; but for its health, which that says nothing of. */
function isToldByReconcile({ before, after }: Extract<Event, { type: 'ConditionChanged' }>): boolean {
  return before === undefined && after.reason !== 'UnhealthyState'
}

/** A conflict means that somebody else wrote first; it is decided anew. */
const LEDGER_LEVELS = { written: 'debug', conflict: 'info', failed: 'error' } as const

const CREATE_LEVELS = { created: 'info', failed: 'warn', unknown: 'error' } as const

function changedLevel(result: Extract<Event, { type: 'ReconcileFinished' }>['result']): 'warn' | 'info' {
  return result === 'failed' || result === 'unknown' ? 'warn' : 'info'
}
