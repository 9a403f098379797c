import type { Clock } from '../lib/clock.ts'
import type { DecideInput, Timing } from '../plan/input.ts'
import type { Emit } from '../contract/events.ts'
import type { Fail } from '../contract/failpoint.ts'
import type { Ledger } from '../contract/ledger.ts'
import type { Platform, Priority } from '../contract/platform.ts'
import type { SecretStore } from '../contract/secrets.ts'
import type { StateStore } from './state/store.ts'
import type { Key } from '../kinds/key.ts'
import type { Profile } from '../kinds/profile.ts'
import type { Action } from '../plan/action.ts'
import type { Requeue } from '../plan/requeue.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Entry } from '../contract/catalog.ts'
import type { JsonObject } from '../lib/json.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import type { BodySecrets } from './gather/body-secrets.ts'
import type { DesiredService } from './gather/service-access.ts'
import type { HistoryEntry } from '../contract/history.ts'

/** What every part of a reconcile works with. */
export interface ReconcileContext {
  /** What the service offers, and how it says it. */
  readonly profile: Profile
  readonly platform: Platform
  readonly ledger: Ledger
  /** Mounted secrets, as they were a second ago at most. */
  readonly secrets: SecretStore
  /** The same, read anew each time: for what is sent now. */
  readonly mounted: SecretStore
  /** Masks secrets where a text is told, stored or thrown. What is decided on is not masked. */
  readonly mask: SecretMask
  readonly store: StateStore
  readonly clock: Clock
  readonly emit: Emit
  /** From 0 to below 1. */
  readonly random: () => number
  /** A new UUID. */
  readonly newId: () => string
  readonly timing: Timing
  /** `--healthy-states`: for resources whose manifest does not say. */
  readonly healthyStates: readonly string[] | undefined
  /** Most creations wanted at once; Infinity lets all pass. */
  readonly maxCreates: number
  /** `optional`: secrets of a body need not be there, because nothing is sent. Unless set, they do. */
  readonly sourceSecrets?: 'optional' | undefined
  /** For tests: fails at the failpoints of a create. */
  readonly fail?: Fail | undefined
}

/** One reconcile of one key. */
export interface ReconcileRequest {
  readonly priority: Priority
  /** Start nothing new. A create that was sent is not bound by it. */
  readonly stopping: AbortSignal
  readonly reconcileId: string
  /** When the reading came in that changed the manifest, on the monotonic clock; undefined when none did. */
  readonly changedAt: number | undefined
  /** A person asked for it, or its credentials are others now: it does not wait out an earlier failure. */
  readonly isAsked?: boolean | undefined
  /** Called when nothing more will be asked of the platform: what is left is thought, and others ask first. */
  readonly releaseSlot: () => Promise<void>
}

/** All that a decision was made on. */
export interface Basis {
  readonly input: DecideInput
  readonly entry: Entry | undefined
  readonly body: JsonObject | undefined
  readonly secrets: BodySecrets
  readonly service: DesiredService
}

/** What became of it. */
export interface ReconcileResult {
  readonly action: Action
  readonly outcome: Outcome
  /** When the key is reconciled again; `undefined` when there is nothing left of it. */
  readonly next: Requeue | undefined
  /** Other keys for which this changed something. */
  readonly also: readonly Key[]
  /** What it was decided on; undefined when nothing was. */
  readonly assessment: Basis | undefined
  /** The key whose record became this one's. */
  readonly movedFrom: Key | undefined
}

/** What an action did: the outcome, and the record as it is to be (not yet written, but for a create). */
export interface Acted {
  readonly outcome: Outcome
  readonly record: LedgerRecord
  readonly history: readonly HistoryEntry[]
}

/** What was decided is no longer what is to be done: nothing was sent, and it is decided anew. */
export class DecisionOutdated extends Error {
  constructor(key: Key) {
    super(`what was decided for ${key} is no longer what is to be done`)
    this.name = 'DecisionOutdated'
  }
}
