import type { Clock } from '../lib/clock.ts'
import type { DecideInput, Timing } from '../plan/input.ts'
import type { Emit } from '../contract/events.ts'
import type { Fail } from '../contract/failpoint.ts'
import type { Ledger } from '../contract/ledger.ts'
import type { Platform, ReadOptions } from '../contract/platform.ts'
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
import type { NewEntry } from '../contract/history.ts'

export interface ReconcileContext {
  readonly profile: Profile
  readonly platform: Platform
  readonly ledger: Ledger
  readonly secrets: SecretStore
  readonly mask: SecretMask
  readonly store: StateStore
  readonly clock: Clock
  readonly emit: Emit
  /** 0 ≤ value < 1. */
  readonly random: () => number
  readonly newId: () => string
  readonly timing: Timing
  readonly healthyStates: readonly string[] | undefined
  /** Per service and hour. Infinity: no limit. */
  readonly maxCreates: number
  /** `optional`: a dry run without secrets. Default: required. */
  readonly sourceSecrets?: 'optional' | undefined
  readonly fail?: Fail | undefined
}

/** `signal` does not end a create that was sent. */
export interface ReconcileRequest extends ReadOptions {
  readonly reconcileId: string
  /** When the changed manifest was read; monotonic ms. */
  readonly changedAt: number | undefined
  /** An operator or new credentials caused the request, so it skips the back-off. */
  readonly isAsked?: boolean | undefined
  /** Lets other keys run first. Resolves when this key can continue. */
  readonly releaseSlot: () => Promise<void>
}

export interface Basis {
  readonly input: DecideInput
  readonly entry: Entry | undefined
  readonly body: JsonObject | undefined
  readonly secrets: BodySecrets
  readonly service: DesiredService
}

export interface ReconcileResult {
  readonly action: Action
  readonly outcome: Outcome
  readonly next: Requeue | undefined
  readonly also: readonly Key[]
  readonly assessment?: Basis
  readonly movedFrom?: Key | undefined
}

/** After a create, `record` is already written. */
export interface Acted {
  readonly outcome: Outcome
  readonly record: LedgerRecord
  readonly history: readonly NewEntry[]
}

/** The caller must decide again. No request was sent, or its outcome is recorded. */
export class DecisionOutdated extends Error {
  constructor(key: Key) {
    super(`the decision for ${key} is outdated`)
    this.name = 'DecisionOutdated'
  }
}
