import type { Event } from '../../contract/events.ts'
import type { Instruments } from '../instruments.ts'
import type { EventRows } from './event-row.ts'

const FIELDS = ['notificationId', 'reason', 'resources', 'attempt', 'code', 'durationMs'] as const

export const NOTIFICATION_EVENTS = {
  NotificationSent: {
    lines: [
      {
        message: 'Notification sent',
        levels: { debug: 'as before', info: 'the webhook works again' },
        fields: FIELDS,
      },
    ],
    facts: ({ id, ...facts }) => ({ ...facts, notificationId: id }),
    level: ({ recovered }) => (recovered ? 'info' : 'debug'),
    count: countAttempt,
  },
  NotificationFailed: {
    lines: [
      {
        message: 'Notification not sent',
        levels: { debug: 'again', warn: 'the first time' },
        fields: [...FIELDS, 'detail', 'retryInMs'],
      },
    ],
    facts: ({ id, message, ...facts }) => ({ ...facts, notificationId: id, detail: message }),
    level: ({ first }) => (first ? 'warn' : 'debug'),
    count: countAttempt,
  },
  NotificationsForgotten: {
    lines: [
      {
        message: 'Notification state lost',
        levels: { warn: 'after a restart, some notifications can be sent again' },
        fields: ['detail'],
      },
    ],
  },
  NotificationsWaiting: {
    lines: [],
    count: (metrics, { count }) => metrics.notifications_waiting.set(count),
  },
} satisfies EventRows

function countAttempt(
  metrics: Instruments,
  { code }: Extract<Event, { type: 'NotificationSent' | 'NotificationFailed' }>,
): void {
  metrics.notification_requests_total.inc({ code })
}
