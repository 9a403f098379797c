import type { MaskedText } from '../lib/mask/secret-mask.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { Revision } from './catalog.ts'
import type { ResourceView } from './view.ts'
import type { ActionType } from '../plan/action.ts'
import type { Condition, ConditionType } from '../plan/condition.ts'
import type { Explanation, Reason } from '../plan/reason.ts'
import type { Priority } from './platform.ts'

/** Result of a reconcile. Label values of `pipewright_reconcile_total{result}`. */
export const RESULTS = ['done', 'failed', 'unknown', 'stopped'] as const

export type Result = (typeof RESULTS)[number]

export const WATCH_MODES = ['recursive', 'parent', 'polling', 'none'] as const

export type WatchMode = (typeof WATCH_MODES)[number]

interface MessageFacts {
  /** The header `webhook-id`. */
  readonly id: string
  readonly reason: Reason
  readonly resources: number
  /** Counts from 1 for each message. */
  readonly attempt: number
  /** HTTP status, or the class of the failure. */
  readonly code: string
  readonly durationMs: number
}

type Place = Pick<ResourceView, 'file' | 'line' | 'manifestRevision'>

export interface ProblemFacts extends Place {
  readonly reason: Reason
  readonly service: string | undefined
  /** After the end: the maximum. */
  readonly resources: number
  readonly keys: readonly Key[]
  /** Another line reports the problem. */
  readonly isReported?: boolean
}

/** The first read does not repeat these. */
export interface SaidBefore {
  /** Digests. See `findings-digest.ts`. */
  readonly findings: ReadonlySet<string>
  readonly problem: boolean
}

export const NOTHING_SAID_BEFORE: SaidBefore = { findings: new Set(), problem: false }

