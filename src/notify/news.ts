import type { Key } from '../kinds/key.ts'
import { sha256 } from '../lib/digest.ts'
import type { ConditionType } from '../plan/condition.ts'
import type { Status } from '../plan/status.ts'
import type { Reason } from '../plan/reason.ts'
import type { Severity } from '../plan/severity.ts'

/** `bad`: it turned bad, or is bad for another reason. `good`: the trouble is over. `forgotten`: nobody expects it any more. */
export const CHANGES = ['bad', 'created', 'good', 'forgotten'] as const

/** One thing to be told of one resource. */
export interface News {
  /** The same for the same news, also after a restart: receivers can tell a repetition by it. */
  readonly id: string
  readonly key: Key
  readonly change: (typeof CHANGES)[number]
  /** Of what was told before, when that is over: who heard of a trouble hears of its end. */
  readonly severity: Severity
  readonly labels: Readonly<Record<string, string>>
  /** `undefined` when it is forgotten. */
  readonly status: Status | undefined
  readonly condition: ConditionType | undefined
  readonly reason: Reason | undefined
  readonly message: string
  /** What was told of it last; `undefined` when nothing was, or that it is well. */
  readonly before: { readonly status: Status; readonly reason: Reason } | undefined
  /** Since when it is so: ms since the epoch. */
  readonly since: number
  /** How often it changed since it was last told of; more than 1: it flaps. */
  readonly changes: number
  readonly revision: string | undefined
  readonly file: string | undefined
  readonly line: number | undefined
  readonly pipeId: string | undefined
}

export function newsId(parts: readonly (string | number | undefined)[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32)
}

const TURNED: Readonly<Record<Status, string>> = {
  OutcomeUnknown: 'may or may not have been created',
  Invalid: 'has errors in its manifest',
  Missing: 'is missing on the platform',
  Failed: 'failed',
  Refused: 'is held back',
  Drifted: 'has drifted',
  NotReady: 'is not ready',
  Orphaned: 'has no manifest any more',
  Suspended: 'is left alone for a while',
  Progressing: 'is in progress',
  Ready: 'is well',
}

/** What happened, without why. */
export function sentenceOf({ key, change, status, before, changes }: News): string {
  const often = changes > 2 ? `, after ${changes} changes` : ''
  switch (change) {
    case 'created':
      return `${key} was created.`
    case 'forgotten':
      return `${key} is not expected any more.`
    case 'bad':
      return `${key} ${TURNED[status ?? 'Failed']}${often}.`
    case 'good': {
      if (status === 'Ready') return `${key} is well again${often}.`
      const now = TURNED[status ?? 'Ready']
      return before === undefined
        ? `${key} ${now}.`
        : `${key} is no longer ${before.status}: it ${now}${often}.`
    }
  }
}

/** The first sentence of a message about many. */
export function summaryOf(news: readonly News[]): string {
  const [only, ...more] = news
  if (only !== undefined && more.length === 0) return sentenceOf(only)
  const count = (change: News['change']) => news.filter((item) => item.change === change).length
  const [bad, good, created] = [count('bad'), count('good') + count('forgotten'), count('created')]
  const parts = [
    bad > 0 ? `${bad} ${bad === 1 ? 'resource needs' : 'resources need'} attention` : '',
    good > 0 ? `the trouble of ${good} is over` : '',
    created > 0 ? `${created} ${created === 1 ? 'pipe was' : 'pipes were'} created` : '',
  ].filter((part) => part !== '')
  const text = parts.join(', ')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`
}
