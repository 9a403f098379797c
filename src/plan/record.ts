import type { Key } from '../kinds/key.ts'
import { knownKey } from '../kinds/lookup.ts'
import { z } from '../kinds/zod.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { Conditions } from './condition.ts'
import { parseReason, type Reason } from './reason.ts'
import { Change, Command, Correction, Removal, Time } from './recorded-change.ts'

/*
 * What is recorded is declared here once: its types are inferred, and the ledger checks with the same schemas what it reads.
 * A field that is absent is `undefined`, as JSON has no word for that.
 */

export const RecordedKey = z.custom<Key>(
  (value) => typeof value === 'string' && knownKey(value) !== undefined,
)

/** Of what has happened, a reason that another version knew is still worth showing. */
export const RecordedReason = z
  .custom<Reason>((value) => typeof value === 'string')
  .transform((reason) => parseReason(reason) ?? reason)

/** The service that something was created in, as its Service manifest then said. */
const ServiceIdentity = z
  .strictObject({ name: z.string(), organizationId: z.string(), serviceId: z.string() })
  .readonly()
export type ServiceIdentity = z.infer<typeof ServiceIdentity>

/** What was created or adopted: it has an id on the platform. */
const Remote = z
  .strictObject({
    id: z.string().min(1),
    origin: z.enum(['created', 'adopted']),
    /** When the id was recorded. */
    at: Time,
    revision: z.string(),
    requestId: z.string().optional(),
    /** When a reading first found it. Undefined: none has so far. */
    seenAt: Time.optional(),
    /** Its size was seen as it was asked for, or sent since it was created: another one is somebody's doing. */
    isSizeSeen: z.literal(true).optional(),
    /** When a person said at the shell that it is gone. A reading that finds it ends that. */
    saidGoneAt: Time.optional(),
    /** When a reading found it although `policy.recreate` says that it is gone: that line counts no more while it stands. */
    refutedAt: Time.optional(),
  })
  .readonly()
export type Remote = z.infer<typeof Remote>

/** Passed on as it was read: a copy of such an object, made member by member, takes many times its room. */
const Hashes = z.custom<Readonly<Record<string, string>>>(
  (value) => isObject(value) && Object.values(value).every((hash) => typeof hash === 'string'),
)

/** What a body asks for, without holding it: a digest of the whole and one of each field. */
const Fingerprint = z
  .strictObject({
    /** Digest of the whole body, by references: a rotated secret does not change it. */
    digest: z.string(),
    /** Dotted path of each field set → keyed hash of its canonical value. */
    fields: Hashes,
    /** Dotted path of each secretRef → keyed hash of the secret's value. */
    secrets: Hashes,
  })
  .readonly()
export type Fingerprint = z.infer<typeof Fingerprint>

/** What is being replaced, and what it was created or adopted with. */
const Former = z
  .strictObject({
    remote: Remote,
    service: ServiceIdentity.optional(),
    platformName: z.string().optional(),
    applied: Fingerprint.optional(),
  })
  .readonly()
export type Former = z.infer<typeof Former>

/** A manifest or a Lock names the first pipe of a key, or the last one. */
export const EARLIER_KEPT = 10

const Replaced = z
  .strictObject({
    /** Replacements so far, each soon after the one before. */
    count: z.int().min(1),
    /** On the steady clock. */
    at: Time,
    /** The one that was given up last. Undefined: an earlier version did not keep it. */
    id: z.string().optional(),
    /** The ones before it, the first of them first. */
    earlier: z.array(z.string()).max(EARLIER_KEPT).readonly().optional(),
  })
  .readonly()
export type Replaced = z.infer<typeof Replaced>

/** What was seen of a reply, for the person who has to find out. */
const Seen = z
  .strictObject({
    at: Time,
    httpStatus: z.number().optional(),
    requestId: z.string().optional(),
    /** In words, such as "the connection was reset after the request was sent". */
    what: z.string(),
    /** The id that the reply held, where it may be that of what was created: one reading tells. */
    pipeId: z.string().optional(),
    /** Origin of the proxy that the request went through: it may pass it on later. */
    proxy: z.string().optional(),
  })
  .readonly()
export type Seen = z.infer<typeof Seen>

/** What we are about to do, written before we do it (design §5). */
const Intent = z
  .strictObject({
    /** UUID; travels as `Idempotency-Key`. */
    id: z.string(),
    /** From 1, per key. Attempts are ordered by this, never by a clock. */
    attempt: z.int().min(1),
    /** Why it was to be created. */
    reason: RecordedReason,
    /** SHA-256 of the request's canonical body, secrets as keyed hashes. */
    requestDigest: z.string(),
    revision: z.string(),
    openedAt: Time,
    /** The last moment at which its first byte may go out; on the steady clock. */
    sendBy: Time,
    /** By then the process that sends it has written down what became of it, if it lives; on the steady clock. */
    endBy: Time,
    /**
     * `open`: written, no outcome recorded; after a restart this is as good as `unknown`.
     * `failed`: the request had no effect. `unknown`: it may have worked, says the process that sent it, which has ended
     * and reset its connection, if only the one to a proxy. `dismissed`: a person said that it created nothing, or set it aside with --force. `succeeded`: `remote` holds the id.
     */
    state: z.enum(['open', 'failed', 'unknown', 'dismissed', 'succeeded']),
    seen: Seen.optional(),
    /**
     * When `policy.retryCreate` was read while the request could still arrive. Whoever wrote it looked too early; it counts
     * no more while it stands.
     */
    saidEarlyAt: Time.optional(),
    /** A person let it pass the create limit, and so it does not count against others. */
    isAllowed: z.literal(true).optional(),
    /** Creations of this key before this one that counted against the create limit when it was opened: as `madeAt`. */
    earlier: z.array(Time).readonly().optional(),
  })
  .readonly()
