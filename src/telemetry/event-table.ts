import type { Clock } from '../lib/clock.ts'
import type { Event } from '../contract/events.ts'
import type { Instruments } from './instruments.ts'
import { LEVELS, type Level, type LogEntry, type LogField, type LineDefinition } from './log-fields.ts'
import { seconds, type EventRow, type EventRows } from './event-rows/event-row.ts'
import type { LineMemory } from './reading-lines.ts'
import { PROCESS_EVENTS } from './event-rows/process-events.ts'
import { RESOURCE_EVENTS } from './event-rows/resource-events.ts'
import { COMMON_CODES, OTHER } from './metric-definitions.ts'

const REQUEST_EVENTS = {
  RequestFinished: {
    line: {
      message: 'Request finished',
      levels: { debug: 'always' },
      fields: ['operation', 'serviceName', 'code', 'durationMs', 'requestId'],
    },
    count(metrics, { operation, code, durationMs }) {
      metrics.api_requests_total.inc({ operation, code: codeLabel(code) })
      metrics.api_request_duration_seconds.observe({ operation }, seconds(durationMs))
    },
  },
  BudgetWaited: {
    line: {
      message: 'Waited for the request budget',
      levels: { debug: 'always' },
      fields: ['serviceName', 'waitMs'],
    },
    count: (metrics, { waitMs }) => metrics.api_budget_wait_seconds_total.inc(seconds(waitMs)),
  },
  RateLimited: {
    line: {
      message: 'Rate limited by the platform',
      levels: { warn: 'the first time. Requests with these credentials are paused', debug: 'again' },
      fields: ['serviceName', 'retryAfterMs'],
    },
    level: ({ isFirst }) => (isFirst ? 'warn' : 'debug'),
    count: (metrics) => metrics.api_rate_limited_total.inc(),
  },
  RateLimitOver: {
    line: {
      message: 'Rate limit over',
      levels: { info: 'the platform accepts requests: no reply 429 for a minute' },
      fields: ['serviceName', 'replies', 'durationMs'],
    },
  },
  ShortSecretFound: {
    line: {
      message: 'Secret too short to be masked',
      levels: {
        warn: 'the secret has fewer than four characters: logs, messages and the ledger can show it',
      },
      fields: ['file'],
    },
  },
  ListItemsOdd: {
    line: {
      message: 'Items of a list cannot be read',
      levels: { warn: 'they are skipped. A create waits only if an item has the same name' },
      fields: ['serviceName', 'detail'],
    },
    facts: ({ items, ...facts }) => ({ ...facts, detail: items.join('; ') }),
  },
  ServicePaused: {
    line: {
      message: 'Service paused',
      levels: { debug: 'the credentials were refused, or the service is idle: another line reports it' },
      fields: ['serviceName', 'detail'],
    },
  },
  ServiceResumed: {
    line: { message: 'Service resumed', levels: { debug: 'always' }, fields: ['serviceName'] },
  },
} satisfies EventRows

export const EVENTS: { readonly [E in Event as E['type']]: EventRow<E> } = {
  ...PROCESS_EVENTS,
  ...RESOURCE_EVENTS,
  ...REQUEST_EVENTS,
}

export const LINES_LOST = {
  message: 'Log lines lost',
  levels: { warn: 'the reader continues, or the disk has room again' },
  fields: ['lines'],
} as const satisfies LineDefinition

export const LINES: readonly LineDefinition[] = [
  ...Object.values<EventRow<never>>(EVENTS).flatMap(({ line = [], moreLines = [] }) =>
    [line, moreLines].flat(),
  ),
  LINES_LOST,
]

function rowOf(event: Event): EventRow<Event> {
  return EVENTS[event.type] // the row of its own type
}

/** Names in the log of members of events. Log systems use `service` for the program that logs. */
const LOG_NAMES: Readonly<Record<string, LogField>> = {
  error: 'err',
  id: 'notificationId',
  manifests: 'manifestsDir',
  message: 'detail',
  platform: 'baseUrl',
  service: 'serviceName',
}

export function linesOf(
  event: Event,
  memory: LineMemory,
  isLogged: (level: Level) => boolean,
): readonly LogEntry[] {
  const row = rowOf(event)
  if (row.log !== undefined) return row.log(event, memory)
  if (row.line === undefined) return []
  const { message, levels, fields } = row.line
  const level = row.level?.(event) ?? LEVELS.find((one) => one in levels) ?? 'error'
  if (!isLogged(level)) return []
  const facts = Object.entries(row.facts?.(event) ?? event)
    .map(([name, fact]) => [LOG_NAMES[name] ?? name, fact] as const)
    .filter(([name]) => name === 'revision' || fields.some((field) => field === name))
  return [{ level, message, facts: Object.fromEntries(facts) }]
}

export function countEvent(metrics: Instruments, event: Event, clock: Clock): void {
  rowOf(event).count?.(metrics, event, clock)
}

/** Limits the label values, because a platform can send any status. */
function codeLabel(code: string): string {
  return COMMON_CODES.includes(code) || /^[1-5]\d\d$/.test(code) ? code : OTHER
}
