import type { CommandContext } from './command-line.ts'
import type { Allowance, Allowed } from '../contract/allowance.ts'
import type { Finding } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Revision, SourceProblem } from '../contract/catalog.ts'
import type { Clock } from '../lib/clock.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Emit, WatchMode } from '../contract/events.ts'
import type { ManifestFacts } from '../contract/manifest-facts.ts'
import type { Plan, PlanRequest } from '../contract/plan.ts'
import type { HistoryEntry } from '../contract/history.ts'
import type { WithoutManifest } from '../contract/without-manifest.ts'
import type { HistoryQuery } from '../contract/ledger.ts'
import type { Priority } from '../contract/platform.ts'
import type { StatusBoard } from '../contract/status.ts'
import type { ListenOn } from './listener.ts'
import type { RecentEvents } from './recent-events.ts'
import type { KnownHosts } from './who-asks.ts'

/** Everything the server shows or sets off, given to it by whoever starts it. It holds nothing of its own. */
export interface ServerParts {
  readonly profile: Profile
  readonly listen: ListenOn
  /** Undefined: probes and metrics are served where the page is. */
  readonly metricsListen: ListenOn | undefined
  readonly hosts: KnownHosts
  readonly clock: Clock
  readonly emit: Emit
  readonly board: StatusBoard
  /** What the manifest asks for, sensitive values masked. */
  desired(key: Key): JsonObject | undefined
  /** What its manifest says and stands among. */
  manifest(key: Key): ManifestFacts | undefined
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  /** What happens is added to it by whoever emits. */
  readonly recentEvents: Omit<RecentEvents, 'add'>
  readonly metrics: { render(): Promise<Scrape> }
  /** Does the process still move? Never about the platform. */
  health(): Health
  /** Was a first reading attempted, and is the ledger open? */
  ready(): Health
  overview(): Overview
  /** Undefined: `POST /-/reconcile` is off. */
  readonly reconcile: ReconcileTrigger | undefined
  /** Undefined: `POST /-/allow` is off. */
  readonly allow: Allower | undefined
  /** Undefined: `POST /api/v1/plan` is off. */
  readonly planner: Planner | undefined
}

export interface Scrape {
  /** For the `Content-Type` header. */
  readonly contentType: string
  readonly text: string
}

export interface Health {
  readonly ok: boolean
  /** In words; for the person who wonders why it is not. */
  readonly detail: string
}

/** What is known of the whole, beside its resources. Times are ms since the epoch. */
export interface Overview extends Omit<CommandContext, 'server'> {
  readonly version: string
  /** Undefined before the first reading. */
  readonly revision: Revision | undefined
  /** Since when it is there: ms since the epoch. Undefined: nobody knows. */
  readonly revisionSince: number | undefined
  readonly manifestsDir: string
  /** Where a manifest is seen in a browser, with `{revision}`, `{file}` and `{line}`. */
  readonly repositoryUrl: string | undefined
  /** What the page asks for is in this file, on the machine of the daemon. Undefined: there is no admin token. */
  readonly adminTokenFile: string | undefined
  /** Why the last reading failed or is not believed, in words. */
  readonly sourceProblem: string | undefined
  /** The same as a word, where the directory could be read. */
  readonly sourceReason: SourceProblem['reason'] | undefined
  readonly findings: readonly Finding[]
  /** Resources that were not checked since the daemon started, although they were due. */
  readonly overdue: number
  /** Pipes whose id is in no Lock; 0 where there is no Lock. */
  readonly withoutLock: number
  /** Pipes that no manifest holds, by service. Undefined: the platform does not list its pipes. */
  readonly withoutManifest: readonly WithoutManifest[] | undefined
  readonly queueDepth: Readonly<Record<Priority, number>>
  readonly createLimit: CreateLimit
  readonly watchMode: WatchMode
  /** Another process may act, and this one does not. */
  readonly standsBy: boolean
  /** The process that acts, where this one stands by; its page, where it can be reached from elsewhere. Undefined: nobody is known to. */
  readonly leader: { readonly holder: string; readonly url: string | undefined } | undefined
  /** Why it is not certain who acts, in words: nothing is created or changed by this process meanwhile. */
  readonly unconfirmed: string | undefined
  /** What another process acted on, where that may be newer than the manifests here: then nothing counts as removed. */
  readonly olderThan: string | undefined
  /** As `Ledger.putBack`. */
  readonly putBack: string | undefined
  readonly startedAt: number
  readonly now: number
  readonly lastLoadAt: number | undefined
  /** The request budget of each credential that was used, by the name of its secret. */
  readonly budgets: readonly BudgetUse[]
  /** Services whose credentials the platform refused: they wait, and one request at a time tries again. */
  readonly pauses: readonly ServicePause[]
}

export interface BudgetUse {
  /** Name of the mounted secret; never what is in it. */
  readonly credential: string
  /** Requests in the current window, and how many there may be. */
  readonly used: number
  readonly limit: number
  readonly windowMs: number
  /** Requests that wait for a place. */
  readonly waiting: number
  /** The platform asked us to wait: for so long nothing is sent. */
  readonly pausedForMs: number
}

export interface ServicePause {
  readonly service: string
  /** ms since the epoch. */
  readonly since: number
  readonly message: string
}

export interface CreateLimit {
  /** Whether it holds something back. */
  readonly on: boolean
  /** Creations wanted in all services, and how many pass in each: at once, and within an hour. */
  readonly wanted: number
  readonly limit: number
  /** Creations that it blocks now. */
  readonly held: number
  /** The first of the services in which it holds something back, by the names of their manifests. */
  readonly services: readonly LimitedServiceShown[]
}

/** What the create limit holds back in a service. */
export interface LimitedServiceShown {
  readonly service: string
  readonly wanted: number
  /** Within the last hour. */
  readonly made: number
  /** When it passes by itself: ms since the epoch. */
  readonly until: number | undefined
  readonly held: number
}

export interface Guarded {
  /** Read from its file each time. Undefined: the file is not there, or empty. */
  adminToken(): Promise<string | undefined>
}

export interface ReconcileTrigger extends Guarded {
  /**
   * @param key undefined: read the manifests and reconcile everything
   * @param accept `force`: the directory is accepted as it is, even if most manifests are gone
   */
  request(key: Key | undefined, accept: 'force' | 'normal'): ReconcileReceipt
  /** Undefined: a token that is not, or no longer, known. */
  progress(token: string): ReconcileProgress | undefined
}

export interface Allower extends Guarded {
  /** Lets the blocked creations pass, or says how many there are. */
  allow(allowance: Allowance): Promise<Allowed>
}

export interface Planner extends Guarded {
  /** What would happen if these were the manifests. Writes nothing. */
  plan(request: PlanRequest, signal: AbortSignal): Promise<PlanAnswer>
}

/** A plan, or why there is none, in words. */
export type PlanAnswer =
  { readonly is: 'plan'; readonly plan: Plan } | { readonly is: 'none'; readonly why: string }

export interface ReconcileReceipt {
  readonly token: string
  readonly accepted: readonly Key[] | 'all'
  readonly suspended: readonly Key[]
}

export interface ReconcileProgress {
  readonly done: boolean
  readonly pending: number
}