/** Telemetry subscribes. No event expects an answer. */
export type Event =
  | (Place & {
      readonly type: 'ReconcileFinished'
      readonly key: Key
      readonly reconcileId: string
      readonly revision: string
      readonly action: ActionType
      readonly because: Explanation
      readonly result: Result
      readonly requestId: string | undefined
      readonly durationMs: number
      /** Whether the resource changed since its last reconcile. */ readonly changed: boolean
      /** From read to apply. Only for the first reconcile that applied it. */
      readonly changeToApplyMs: number | undefined
    })
  | (Place & {
      readonly type: 'ConditionChanged'
      readonly key: Key
      readonly condition: ConditionType
      readonly before: Condition | undefined
      readonly after: Condition
      /** Settled, and no other event reports it. */
      readonly isNews: boolean
      readonly revision: string
    })
  | {
      readonly type: 'CreateStarted'
      readonly key: Key
      readonly intentId: string
      readonly attempt: number
      readonly revision: string
    }
  | {
      readonly type: 'CreateFinished'
      readonly key: Key
      readonly intentId: string
      readonly outcome: 'created' | 'failed' | 'unknown'
      readonly pipeId: string | undefined
      readonly requestId: string | undefined
      readonly because: Explanation
      readonly revision: string
    }
  | {
      readonly type: 'Observed'
      readonly key: Key
      readonly state: MaskedText | undefined
      readonly differences: readonly Difference[]
    }
  | { readonly type: 'Forgotten'; readonly key: Key }
  | (ProblemFacts & { readonly type: 'ProblemFound' | 'ProblemGrew'; readonly because: Explanation })
  | (ProblemFacts & { readonly type: 'ProblemOver'; readonly durationMs: number })
  | {
      readonly type: 'RequestFinished'
      /** Such as `createPipe`. */ readonly operation: string
      readonly service: string
      /** HTTP status, or the error class if no reply came. */ readonly code: string
      readonly durationMs: number
      readonly requestId: string | undefined
    }
  | { readonly type: 'BudgetWaited'; readonly service: string; readonly waitMs: number }
  | {
      /** Status 429. It covers all services of a credential. */
      readonly type: 'RateLimited'
      readonly service: string
      readonly retryAfterMs: number
      /** The first 429 since the last limit ended. */ readonly isFirst: boolean
    }
  | {
      /** No 429 came for a while. */
      readonly type: 'RateLimitOver'
      readonly service: string
      /** Number of 429 replies. */ readonly replies: number
      /** Between the first and the last 429. */ readonly durationMs: number
    }
  /** Too short to mask: ordinary words can contain it. Once per file. */
  | { readonly type: 'ShortSecretFound'; readonly file: string }
  /** Unreadable items in a service's list. Sent if they differ from the previous list. */
  | {
      readonly type: 'ListItemsOdd'
      readonly service: string
      /** Position, id and unreadable fields of each. */
      readonly items: readonly string[]
    }
  | { readonly type: 'ServicePaused'; readonly service: string; readonly message: string }
  | { readonly type: 'ServiceResumed'; readonly service: string }
  | {
      readonly type: 'SourceLoaded'
      readonly revision: Revision
      /** ms since the epoch. */
      readonly since: number | undefined
      readonly durationMs: number
      readonly changed: readonly Key[]
      /** Number of changed keys without a manifest. */
      readonly removed: number
      readonly manifests: Readonly<Record<string, number>>
      readonly findings: readonly Finding[]
      readonly problem: string | undefined
      readonly saidBefore: SaidBefore
      /** Whether no watcher event announced the change. */ readonly missedByWatcher: boolean
    }
  | {
      readonly type: 'SourceFailed'
      readonly reason: string
      readonly message: string
      readonly durationMs: number
    }
  | { readonly type: 'WatchModeChanged'; readonly mode: WatchMode; readonly message: string }
  | {
      readonly type: 'LedgerWritten'
      readonly result: 'written' | 'conflict' | 'failed'
      readonly durationMs: number
      readonly message: string | undefined
    }
  | {
      /** Only if reads start to fail or work again. `ignored`: an object with our label is not a record. */
      readonly type: 'LedgerRead'
      readonly result: 'read' | 'failed' | 'ignored'
      readonly durationMs: number
      readonly message: string | undefined
    }
  | {
      /** Its records are at an earlier state. */
      readonly type: 'LedgerRolledBack'
      readonly message: string
    }
  | {
      readonly type: 'LeadershipChanged'
      readonly is: 'acting' | 'standing by' | 'taken over'
      readonly isShared: boolean
      /** Set if the previous leader's revision might be newer. */
      readonly olderThan: string | undefined
      readonly epoch: number | undefined
      readonly leader: string | undefined
    }
  | {
      /** Only if renewals start to fail or work again. */
      readonly type: 'LeaseRenewed'
      readonly result: 'renewed' | 'failed'
      readonly message: string | undefined
    }
  | { readonly type: 'QueueChanged'; readonly depth: Readonly<Record<Priority, number>> }
  | { readonly type: 'QueueWaited'; readonly priority: Priority; readonly waitMs: number }
  | (MessageFacts & {
      readonly type: 'NotificationSent'
      readonly recovered: boolean
    })
  | (MessageFacts & {
      readonly type: 'NotificationFailed'
      readonly message: string
      /** Undefined if the next attempt is minutes away. */ readonly retryInMs: number | undefined
      readonly first: boolean
    })
  | { readonly type: 'NotificationsWaiting'; readonly count: number }
  /** The sent state cannot be read or saved. A restart might send messages again. */
  | { readonly type: 'NotificationsForgotten'; readonly message: string }
  | {
      readonly type: 'Started'
      readonly version: string
      readonly sandbox: boolean
      readonly listen: string | undefined
      readonly metricsListen: string | undefined
      readonly manifests: string
      readonly baseUrl: string | undefined
    }
  /** Mounted in both directories. A manifest could send the credential to a source. */
  | { readonly type: 'CredentialsExposed'; readonly names: readonly string[]; readonly message: string }
  /** Changed TLS files cannot be used. The previous files stay in use. */
  | { readonly type: 'TlsFilesUnusable'; readonly message: string }
  | {
      readonly type: 'ConnectionsLimited'
      readonly listener: 'listen' | 'metrics-listen'
      /** Connections that the listener closed to make room. */
      readonly closed: number
      readonly limit: number
    }
  /** The first pass over the sandbox is complete. */
  | { readonly type: 'SandboxReady'; readonly page: string; readonly platform: string | undefined }
  | { readonly type: 'Stopping'; readonly signal: string }
  | { readonly type: 'Stopped'; readonly unfinished: number }
  | {
      /** The process ends before the outcome is in the ledger. */
      readonly type: 'OutcomeLost'
      readonly key: Key
      readonly outcome: 'created' | 'failed' | 'unknown'
      readonly pipeId: string | undefined
      readonly command: string
      readonly message: string
    }
  | { readonly type: 'Bug'; readonly message: string; readonly error: Error }

export type Emit = (event: Event) => void

export interface EventBus {
  readonly emit: Emit
  /** Listeners are called in the order in which they began. @returns ends listening */
  readonly listen: (listener: (event: Event) => void) => () => void
}

export function createEventBus(): EventBus {
  const listeners = new Set<{ readonly tell: (event: Event) => void }>()
  return {
    emit(event) {
      for (const { tell } of listeners) tell(event)
    },
    listen(tell) {
      const listener = { tell }
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