export type Intent = z.infer<typeof Intent>

const RecordedUpsert = z
  .strictObject({
    at: Time,
    revision: z.string(),
    requestId: z.string().optional(),
    /** What the platform answered, as far as the next upsert is compared with it. */
    reply: z.custom<JsonObject>(isObject),
    /** Nothing was sent: it was there, as the manifest asks for. */
    isTakenOver: z.literal(true).optional(),
  })
  .readonly()
export type RecordedUpsert = z.infer<typeof RecordedUpsert>

/** What was seen of it while it was in sync; only while its manifest lets it be deleted. */
const Left = z
  .strictObject({
    /** What its manifest asked for then: as that of {@link Fingerprint}. */
    digest: z.string(),
    /** Since when it was seen so; on the steady clock. */
    since: Time,
    fields: Hashes,
  })
  .readonly()

const Backoff = z
  .strictObject({
    failures: z.int(),
    /** Not before. */
    until: Time,
    /** What it depends on: an edited manifest or a rotated secret starts afresh. */
    digest: z.string(),
  })
  .readonly()
export type Backoff = z.infer<typeof Backoff>

/** So many differing fields keep a record within a few kilobytes. */
export const DIFFERENCES_KEPT = 10

/**
 * What the ledger says we did for one key. One JSON document of a few kilobytes; it never holds a secret,
 * not even a sensitive value: of those only keyed hashes.
 */
export const LedgerRecord = z
  .strictObject({
    key: RecordedKey,
    /** Counts the writes; a write names the version it replaces, and fails when another one came first. 0: never written. */
    version: z.int().min(0),
    /** Where the manifest was last seen: relative path and line. */
    file: z.string().optional(),
    line: z.number().optional(),
    /** Where its manifest stood when it was last valid; only while it is not. */
    validIn: z.string().optional(),
    /** Of its manifest. */
    labels: z.record(z.string(), z.string()).readonly().optional(),
    service: ServiceIdentity.optional(),
    /** The name on the platform (`spec.name`) when it was last asked for. */
    platformName: z.string().optional(),
    /** What it is on the platform, once it was created or adopted. */
    remote: Remote.optional(),
    /**
     * What the last attempt is to replace, with what the record said of it; there only until the attempt has an
     * outcome: given up when the new id is durable, and the record's `remote` again when nothing was created.
     */
    former: Former.optional(),
    /** How often, and when last, what this key has was replaced by a new one. */
    replaced: Replaced.optional(),
    /** The last attempt to create, of whatever fate; `attempt` only ever grows. */
    intent: Intent.optional(),
    /** A person's word that this may be created although the create limit is reached. */
    allowed: z
      .strictObject({
        /** What the manifest said then: for another one it does not count. */
        digest: z.string(),
        at: Time,
        /** Not longer; on the steady clock. */
        until: Time,
      })
      .readonly()
      .optional(),
    /** The query endpoint's last upsert. */
    upsert: RecordedUpsert.optional(),
    /** What its manifest says, and since which revision: a restart does not make it new. */
    manifest: z.strictObject({ digest: z.string(), revision: z.string() }).readonly().optional(),
    /** The fields that differed when it was last read, the first of them; sensitive values masked. */
    differences: z
      .array(z.strictObject({ field: z.string(), desired: z.string(), observed: z.string() }).readonly())
      .max(DIFFERENCES_KEPT)
      .readonly()
      .optional(),
    /** What was asked for when it was created, adopted or last applied. */
    applied: Fingerprint.optional(),
    removal: Removal.optional(),
    left: Left.optional(),
    change: Change.optional(),
    command: Command.optional(),
    /** Corrections of drift, by field; `stop` and `start` are commands. */
    corrections: z.record(z.string(), Correction).readonly().optional(),
    backoff: Backoff.optional(),
    /** Worked out anew at each reconcile: those that another version wrote may be left out. */
    conditions: Conditions.optional().catch(undefined),
  })
  .readonly()
export type LedgerRecord = z.infer<typeof LedgerRecord>

/** Where its manifest was last valid; undefined: it never was, as far as this says. */
export function lastValidIn({ validIn, conditions, file }: LedgerRecord): string | undefined {
  return validIn ?? (conditions?.Valid.status === 'True' ? file : undefined)
}

/** The record of a key that was never written. */
export function blankRecord(key: Key): LedgerRecord {
  return { key, version: 0 }
}
