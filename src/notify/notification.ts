import { capital, nounOf } from '../kinds/lookup.ts'
import type { Key } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import type { ConditionType } from '../plan/condition.ts'
import { STATUSES, type Status, type Severity } from '../plan/severity.ts'
import type { Reason } from '../plan/reason.ts'
import type { ResourceStatus } from '../contract/status.ts'
import type { AlertState } from './alert-state.ts'
import type { SentAlert } from './sent-state.ts'

/** `bad`: it turned bad, or is bad for another reason. `good`: the problem is over. `forgotten`: nobody expects it any more. */
export const CHANGES = ['bad', 'created', 'good', 'forgotten'] as const

/** What there is to say about one resource. */
export interface Notification {
  /** The same for the same content, also after a restart: receivers know a repetition by it. */
  readonly id: string
  readonly key: Key
  readonly change: (typeof CHANGES)[number]
  /** Of what was sent before, when that is over: who heard of a problem hears of its end. */
  readonly severity: Severity
  readonly labels: Readonly<Record<string, string>>
  /** `undefined` when it is forgotten. */
  readonly status: Status | undefined
  readonly condition: ConditionType | undefined
  readonly reason: Reason | undefined
  readonly message: string
  /** What was sent about it last; `undefined` when nothing was, or that it is well. */
  readonly before: { readonly status: Status; readonly reason: Reason } | undefined
  /** Since when it is so: ms since the epoch. */
  readonly since: number
  /** How often it changed since the last notification; more than 1: it flaps. */
  readonly changes: number
  readonly revision: string | undefined
  readonly file: string | undefined
  readonly line: number | undefined
  readonly pipeId: string | undefined
}

export function notificationId(parts: readonly (string | number | undefined)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32)
}

const TURNED: Readonly<Record<Status, string>> = {
  OutcomeUnknown: 'may or may not have been created',
  Invalid: 'has errors in its manifest',
  Missing: 'is missing on the platform',
  Failed: 'failed',
  Refused: 'was refused',
  Drifted: 'has drifted',
  NotReady: 'is not ready',
  Orphaned: 'has no manifest any more',
  Suspended: 'is suspended',
  Progressing: 'is in progress',
  Ready: 'is ready',
}

/** What happened, without why. */
export function sentenceOf({ key, change, status, before, changes }: Notification): string {
  const often = changes > 2 ? `, after ${changes} changes` : ''
  switch (change) {
    case 'created':
      return `${key} was created.`
    case 'forgotten':
      return `${key} was forgotten.`
    case 'bad':
      return `${key} ${TURNED[status ?? 'Failed']}${often}.`
    case 'good': {
      if (status === 'Ready') return `${key} is ready again${often}.`
      const now = TURNED[status ?? 'Ready']
      return before === undefined
        ? `${key} ${now}.`
        : `${key} is no longer ${before.status}: it ${now}${often}.`
    }
  }
}

/** The first sentence of a message about many. */
export function summaryOf(notifications: readonly Notification[]): string {
  const [only, ...more] = notifications
  if (only !== undefined && more.length === 0) return sentenceOf(only)
  const count = (change: Notification['change']) =>
    notifications.filter((item) => item.change === change).length
  const [bad, good, created] = [count('bad'), count('good') + count('forgotten'), count('created')]
  const parts = [
    bad > 0 ? `${bad} ${bad === 1 ? 'resource needs' : 'resources need'} attention` : '',
    good > 0 ? `${good} ${good === 1 ? 'problem is' : 'problems are'} over` : '',
    created > 0 ? `${created} ${created === 1 ? 'resource was' : 'resources were'} created` : '',
  ].filter((part) => part !== '')
  const text = parts.join(', ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}

/** A pipe that was created. */
export interface Creation {
  readonly key: Key
  readonly pipeId: string | undefined
  /** ms since the epoch. */
  readonly at: number
  readonly revision: string
}

export function createdNotification(
  { key, pipeId, at, revision }: Creation,
  status: ResourceStatus,
): Notification {
  const noun = nounOf(key)
  return {
    id: notificationId([key, 'created', pipeId]),
    key,
    change: 'created',
    severity: 'info',
    labels: status.labels,
    status: status.status,
    condition: undefined,
    reason: 'Created',
    message: pipeId === undefined ? `The ${noun} was created.` : `${capital(noun)} ${pipeId} was created.`,
    before: undefined,
    since: at,
    changes: 1,
    revision,
    file: status.file,
    line: status.line,
    pipeId,
  }
}

/** A resource whose state is not the one that was sent. */
export function stateNotification(
  status: ResourceStatus,
  alert: AlertState,
  { before, isBad, changes }: { before: SentAlert | undefined; isBad: boolean; changes: number },
): Notification {
  const { key, labels, manifestRevision: revision, file, line, pipeId } = status
  const { condition, reason, message, since, state } = alert
  const change = isBad ? 'bad' : 'good'
  return {
    id: notificationId([key, change, state, since]),
    key,
    change,
    severity: isBad || before === undefined ? alert.severity : before.severity,
    labels,
    status: status.status,
    condition,
    reason,
    message,
    before: before === undefined ? undefined : { status: before.status, reason: before.reason },
    since,
    changes,
    revision,
    file,
    line,
    pipeId,
  }
}

/** A problem that was sent, of a resource that is no longer there. */
export function forgottenNotification(key: Key, before: SentAlert): Notification {
  return {
    id: notificationId([key, 'forgotten', before.state]),
    key,
    change: 'forgotten',
    severity: before.severity,
    labels: {},
    status: undefined,
    condition: undefined,
    reason: undefined,
    message: 'It has no manifest and no record any more.',
    before: { status: before.status, reason: before.reason },
    since: 0,
    changes: 1,
    revision: undefined,
    file: undefined,
    line: undefined,
    pipeId: undefined,
  }
}

/** What is bad comes first, the worst of it before the rest; then what was created, then what is over. */
export function worstFirst(one: Notification, other: Notification): number {
  return (
    CHANGES.indexOf(one.change) - CHANGES.indexOf(other.change) ||
    rank(one) - rank(other) ||
    (one.key < other.key ? -1 : 1)
  )
}

function rank({ status }: Notification): number {
  return status === undefined ? STATUSES.length : STATUSES.indexOf(status)
}
