import type { Key } from '../kinds/key.ts'
import { knownKey } from '../kinds/lookup.ts'
import { z } from '../kinds/zod.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { Conditions } from './condition.ts'
import { parseReason, type Reason } from './reason.ts'
import { A_TIME, INNER_REASON } from './reasons/row.ts'

export const RecordedKey = z.custom<Key>(
  (value) => typeof value === 'string' && knownKey(value) !== undefined,
)

export const RecordedReason = z
  .custom<Reason>((value) => typeof value === 'string')
  .transform((reason) => parseReason(reason) ?? reason)

/* All times of changes are `steadyNow` times, which clock changes do not affect. */

/** An edit, journaled before it is sent. Kept until a read shows its effect. */
export const Change = z
  .strictObject({
    digest: z.string(),
    at: A_TIME,
    fields: z.array(z.string()).readonly(),
    isSent: z.literal(true).optional(),
    /** The first of two requests was sent: it removes the tables that change. */
    isHalfSent: z.literal(true).optional(),
    /** The service said that the change needs a stopped pipe. */
    waitsForRest: z.literal(true).optional(),
    /** Number of refusals after a stop. Each doubles the wait before the next attempt. */
    refusals: z.int().optional(),
    /** Why the change failed after a stop. Old records have a text instead. */
    refused: z.union([INNER_REASON, z.string().transform(() => ({ reason: 'Rejected' }))]).optional(),
  })
  .readonly()
export type Change = z.infer<typeof Change>

export const Correction = z
  .strictObject({ count: z.int().min(1), at: A_TIME, before: A_TIME.optional() })
  .readonly()
export type Correction = z.infer<typeof Correction>

/** The last start or stop. Kept until a read shows its effect. */
export const Command = z
  .strictObject({
    command: z.enum(['start', 'stop']),
    at: A_TIME,
    /** When the first command was sent, if it was repeated without effect. */
    since: A_TIME.optional(),
    /** The pipe was stopped for a change. Kept until a read shows that the pipe runs again. */
    isForChange: z.literal(true).optional(),
  })
  .readonly()
export type Command = z.infer<typeof Command>

/** A deletion that the manifest asks for. Until it is sent, the manifest can withdraw it. */
export const Removal = z
  .strictObject({
    since: A_TIME,
    /** Digest of the spec that replaces this one, or `absent` for a deletion. Old records lack it. */
    digest: z.string().optional(),
    /** Set before the deletion is sent. */
    isSent: z.literal(true).optional(),
    sentAt: A_TIME.optional(),
    /** Set after a success: the next 404 confirms the deletion. */
    isAnswered: z.literal(true).optional(),
    /** The delete limit blocked the deletion. So the ten minutes begin again, except if an operator allows it. */
    isLimited: z.literal(true).optional(),
  })
  .readonly()
export type Removal = z.infer<typeof Removal>

const ServiceIdentity = z
  .strictObject({ name: z.string(), organizationId: z.string(), serviceId: z.string() })
  .readonly()
export type ServiceIdentity = z.infer<typeof ServiceIdentity>

/** Not `z.record`, because that makes a copy with many times the memory. */
const Hashes = z.custom<Readonly<Record<string, string>>>(
  (value) => isObject(value) && Object.values(value).every((hash) => typeof hash === 'string'),
)

export const FOREIGN_KEPT = 10

const Remote = z
  .strictObject({
    id: z.string().min(1),
    origin: z.enum(['created', 'adopted']),
    at: A_TIME,
    revision: z.string(),
    requestId: z.string().optional(),
    /** Keyed hashes of name and identifying fields in the last read, if they differ from the manifest. */
    seenAs: Hashes.optional(),
    /** Settings that manifests do not support, so a new resource would lack them. */
    foreign: z.array(z.string()).max(FOREIGN_KEPT).readonly().optional(),
    seenAt: A_TIME.optional(),
    /** A read showed spec.scaling as the create sent it. Later differences are drift. */
    isSizeSeen: z.literal(true).optional(),
    /** When a person said that the resource is gone. Removed if a read finds the resource. */
    saidGoneAt: A_TIME.optional(),
    /** When a read found the resource, although `policy.recreate` says that it is gone. Then the policy is ignored. */
    refutedAt: A_TIME.optional(),
  })
  .readonly()
export type Remote = z.infer<typeof Remote>

const Fingerprint = z
  .strictObject({
    /** Digest of the body with references: a rotated secret does not change it. */
    digest: z.string(),
    /** Dotted path of each field → keyed hash of its canonical value. */
    fields: Hashes,
    /** Dotted path of each secretRef → keyed hash of the secret's value. */
    secrets: Hashes,
  })
  .readonly()
export type Fingerprint = z.infer<typeof Fingerprint>

const Former = z
  .strictObject({
    remote: Remote,
    service: ServiceIdentity.optional(),
    platformName: z.string().optional(),
    applied: Fingerprint.optional(),
  })
  .readonly()

export const EARLIER_KEPT = 10

const Replaced = z
  .strictObject({
    count: z.int().min(1),
    /** A `steadyNow`, unaffected by clock changes. */
    at: A_TIME,
    id: z.string().optional(),
    earlier: z.array(z.string()).max(EARLIER_KEPT).readonly().optional(),
  })
  .readonly()
export type Replaced = z.infer<typeof Replaced>

const Seen = z
  .strictObject({
    at: A_TIME,
    httpStatus: z.number().optional(),
    requestId: z.string().optional(),
    /** In words, such as "the connection was reset". */
    what: z.string(),
    /** Id in the reply, if a read must still confirm it. */
    pipeId: z.string().optional(),
    /** Origin of the request's proxy, which might deliver it later. */
    proxy: z.string().optional(),
  })
  .readonly()
