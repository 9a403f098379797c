import { COMMON_CODES, OTHER } from '../metric-definitions.ts'
import type { Facts } from '../log-fields.ts'
import { seconds, type EventRows } from './event-row.ts'

export const REQUEST_EVENTS = {
  RequestFinished: {
    line: {
      message: 'Request finished',
      levels: { debug: 'always' },
      fields: ['operation', 'serviceName', 'code', 'durationMs', 'requestId'],
    },
    facts: named,
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
    facts: named,
    count: (metrics, { waitMs }) => metrics.api_budget_wait_seconds_total.inc(seconds(waitMs)),
  },
  RateLimited: {
    line: {
      message: 'Rate limited by the platform',
      levels: { warn: 'the first time. Requests with these credentials are paused', debug: 'again' },
      fields: ['serviceName', 'retryAfterMs'],
    },
    level: ({ isFirst }) => (isFirst ? 'warn' : 'debug'),
    facts: named,
    count: (metrics) => metrics.api_rate_limited_total.inc(),
  },
  RateLimitOver: {
    line: {
      message: 'Rate limit over',
      levels: { info: 'the platform accepts requests: no reply 429 for a minute' },
      fields: ['serviceName', 'replies', 'durationMs'],
    },
    facts: named,
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
    facts: ({ items, ...facts }) => ({ ...named(facts), detail: items.join('; ') }),
  },
  ServicePaused: {
    line: {
      message: 'Service paused',
      levels: { debug: 'the credentials were refused, or the service is idle: another line reports it' },
      fields: ['serviceName', 'detail'],
    },
    facts: ({ message, ...facts }) => ({ ...named(facts), detail: message }),
  },
  ServiceResumed: {
    line: { message: 'Service resumed', levels: { debug: 'always' }, fields: ['serviceName'] },
    facts: named,
  },
} satisfies EventRows

/** Limits the label values, because a platform can send any status. */
function codeLabel(code: string): string {
  return COMMON_CODES.includes(code) || /^[1-5]\d\d$/.test(code) ? code : OTHER
}

/** Renames `service`, because log systems use this name for the program that logs. */
function named({ service, ...facts }: { readonly service: string }): Facts {
  return { ...facts, serviceName: service }
}
