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

/** Label values of `pipewright_reconcile_total{result}`. */
export const RESULTS = ['done', 'failed', 'unknown', 'stopped'] as const

export const WATCH_MODES = ['recursive', 'parent', 'polling', 'none'] as const

export type WatchMode = (typeof WATCH_MODES)[number]

interface MessageFacts {
  readonly id: string
  readonly reason: Reason
  readonly resources: number
  readonly attempt: number
  readonly code: string
  readonly durationMs: number
}

type Place = Pick<ResourceView, 'file' | 'line' | 'manifestRevision'>

export interface ProblemFacts extends Place {
  readonly reason: Reason
  readonly service: string | undefined
  /** Number of affected resources. In the event `ProblemOver`, the highest number during the problem. */
  readonly resources: number
  readonly keys: readonly Key[]
  /** Empty if several resources are affected. */
  readonly differences: readonly Difference[]
  readonly isReported?: boolean
}

/** Problems that an earlier process reported. The log does not repeat them. */
export interface SaidBefore {
  readonly findings: ReadonlySet<string>
  readonly problem: boolean
}

export const NOTHING_SAID_BEFORE: SaidBefore = { findings: new Set(), problem: false }

export type Event =
  | (Place & {
      readonly type: 'ReconcileFinished'
      readonly key: Key
      readonly reconcileId: string
      readonly revision: string
      readonly action: ActionType
      readonly because: Explanation
      readonly result: (typeof RESULTS)[number]
      readonly requestId: string | undefined
      readonly durationMs: number
      readonly changed: boolean
      readonly changeToApplyMs: number | undefined
    })
  | (Place & {
      readonly type: 'ConditionChanged'
      readonly key: Key
      readonly condition: ConditionType
      readonly before: Condition | undefined
      readonly after: Condition
      /** Whether the log reports with this event that the resource became healthy. */
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
      readonly operation: string
      readonly service: string
      /** HTTP status, or the error class if no reply came. */ readonly code: string
      readonly durationMs: number
      readonly requestId: string | undefined
    }
  | { readonly type: 'BudgetWaited'; readonly service: string; readonly waitMs: number }
  | {
      /** The platform replied 429. All services with the same credential wait. */
      readonly type: 'RateLimited'
      readonly service: string
      readonly retryAfterMs: number
      readonly isFirst: boolean
    }
  | {
      readonly type: 'RateLimitOver'
      readonly service: string
      readonly replies: number
      /** Between the first and the last 429. */ readonly durationMs: number
    }
  /** This secret is not masked: it is so short that ordinary words can contain it. */
  | { readonly type: 'ShortSecretFound'; readonly file: string }
  /** Sent if the list of a service has other unreadable items than the previous list. */
  | {
      readonly type: 'ListItemsOdd'
      readonly service: string
      /** A text for each item: its position, id and unreadable fields. */
      readonly items: readonly string[]
    }
  | { readonly type: 'ServicePaused'; readonly service: string; readonly message: string }
  | { readonly type: 'ServiceResumed'; readonly service: string }
  | {
      readonly type: 'SourceLoaded'
      readonly revision: Revision
      /** When git-sync or Kubernetes published this revision, ms since the epoch. */
      readonly since: number | undefined
      readonly durationMs: number
      readonly changed: readonly Key[]
      readonly removed: number
      readonly manifests: Readonly<Record<string, number>>
      readonly findings: readonly Finding[]
      readonly problem: string | undefined
      readonly saidBefore: SaidBefore
      readonly missedByWatcher: boolean
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
      /** Sent if reads begin to fail or work again. `ignored`: an object has the ledger's label, but is no record. */
      readonly type: 'LedgerRead'
      readonly result: 'read' | 'failed' | 'ignored'
      readonly durationMs: number
      readonly message: string | undefined
    }
  | {
      /** The records were restored to an earlier state, such as from a backup. */
      readonly type: 'LedgerRolledBack'
      readonly message: string
    }
  | {
      readonly type: 'LeadershipChanged'
      readonly is: 'acting' | 'standing by' | 'taken over'
      readonly isShared: boolean
      /** The previous leader's revision. Set only if this checkout might be older. */
      readonly olderThan: string | undefined
      readonly epoch: number | undefined
      readonly leader: string | undefined
    }
  | {
      /** Sent if renewals of the Lease start to fail or work again. */
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
      /** Undefined if no quick retry follows. */ readonly retryInMs: number | undefined
      readonly first: boolean
    })
  | { readonly type: 'NotificationsWaiting'; readonly count: number }
  /** The list of sent notifications cannot be read or saved. After a restart, some might be sent again. */
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
  /** Platform credentials are also in `--secrets-dir`. A manifest could send them to a data source. */
  | { readonly type: 'CredentialsExposed'; readonly names: readonly string[]; readonly message: string }
  /** The changed TLS files are invalid. The server keeps using the previous ones. */
  | { readonly type: 'TlsFilesUnusable'; readonly message: string }
  | {
      readonly type: 'ConnectionsLimited'
      readonly listener: 'listen' | 'metrics-listen'
      readonly closed: number
      readonly limit: number
    }
  | { readonly type: 'SandboxReady'; readonly page: string; readonly platform: string | undefined }
  | { readonly type: 'Stopping'; readonly signal: string }
  | { readonly type: 'Stopped'; readonly unfinished: number }
  | {
      /** Sent if the process ends before the ledger has the outcome of a create. `command` records the outcome. */
      readonly type: 'OutcomeLost'
      readonly key: Key
      readonly outcome: 'created' | 'failed' | 'unknown'
      readonly pipeId: string | undefined
      readonly command: string
      readonly message: string
    }
  | { readonly type: 'Bug'; readonly message: string; readonly error: Error }

export type Emit = (event: Event) => void

export type EventBus = ReturnType<typeof createEventBus>

export function createEventBus() {
  const listeners = new Set<Emit>()
  return {
    emit: (event: Event) => {
      for (const tell of listeners) tell(event)
    },
    listen: (tell: Emit) => {
      listeners.add(tell)
      return () => void listeners.delete(tell)
    },
  }
}
