import type { StepContext } from '../plan/step.ts'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Revision, SourceProblem } from '../contract/catalog.ts'
import type { Clock } from '../lib/clock.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Emit, WatchMode } from '../contract/events.ts'
import type { Plan, PlanRequest } from '../contract/plan.ts'
import type { HistoryEntry } from '../contract/history.ts'
import type { WithoutManifest } from '../contract/activity.ts'
import type { Problem, StatusBoard } from '../contract/view.ts'
import type { Leader } from '../contract/leadership.ts'
import type { HistoryQuery } from '../contract/ledger.ts'
import type { Priority } from '../contract/platform.ts'
import type { Allowance, Allowed, OperatorCommand, OperatorResult } from '../contract/person-command.ts'
import type { RecentEvents } from './recent-events.ts'
import type { KnownHosts } from './origin-guard.ts'

export interface ServerParts {
  readonly profile: Profile
  readonly listen: ListenOn
  /** Undefined: probes and metrics share the page's port. */
  readonly metricsListen: ListenOn | undefined
  readonly hosts: KnownHosts
  readonly clock: Clock
  readonly emit: Emit
  readonly board: StatusBoard
  problem(key: Key): Pick<Problem, 'id' | 'since'> | undefined
  desired(key: Key): JsonObject | undefined
  manifest(key: Key): ManifestFacts | undefined
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  readonly recentEvents: Omit<RecentEvents, 'add'>
  readonly metrics: { render(): Promise<{ readonly contentType: string; readonly text: string }> }
  health(): Health
  /** Ok if a read of the manifests was tried, and the ledger is open. */
  ready(): Health
  overview(): Overview
  readonly commands: StepContext
  readonly operator: Operator
}

export interface ListenOn {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}

export interface Health {
  readonly ok: boolean
  readonly detail: string
}

/** Times are ms since the epoch. */
export interface Overview {
  readonly version: string
  readonly sandbox: boolean
  readonly profile: { readonly name: string }
  readonly config: string | undefined
  readonly revision: Revision | undefined
  readonly revisionSince: number | undefined
  readonly manifestsDir: string
  /** Address of a manifest, with `{revision}`, `{file}` and `{line}`. */
  readonly repositoryUrl: string | undefined
  /** On the daemon's machine. Undefined: no token. */
  readonly adminTokenFile: string | undefined
  readonly sourceProblem: string | undefined
  readonly sourceReason: SourceProblem['reason'] | undefined
  readonly findings: readonly Finding[]
  /** Due resources, not checked since the daemon started. */
  readonly overdue: number
  /** Pipes in no Lock. 0 without a Lock. */
  readonly withoutLock: number
  readonly withoutManifest: readonly WithoutManifest[] | undefined
  readonly queueDepth: Readonly<Record<Priority, number>>
  readonly createLimit: CreateLimit
  readonly watchMode: WatchMode
  readonly standsBy: boolean
  readonly leader: Pick<Leader, 'holder' | 'url'> | undefined
  /** Why another process might be the leader. This process then changes nothing. */
  readonly unconfirmed: string | undefined
  readonly olderThan: string | undefined
  /** Why creates are refused: the ledger is at an earlier state. */
  readonly ledgerRollback: string | undefined
  readonly startedAt: number
  readonly now: number
  readonly lastLoadAt: number | undefined
  readonly budgets: readonly BudgetUse[]
  /** Services that refused a request or are idle. Pipewright tests them with one request at a time. */
  readonly pauses: readonly {
    readonly service: string
    /** ms since the epoch. */
    readonly since: number
    readonly message: string
  }[]
}

export interface BudgetUse {
  readonly credential: string
  readonly used: number
  readonly limit: number
  readonly windowMs: number
  readonly waiting: number
  readonly pausedForMs: number
}

export interface CreateLimit {
  readonly limit: number
  readonly held: number
  readonly services: readonly { readonly service: string; readonly held: number }[]
}

export interface Operator {
  /** Undefined: no admin token is configured. A rejection or an empty text: the token file cannot be used. */
  readonly adminToken: (() => Promise<string | undefined>) | undefined
  /** Derived from the ledger, so a command that can read the ledger needs no admin token. */
  readonly ownerToken: string
  /** @param key undefined: all @param accept `force`: accepts the directory even if most manifests are gone */
  request(key: Key | undefined, accept: 'force' | 'normal'): ReconcileReceipt
  progress(token: string): ReconcileProgress | undefined
  allow(allowance: Allowance): Promise<Allowed>
  /** Undefined: the daemon is starting or on standby. @throws {LedgerError} */
  operate(command: OperatorCommand): Promise<OperatorResult> | undefined
  /** Changes neither ledger nor platform. @throws {RequestError} 503 if the plan is stopped or takes too long */
  plan(request: PlanRequest, signal: AbortSignal): Promise<Plan>
}

export interface ReconcileReceipt {
  readonly token: string
  readonly accepted: readonly Key[] | 'all'
  readonly suspended: readonly Key[]
}

export interface ReconcileProgress {
  readonly done: boolean
  readonly pending: number
}

/** Sensitive values are masked. */
export interface ManifestFacts {
  /** Holds secretRefs, not their values. */
  readonly document: JsonObject
  /** The create or upsert. Undefined if Pipewright only reads the resource, or does not know its Service. */
  readonly request: ShownRequest | undefined
  readonly needs: readonly Key[]
  readonly neededBy: readonly Key[]
  readonly neededByCount: number
}

export interface ShownRequest {
  readonly operation: string
  readonly method: 'POST'
  readonly path: string
  readonly body: JsonObject
}
