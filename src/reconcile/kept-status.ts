import type { Entry } from '../kinds/catalog.ts'
import type { Difference } from '../kinds/difference.ts'
import { serviceOf } from '../kinds/kept-manifest.ts'
import { type Key, kindOf, nameOf } from '../kinds/key.ts'
import { asService } from '../kinds/service/kind.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'
import { maskSensitive } from '../kinds/mask.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Action } from '../plan/action.ts'
import type { Conditions } from '../plan/condition.ts'
import { statusOf } from '../plan/conditions.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { expectedOf } from '../kinds/lookup.ts'
import { shownReply, type KeptReply } from './kept-reply.ts'
import { factsOf, type ResourceStatus, type StatusFact } from './status.ts'
import type { Look } from './world.ts'

/** What a status says that is not worked out of its key, its manifest and the last reply. */
type Kept = Pick<
  ResourceStatus,
  Exclude<StatusFact, 'kind' | 'name' | 'labels' | 'suspendedUntil'> // of the key and the manifest
>

/**
 * A status in as little room as it takes: of ten thousand resources nobody looks at most. Whatever can be, is worked out
 * when somebody looks; above all the two bodies, which as objects would be the largest part of what a daemon holds.
 */
class KeptStatus implements ResourceStatus {
  readonly key: Key
  readonly status: Kept['status']
  readonly conditions: Conditions
  readonly action: Kept['action']
  readonly reason: Kept['reason']
  readonly message: string
  readonly differences: readonly Difference[]
  readonly file: string | undefined
  readonly line: number | undefined
  readonly revision: string
  readonly service: string | undefined
  readonly pipeId: string | undefined
  readonly state: string | undefined
  readonly lastReconciledAt: number | undefined
  readonly nextReconcileAt: number | undefined
  readonly #manifest: ResourceManifest | undefined
  readonly #reply: KeptReply | undefined

  constructor(kept: Kept, manifest: ResourceManifest | undefined, reply: KeptReply | undefined) {
    this.key = kept.key
    this.status = kept.status
    this.conditions = kept.conditions
    this.action = kept.action
    this.reason = kept.reason
    this.message = kept.message
    this.differences = kept.differences
    this.file = kept.file
    this.line = kept.line
    this.revision = kept.revision
    this.service = kept.service
    this.pipeId = kept.pipeId
    this.state = kept.state
    this.lastReconciledAt = kept.lastReconciledAt
    this.nextReconcileAt = kept.nextReconcileAt
    this.#manifest = manifest
    this.#reply = reply
  }

  get kind(): ResourceStatus['kind'] {
    return kindOf(this.key)
  }

  get name(): string {
    return nameOf(this.key)
  }

  get labels(): ResourceStatus['labels'] {
    return this.#manifest?.metadata.labels ?? {}
  }

  get suspendedUntil(): string | undefined {
    return this.#manifest?.policy?.suspend?.until
  }

  get desired(): JsonObject | undefined {
    const desired = this.#manifest && expectedOf(this.#manifest)
    return desired && maskSensitive(desired)
  }

  get observed(): JsonObject | undefined {
    return this.#reply && maskSensitive(shownReply(this.key, this.#reply))
  }

  with(changes: Partial<Kept>): KeptStatus {
    return new KeptStatus({ ...factsOf(this), ...changes }, this.#manifest, this.#reply)
  }

  toJSON(): object {
    return { ...factsOf(this), desired: this.desired, observed: this.observed }
  }
}

/** What is to be shown of a key. */
export function describeStatus(input: {
  readonly key: Key
  readonly entry: Entry | undefined
  readonly record: LedgerRecord
  readonly look: Look | undefined
  readonly conditions: Conditions
  readonly action: Action
  readonly differences: readonly Difference[]
  readonly message: string
  readonly revision: string
  readonly lastReconciledAt: number | undefined
  readonly nextReconcileAt: number | undefined
}): ResourceStatus {
  const { entry, record, look, conditions, action, ...told } = input
  const kept = {
    ...told,
    status: statusOf(conditions),
    conditions,
    action: action.type,
    reason: conditions.Valid.status === 'False' ? conditions.Valid.reason : worstReason(conditions),
    file: entry?.position.file ?? record.file,
    line: entry?.position.line ?? record.line,
    service: serviceNameOf(entry, record),
    pipeId: record.pipe?.id,
    state: look?.state,
  }
  return new KeptStatus(kept, entry?.manifest, look?.reply)
}

/** The same status but for some of what it says. */
export function changedStatus(status: ResourceStatus, changes: Partial<Kept>): ResourceStatus {
  return status instanceof KeptStatus ? status.with(changes) : { ...status, ...changes }
}

function worstReason({ Synced, Ready }: Conditions): ResourceStatus['reason'] {
  return Synced.status === 'True' && Ready.status !== 'True' ? Ready.reason : Synced.reason
}

function serviceNameOf(entry: Entry | undefined, record: LedgerRecord): string | undefined {
  const manifest = entry?.manifest
  const service = asService(manifest)
  if (service !== undefined) return service.metadata.name
  return (manifest && serviceOf(manifest)) ?? record.service?.name
}
