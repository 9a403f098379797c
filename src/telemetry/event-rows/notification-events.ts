import type { Event } from '../../contract/events.ts'
import type { Instruments } from '../instruments.ts'
import type { EventRows } from './event-row.ts'

/** Notifications. */
export const NOTIFICATION_EVENTS = {
  NotificationSent: {
    lines: [
      {
        message: 'Notification sent',
        levels: { debug: 'as before', info: 'the target is reached again' },
        fields: ['target', 'notificationId', 'resources', 'attempt', 'code', 'durationMs'],
      },
    ],
    facts: ({ id, news, ...facts }) => ({ ...facts, notificationId: id, resources: news }),
    level: ({ recovered }) => (recovered ? 'info' : 'debug'),
    count: countAttempt,
  },
  NotificationFailed: {
    lines: [
      {
        message: 'Notification not sent',
        levels: {
          debug: 'again',
          warn: 'the first time; it is tried again',
          error: 'it was refused, and is not tried again',
        },
        fields: [
          'target',
          'notificationId',
          'resources',
          'attempt',
          'code',
          'durationMs',
          'detail',
          'retryInMs',
        ],
      },
    ],
    facts: ({ id, news, message, ...facts }) => ({
      ...facts,
      notificationId: id,
      resources: news,
      detail: message,
    }),
    level({ retryInMs, first }) {
      if (retryInMs === undefined) return 'error'
      return first ? 'warn' : 'debug'
    },
    count: countAttempt,
  },
  NotificationsForgotten: {
    lines: [
      {
        message: 'Notification state lost',
        levels: { warn: 'after a restart, some notifications may be sent again' },
        fields: ['detail'],
      },
    ],
  },
  NotificationsSettled: {
    lines: [],
    count: (metrics, { target, result, count }) => metrics.notifications_total.inc({ target, result }, count),
  },
  NotificationsWaiting: {
    lines: [],
    count: (metrics, { target, count }) => metrics.notifications_waiting.set({ target }, count),
  },
} satisfies EventRows

function countAttempt(
  metrics: Instruments,
  { target, code }: Extract<Event, { type: 'NotificationSent' | 'NotificationFailed' }>,
): void {
  metrics.notification_requests_total.inc({ target, code })
}
