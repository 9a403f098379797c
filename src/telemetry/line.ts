import type { Event } from '../reconcile/events.ts'

/** What stands in the log about one event. */
export interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** Constant: one for each type of event. */
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** Readings and their failures repeat themselves; see `reading-lines.ts`. */
export type PlainEvent = Exclude<Event, { type: 'SourceLoaded' | 'SourceFailed' }>

/**
 * The line of an event that is told whenever it happens, or `undefined` when it is only counted.
 * Info: something changed. Warn: something stands in the way. Error: our fault, or a person is needed.
 */
export function lineOf(event: PlainEvent): Line | undefined {
  switch (event.type) {
    case 'ReconcileFinished': {
      const { type: _, message, changed, ...facts } = event
      return line(changed ? changedLevel(event.result) : 'debug', 'Reconciled', { ...facts, detail: message })
    }
    case 'ConditionChanged':
      // The first conditions of a resource stand in the line of its reconcile.
      return line(event.before === undefined ? 'debug' : 'info', 'Condition changed', {
        key: event.key,
        condition: event.condition,
        status: event.after.status,
        before: event.before?.status,
        reason: event.after.reason,
        detail: event.after.message,
        revision: event.revision,
        file: event.file,
        line: event.line,
      })
    case 'CreateStarted': {
      const { type: _, ...facts } = event
      return line('info', 'Creating a pipe', facts)
    }
    case 'CreateFinished': {
      const { type: _, message, ...facts } = event
      return line(createLevel(event.outcome), 'Create finished', { ...facts, detail: message })
    }
    case 'Observed':
      return line('debug', 'Observed', {
        key: event.key,
        state: event.state,
        differs: event.differences.map(({ field }) => field),
      })
    case 'Forgotten':
      return line('info', 'Forgotten', { key: event.key })
    case 'RequestFinished': {
      const { type: _, ...facts } = event
      return line('debug', 'Request finished', facts)
    }
    case 'BudgetWaited':
      return line('debug', 'Waited for the request budget', { service: event.service, waitMs: event.waitMs })
    case 'RateLimited':
      return line('warn', 'The platform asked us to slow down', {
        service: event.service,
        retryAfterMs: event.retryAfterMs,
      })
    case 'ServicePaused':
      return line('warn', 'Service paused', { service: event.service, detail: event.message })
    case 'ServiceResumed':
      return line('info', 'Service resumed', { service: event.service })
    case 'WatchModeChanged':
      return line(event.mode === 'polling' ? 'warn' : 'info', 'Watch mode changed', {
        mode: event.mode,
        detail: event.message,
      })
    case 'LedgerWritten':
      return line(LEDGER_LEVELS[event.result], 'Ledger written', {
        result: event.result,
        durationMs: event.durationMs,
        detail: event.message,
      })
    case 'BrakeChanged':
      return line(event.on ? 'warn' : 'info', 'Create brake changed', {
        on: event.on,
        wanted: event.wanted,
        limit: event.limit,
      })
    case 'Started': {
      const { type: _, ...facts } = event
      return line('info', 'Started', facts)
    }
    case 'FailpointSet':
      return line('warn', 'A failpoint is set: this process is made to fail, for a test', {
        failpoint: event.failpoint,
      })
    case 'Stopping':
      return line('info', 'Stopping', { signal: event.signal })
    case 'Stopped':
      return line(event.unfinished > 0 ? 'warn' : 'info', 'Stopped', { unfinished: event.unfinished })
    case 'Bug':
      return line('error', 'Bug', { detail: event.message, err: event.error })
    case 'QueueChanged':
    case 'QueueWaited':
      break // only counted: there are too many
  }
  return undefined
}

/** A conflict means that somebody else wrote first; it is decided anew. */
const LEDGER_LEVELS = { written: 'debug', conflict: 'info', failed: 'error' } as const

function changedLevel(result: Extract<Event, { type: 'ReconcileFinished' }>['result']): Line['level'] {
  return result === 'failed' || result === 'unknown' ? 'warn' : 'info'
}

function createLevel(outcome: Extract<Event, { type: 'CreateFinished' }>['outcome']): Line['level'] {
  if (outcome === 'unknown') return 'error'
  return outcome === 'failed' ? 'warn' : 'info'
}

export function line(level: Line['level'], message: string, facts: Line['facts']): Line {
  return { level, message, facts }
}
