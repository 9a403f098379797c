import type { MaskedText } from '../lib/mask/secret-mask.ts'
import type { Difference } from '../kinds/difference.ts'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { Revision } from './catalog.ts'
import type { MissingPipe } from './ledger.ts'
import type { ActionType } from '../plan/action.ts'
import type { Condition, ConditionType } from '../plan/condition.ts'
import type { Reason } from '../plan/reason.ts'
import type { Priority } from './platform.ts'

/** How a reconcile ended; label values of `pipewright_reconcile_total{result}`. */
export const RESULTS = ['done', 'failed', 'unknown', 'stopped'] as const

export type Result = (typeof RESULTS)[number]

export const WATCH_MODES = ['recursive', 'parent', 'polling', 'none'] as const

export type WatchMode = (typeof WATCH_MODES)[number]

/** One attempt to send a message to the webhook. */
export interface MessageFacts {
  /** `webhook-id`. */
  readonly id: string
  readonly reason: Reason
  readonly resources: number
  /** Of this message, from 1. */
  readonly attempt: number
  /** HTTP status, or the class of the failure. */
  readonly code: string
  readonly durationMs: number
}

/** A cause of problems, and whom it touches. */
export interface ProblemFacts {
  readonly reason: Reason
  readonly service: string | undefined
  /** How many it touches, as far as is known; of one that is over, at most. */
  readonly resources: number
  /** The first of them. */
  readonly keys: readonly Key[]
  /** Of one resource. */
  readonly file: string | undefined
  readonly line: number | undefined
  readonly manifestRevision: string | undefined
  /** Another line reports it, such as the end of a create. */
  readonly isReported?: boolean
}

/** What an earlier process said of the manifests, as far as it bears on the first reading of this one. */
export interface SaidBefore {
  /** Those of its findings that are still there. */
  readonly findings: ReadonlySet<Finding>
  /** How many are not. */
  readonly findingsOver: number
  /** It did not accept the manifests for the same reason. */
  readonly problem: boolean
}

export const NOTHING_SAID_BEFORE: SaidBefore = { findings: new Set(), findingsOver: 0, problem: false }