export type Seen = z.infer<typeof Seen>

/** A create, journaled before it is sent. */
const Intent = z
  .strictObject({
    /** UUID. Sent as `Idempotency-Key`. */
    id: z.string(),
    /** Counts the creates of this key, because clocks cannot order them. */
    attempt: z.int().min(1),
    reason: RecordedReason,
    /** SHA-256 of the canonical body, with secrets as keyed hashes. */
    requestDigest: z.string(),
    revision: z.string(),
    openedAt: A_TIME,
    /** Time limit for sending the request: a `steadyNow`. */
    sendBy: A_TIME,
    /** Time limit for writing the outcome, if the process still runs: a `steadyNow`. */
    endBy: A_TIME,
    /** For this many ms after the request, the service can still carry out the create. */
    lastsMs: z.number().optional(),
    /**
     * `open`: no outcome yet; counts as `unknown` after a restart. `failed`: no effect. `unknown`: it might have
     * worked. `dismissed`: a person says that no pipe was made, or used --force. `succeeded`: `remote` holds the id.
     */
    state: z.enum(['open', 'failed', 'unknown', 'dismissed', 'succeeded']),
    seen: Seen.optional(),
    /** When `policy.retryCreate` was read too early to have an effect: the request could still arrive. */
    saidEarlyAt: A_TIME.optional(),
    /** Not counted by the create limit, because a person allowed it. */
    isAllowed: z.literal(true).optional(),
    earlier: z.array(A_TIME).readonly().optional(),
  })
  .readonly()
export type Intent = z.infer<typeof Intent>

/** Not strict: earlier versions had `isTakenOver`. */
const RecordedUpsert = z
  .object({
    at: A_TIME,
    revision: z.string(),
    requestId: z.string().optional(),
    reply: z.custom<JsonObject>(isObject).optional(),
    /** An earlier request with another body might still arrive. */
    mightBeLate: z.boolean().optional(),
  })
  .readonly()

/** The pipe's fields when last in sync. Absent if its policy allows no deletion. */
const Left = z
  .strictObject({
    digest: z.string(),
    /** A `steadyNow`, unaffected by clock changes. */
    since: A_TIME,
    fields: Hashes,
  })
  .readonly()

const Backoff = z
  .strictObject({
    failures: z.int(),
    until: A_TIME,
    /** Digest of the manifest and its secrets. A change ends the back-off. */
    digest: z.string(),
  })
  .readonly()
export type Backoff = z.infer<typeof Backoff>

export const DIFFERENCES_KEPT = 10

/** A few kilobytes of JSON. Secrets and sensitive values are keyed hashes. */
export const LedgerRecord = z
  .strictObject({
    key: RecordedKey,
    /** The version that a write replaces. 0: never written. */
    version: z.int().min(0),
    /** Last position of the manifest, relative to the directory. */
    file: z.string().optional(),
    line: z.number().optional(),
    /** While the manifest is invalid: the file of its last valid version. */
    validIn: z.string().optional(),
    labels: z.record(z.string(), z.string()).readonly().optional(),
    service: ServiceIdentity.optional(),
    /** `spec.name` of the last request. */
    platformName: z.string().optional(),
    remote: Remote.optional(),
    /** The pipe that is being replaced, until the ledger has the id of the new one. */
    former: Former.optional(),
    replaced: Replaced.optional(),
    intent: Intent.optional(),
    /** A person's permission for a create beyond the create limit. */
    allowed: z
      .strictObject({
        digest: z.string(),
        at: A_TIME,
        /** A `steadyNow`, unaffected by clock changes. */
        until: A_TIME,
      })
      .readonly()
      .optional(),
    /** Written by the commands `suspend`, which sets `until`, and `resume`. Ends at the next revision. */
    suspension: z
      .strictObject({
        revision: z.string(),
        at: A_TIME,
        reason: z.string().optional(),
        until: z.string().optional(),
      })
      .readonly()
      .optional(),
    upsert: RecordedUpsert.optional(),
    /** `digest` was first read at `revision`. */
    manifest: z.strictObject({ digest: z.string(), revision: z.string() }).readonly().optional(),
    differences: z
      .array(z.strictObject({ field: z.string(), desired: z.string(), observed: z.string() }).readonly())
      .max(DIFFERENCES_KEPT)
      .readonly()
      .optional(),
    /** Body of the last create, adoption or apply. */
    applied: Fingerprint.optional(),
    /** Body of the last valid manifest, if different from `applied`. Used to detect renames. */
    wanted: Fingerprint.unwrap().omit({ secrets: true }).readonly().optional(),
    removal: Removal.optional(),
    left: Left.optional(),
    change: Change.optional(),
    command: Command.optional(),
    /** The last correction of each field. `stop` and `start` mean the run state. */
    corrections: z.record(z.string(), Correction).readonly().optional(),
    backoff: Backoff.optional(),
    /** Unreadable conditions of another version are dropped, because each reconcile computes new ones. */
    conditions: Conditions.optional().catch(undefined),
  })
  .readonly()
export type LedgerRecord = z.infer<typeof LedgerRecord>

export function lastValidIn({ validIn, conditions, file }: LedgerRecord): string | undefined {
  return validIn ?? (conditions?.Valid.status === 'True' ? file : undefined)
}

export function blankRecord(key: Key): LedgerRecord {
  return { key, version: 0 }
}
