import type { Key } from '../kinds/key.ts'
import { STATUSES } from '../plan/status.ts'
import type { ResourceStatus } from '../reconcile/status.ts'
import { CHANGES, newsId, type News } from './news.ts'
import type { Standing } from './standing.ts'
import type { Told } from './told.ts'

/** A pipe that was created. */
export interface Creation {
  readonly key: Key
  readonly pipeId: string | undefined
  /** ms since the epoch. */
  readonly at: number
  readonly revision: string
}

export function createdNews({ key, pipeId, at, revision }: Creation, status: ResourceStatus): News {
  return {
    id: newsId([key, 'created', pipeId]),
    key,
    change: 'created',
    severity: 'info',
    labels: status.labels,
    status: status.status,
    condition: undefined,
    reason: 'Created',
    message: pipeId === undefined ? 'The pipe was created.' : `Pipe ${pipeId} was created.`,
    before: undefined,
    since: at,
    changes: 1,
    revision,
    file: status.file,
    line: status.line,
    pipeId,
  }
}

/** A resource that stands otherwise than was told. */
export function stateNews(
  status: ResourceStatus,
  standing: Standing,
  { before, isTrouble, changes }: { before: Told | undefined; isTrouble: boolean; changes: number },
): News {
  const { key, labels, revision, file, line, pipeId } = status
  const { condition, reason, message, since, state } = standing
  const change = isTrouble ? 'bad' : 'good'
  return {
    id: newsId([key, change, state, since]),
    key,
    change,
    severity: isTrouble || before === undefined ? standing.severity : before.severity,
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

/** A trouble that was told of, of a resource that is no longer there. */
export function forgottenNews(key: Key, before: Told): News {
  return {
    id: newsId([key, 'forgotten', before.state]),
    key,
    change: 'forgotten',
    severity: before.severity,
    labels: {},
    status: undefined,
    condition: undefined,
    reason: undefined,
    message: 'Neither a manifest nor the ledger names it any more.',
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
export function worstFirst(one: News, other: News): number {
  return (
    CHANGES.indexOf(one.change) - CHANGES.indexOf(other.change) ||
    rank(one) - rank(other) ||
    (one.key < other.key ? -1 : 1)
  )
}

function rank({ status }: News): number {
  return status === undefined ? STATUSES.length : STATUSES.indexOf(status)
}
