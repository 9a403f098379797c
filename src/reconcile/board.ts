import type { Entry } from '../kinds/catalog.ts'
import type { Position } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import { kindOf, nameOf } from '../kinds/key.ts'
import { serviceOf } from '../kinds/kept-manifest.ts'
import { maskSensitive } from '../kinds/mask.ts'
import { returnedBody } from '../kinds/returned-body.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Action } from '../plan/action.ts'
import type { Conditions } from '../plan/condition.ts'
import { statusOf } from '../plan/conditions.ts'
import type { Difference } from '../kinds/difference.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { ResourceStatus, StatusBoard } from './status.ts'
import type { KeptReply } from './kept-reply.ts'
import type { Look } from './world.ts'
import { expectedOf } from './asked-body.ts'

/** The read model, kept up to date by whoever reconciles. */
export interface WritableBoard extends StatusBoard {
  set(status: ResourceStatus): void
  remove(key: Key): void
}

export function createBoard(): WritableBoard {
  const statuses = new Map<Key, ResourceStatus>()
  let sorted: readonly Key[] | undefined
  return {
    get: (key) => statuses.get(key),
    list() {
      sorted ??= [...statuses.keys()].toSorted()
      return sorted.flatMap((key) => statuses.get(key) ?? [])
    },
    set(status) {
      if (!statuses.has(status.key)) sorted = undefined
      statuses.set(status.key, status)
    },
    remove(key) {
      if (statuses.delete(key)) sorted = undefined
    },
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
  const { key, entry, record, look, conditions, action } = input
  const manifest = entry?.manifest
  const facts = {
    key,
    kind: kindOf(key),
    name: nameOf(key),
    labels: manifest?.metadata.labels ?? {},
    status: statusOf(conditions),
    conditions,
    action: action.type,
    reason: conditions.Valid.status === 'False' ? conditions.Valid.reason : worstReason(conditions),
    message: input.message,
    differences: input.differences,
    file: entry?.position.file ?? record.file,
    line: entry?.position.line ?? record.line,
    revision: input.revision,
    service: serviceNameOf(entry, record),
    pipeId: record.pipe?.id,
    state: look?.state,
    lastReconciledAt: input.lastReconciledAt,
    nextReconcileAt: input.nextReconcileAt,
    suspendedUntil:
      manifest !== undefined && 'policy' in manifest ? manifest.policy?.suspend?.until : undefined,
  }
  return Object.assign(new Bodies(entry, key, look?.reply), facts)
}

/** The same resource at another place of the directory. */
export function movedTo(
  status: ResourceStatus,
  { file, line }: Pick<Position, 'file' | 'line'>,
): ResourceStatus {
  if (!(status instanceof Bodies)) return { ...status, file, line }
  return Object.assign(status.again(), status, { file, line })
}

/**
 * The two bodies of a resource, made when somebody looks: of ten thousand resources nobody looks at most, and as objects
 * they would be the largest part of what a daemon holds.
 */
class Bodies {
  readonly #entry: Entry | undefined
  readonly #key: Key
  readonly #reply: KeptReply | undefined

  constructor(entry: Entry | undefined, key: Key, reply: KeptReply | undefined) {
    this.#entry = entry
    this.#key = key
    this.#reply = reply
  }

  get desired(): JsonObject | undefined {
    return desiredOf(this.#entry)
  }

  get observed(): JsonObject | undefined {
    if (this.#reply === undefined) return undefined
    return maskSensitive(returnedBody(kindOf(this.#key), this.#reply.body))
  }

  again(): Bodies {
    return new Bodies(this.#entry, this.#key, this.#reply)
  }

  toJSON(): object {
    return Object.assign({}, this, { desired: this.desired, observed: this.observed })
  }
}

function worstReason({ Synced, Ready }: Conditions): ResourceStatus['reason'] {
  return Synced.status === 'True' && Ready.status !== 'True' ? Ready.reason : Synced.reason
}

function serviceNameOf(entry: Entry | undefined, record: LedgerRecord): string | undefined {
  const manifest = entry?.manifest
  if (manifest?.kind === 'Service') return manifest.metadata.name
  return (manifest && serviceOf(manifest)) ?? record.service?.name
}

function desiredOf(entry: Entry | undefined): JsonObject | undefined {
  const body = entry?.manifest && expectedOf(entry.manifest)
  return body && (entry.manifest.kind === 'Alert' ? body : maskSensitive(body))
}