/** Everything that happens and that somebody may want to know: telemetry subscribes, nobody answers. */
export type Event =
  | {
      readonly type: 'ReconcileFinished'
      readonly key: Key
      readonly reconcileId: string
      /** In force. */
      readonly revision: string
      /** At which the manifest came to say what it says. */
      readonly manifestRevision: string | undefined
      readonly action: ActionType
      readonly reason: Reason
      readonly message: string
      readonly result: Result
      readonly requestId: string | undefined
      readonly durationMs: number
      /** Something is other than after the last reconcile of this key. */ readonly changed: boolean
      readonly file: string | undefined
      readonly line: number | undefined
      /** Time from the reading that brought a change until it was applied; only for the first reconcile that did. */ readonly changeToApplyMs:
        number | undefined
    }
  | {
      readonly type: 'ConditionChanged'
      readonly key: Key
      readonly condition: ConditionType
      readonly before: Condition | undefined
      readonly after: Condition
      /** The resource came to rest, and no other event says so: one of its conditions does. */
      readonly isNews: boolean
      readonly revision: string
      readonly manifestRevision: string | undefined
      readonly file: string | undefined
      readonly line: number | undefined
    }
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
      readonly message: string
      readonly revision: string
    }
  | {
      readonly type: 'Observed'
      readonly key: Key
      /** `undefined`: the reply carried none. */ readonly state: MaskedText | undefined
      readonly differences: readonly Difference[]
    }
  | { readonly type: 'Forgotten'; readonly key: Key }
  /** A cause of problems is there that was not there before: the first that it touches has it. */
  | (ProblemFacts & { readonly type: 'ProblemFound'; readonly message: string })
  /** It touches more than was said. */
  | (ProblemFacts & { readonly type: 'ProblemGrew'; readonly message: string })
  /** Nothing has it any more. */
  | (ProblemFacts & { readonly type: 'ProblemOver'; readonly durationMs: number })
  | {
      readonly type: 'RequestFinished'
      /** The name of the request, such as `createPipe`. */ readonly operation: string
      readonly service: string
      /** HTTP status, or the error class when no reply came. */ readonly code: string
      readonly durationMs: number
      readonly requestId: string | undefined
    }
  | { readonly type: 'BudgetWaited'; readonly service: string; readonly waitMs: number }
  | {
      /** The platform answered 429; it counts what one credential sends, of all services that share it. */
      readonly type: 'RateLimited'
      readonly service: string
      /** Nothing is sent for so long. */ readonly retryAfterMs: number
      /** It did not since the limit was over. */ readonly isFirst: boolean
    }
  | {
      /** It took a request, and has not answered 429 for a while. */
      readonly type: 'RateLimitOver'
      readonly service: string
      /** Replies that were 429. */ readonly replies: number
      /** From the first of them to the last. */ readonly durationMs: number
    }
  /** A mounted secret stands in ordinary words by chance, so that no output masks it. Once for each file. */
  | { readonly type: 'ShortSecretFound'; readonly file: string }
  /** The list of a service has items that cannot be read, and others than the list before. */
  | {
      readonly type: 'ListItemsOdd'
      readonly service: string
      /** The place of each, its id, and what cannot be read. */
      readonly items: readonly string[]
    }
  | { readonly type: 'ServicePaused'; readonly service: string; readonly message: string }
  | { readonly type: 'ServiceResumed'; readonly service: string }
  | {
      readonly type: 'SourceLoaded'
      readonly revision: Revision
      /** Since when it is there: ms since the epoch. Undefined: nobody knows. */
      readonly since: number | undefined
      readonly durationMs: number
      readonly changed: readonly Key[]
      /** How many of them have no manifest any more. */
      readonly removed: number
      readonly manifests: Readonly<Record<string, number>>
      readonly findings: readonly Finding[]
      readonly problem: string | undefined
      readonly saidBefore: SaidBefore
      /** A change that no watcher event announced. */ readonly missedByWatcher: boolean
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
      /** It failed, or works again: otherwise there are too many. `ignored`: what is no record of it has its label. */
      readonly type: 'LedgerRead'
      readonly result: 'read' | 'failed' | 'ignored'
      readonly durationMs: number
      readonly message: string | undefined
    }
  | {
      /** It was put back to an earlier state: that as a whole, and each pipe of which its records say nothing any more. Once for each thing that is noticed. */
      readonly type: 'LedgerPutBack'
      readonly loss: MissingPipe | undefined
      readonly message: string
    }
  | {
      /** This process acts from now on; or stands by; or acts no more, since another one has taken over. */
      readonly type: 'LeadershipChanged'
      readonly is: 'acting' | 'standing by' | 'taken over'
      /** Whether others may stand by. */
      readonly isShared: boolean
      /** What was acted on before, where this process acts and that may be newer than its manifests. */
      readonly olderThan: string | undefined
      /** Of the process that acts. */
      readonly epoch: number | undefined
      readonly leader: string | undefined
    }
  | {
      /** It cannot be made sure that this process acts alone; or it can again: otherwise there are too many. */
      readonly type: 'LeaseRenewed'
      readonly result: 'renewed' | 'failed'
      readonly message: string | undefined
    }
  | { readonly type: 'QueueChanged'; readonly depth: Readonly<Record<Priority, number>> }
  | { readonly type: 'QueueWaited'; readonly priority: Priority; readonly waitMs: number }
  | {
      /** Of one service. */
      readonly type: 'CreateLimitChanged'
      readonly on: boolean
      readonly service: string
      readonly wanted: number
      /** Within the last hour. */
      readonly made: number
      readonly limit: number
      /** In how many services it is reached now. */
      readonly services: number
      /** The first of those that are held. */
      readonly keys: readonly Key[]
      /** An earlier process said so. */
      readonly isKnown: boolean
    }
  | (MessageFacts & {
      readonly type: 'NotificationSent'
      /** The attempt before failed. */ readonly recovered: boolean
    })
  | (MessageFacts & {
      readonly type: 'NotificationFailed'
      readonly message: string
      /** Undefined: minutes pass before the next attempt. */ readonly retryInMs: number | undefined
      /** The attempt before did not fail. */ readonly first: boolean
    })
  /** Changes of problems that the webhook was not told. */
  | { readonly type: 'NotificationsWaiting'; readonly count: number }
  /** What was sent cannot be remembered, or is not known: it may be sent again after a restart. */
  | { readonly type: 'NotificationsForgotten'; readonly message: string }
  | {
      readonly type: 'Started'
      readonly version: string
      readonly sandbox: boolean
      readonly listen: string | undefined
      /** Where probes and metrics have a listener of their own. */
      readonly metricsListen: string | undefined
      readonly manifests: string
      /** Of the platform. */
      readonly baseUrl: string | undefined
    }
  /** Credentials of the platform are mounted where those of sources are, and so are not read. */
  | { readonly type: 'CredentialsMisplaced'; readonly names: readonly string[]; readonly message: string }
  /** Something of this name is mounted in both places: a manifest could send it to a source. */
  | { readonly type: 'CredentialsExposed'; readonly names: readonly string[]; readonly message: string }
  /** What settings name for TLS cannot be used any more; what was there before stays in use. */
  | { readonly type: 'TlsFilesUnusable'; readonly message: string }
  | {
      /** A listener had as many connections as it can have. */
      readonly type: 'ConnectionsLimited'
      /** The setting of the listener. */
      readonly listener: 'listen' | 'metrics-listen'
      /** Connections that the listener closed for new ones. */
      readonly closed: number
      readonly limit: number
    }
  /** The first pass over the embedded sandbox is over. */
  | { readonly type: 'SandboxReady'; readonly page: string; readonly platform: string | undefined }
  /** A test asked for a failure: no process that matters has this. */
  | { readonly type: 'FailpointSet'; readonly failpoint: string }
  | { readonly type: 'Stopping'; readonly signal: string }
  | { readonly type: 'Stopped'; readonly unfinished: number }
  | {
      /** The process ends, and the ledger does not say what became of a create. */
      readonly type: 'OutcomeLost'
      readonly key: Key
      readonly outcome: 'created' | 'failed' | 'unknown'
      readonly pipeId: string | undefined
      /** What makes it known again. */
      readonly command: string
      readonly message: string
    }
  | { readonly type: 'Bug'; readonly message: string; readonly error: Error }

export type Emit = (event: Event) => void
