import { COMMON_CODES, OTHER } from '../metric-definitions.ts'
import { seconds, type EventRows } from './event-row.ts'

/** Requests to the platform, and what holds them up. */
export const REQUEST_EVENTS = {
  RequestFinished: {
    lines: [
      {
        message: 'Request finished',
        levels: { debug: 'always' },
        fields: ['operation', 'service', 'code', 'durationMs', 'requestId'],
      },
    ],
    count(metrics, { operation, code, durationMs }) {
      metrics.api_requests_total.inc({ operation, code: codeLabel(code) })
      metrics.api_request_duration_seconds.observe({ operation }, seconds(durationMs))
    },
  },
  BudgetWaited: {
    lines: [
      {
        message: 'Waited for the request budget',
        levels: { debug: 'always' },
        fields: ['service', 'waitMs'],
      },
    ],
    count: (metrics, { waitMs }) => metrics.api_budget_wait_seconds_total.inc(seconds(waitMs)),
  },
  RateLimited: {
    lines: [
      {
        message: 'Rate limited by the platform',
        levels: { warn: 'always' },
        fields: ['service', 'retryAfterMs'],
      },
    ],
    count: (metrics) => metrics.api_rate_limited_total.inc(),
  },
  ServicePaused: {
    lines: [
      {
        message: 'Service paused',
        levels: { warn: 'its credentials were refused, or it is idle' },
        fields: ['service', 'detail'],
      },
    ],
  },
  ServiceResumed: {
    lines: [
      {
        message: 'Service resumed',
        levels: { info: 'always' },
        fields: ['service'],
      },
    ],
  },
} satisfies EventRows

/** A platform may answer with any number; only what can be a status becomes a label value. */
function codeLabel(code: string): string {
  return COMMON_CODES.includes(code) || /^[1-5]\d\d$/.test(code) ? code : OTHER
}
