import type { JsonObject } from '../lib/json.ts'
import type { Key } from '../kinds/key.ts'
import type { Conditions } from './condition.ts'
import type { Reason } from './reason.ts'

/**
 * What the ledger says we did for one key. One JSON document of a few kilobytes; it never holds a secret,
 * not even a sensitive value: of those only keyed hashes.
 */
export interface LedgerRecord {
  readonly key: Key
  /** Counts the writes; a write names the version it replaces, and fails when another one came first. 0: never written. */
  readonly version: number
  /** Where the manifest was last seen: relative path and line. */
  readonly file: string | undefined
  readonly line: number | undefined
  /** The service it was created in, as its Service manifest then said. */
  readonly service: ServiceIdentity | undefined
  /** The name on the platform (`spec.name`) when it was last asked for. */
  readonly platformName: string | undefined
  /** The pipe, once there is one. */
  readonly pipe: RecordedPipe | undefined
  /**
   * The pipe that the last attempt is to replace, with what the record said of it; there only until the attempt has an
   * outcome: given up when the new id is durable, and the record's pipe again when nothing was created.
   */
  readonly former: FormerPipe | undefined
  /** How often, and when last, a pipe of this key was replaced by a new one. */
  readonly replaced: Replaced | undefined
  /** The last attempt to create, of whatever fate; `attempt` only ever grows. */
  readonly intent: Intent | undefined
  /** The query endpoint's last upsert. */
  readonly upsert: RecordedUpsert | undefined
  /** What was asked for when it was created, adopted or last applied. */
  readonly applied: Fingerprint | undefined
  readonly backoff: Backoff | undefined
  readonly conditions: Conditions | undefined
}

export interface ServiceIdentity {
  readonly name: string
  readonly organizationId: string
  readonly serviceId: string
}

export interface RecordedPipe {
  readonly id: string
  readonly origin: 'created' | 'adopted'
  /** When the id was recorded: ms since the epoch. */
  readonly at: number
  readonly revision: string
  readonly requestId: string | undefined
  /** When a reading first found it: ms since the epoch. Undefined: none has so far. */
  readonly seenAt: number | undefined
  /** When a person said at the shell that it is gone: ms since the epoch. A reading that finds it ends that. */
  readonly saidGoneAt: number | undefined
  /** When a reading found it although `policy.recreate` says that it is gone: those words count no more while they stand. */
  readonly refutedAt: number | undefined
}

/** A pipe that is being replaced, and what it was created or adopted with. */
export interface FormerPipe {
  readonly pipe: RecordedPipe
  readonly service: ServiceIdentity | undefined
  readonly platformName: string | undefined
  readonly applied: Fingerprint | undefined
}

export interface Replaced {
  /** Replacements so far, each soon after the one before. */
  readonly count: number
  /** On the steady clock: ms since the epoch. */
  readonly at: number
  /** The pipe that was given up last. Undefined: an earlier version did not keep it. */
  readonly id?: string | undefined
}

/** What we are about to do, written before we do it (design §5). */
export interface Intent {
  /** UUID; travels as `Idempotency-Key`. */
  readonly id: string
  /** From 1, per key. Attempts are ordered by this, never by a clock. */
  readonly attempt: number
  /** Why it was to be created. */
  readonly reason: Reason
  /** SHA-256 of the request's canonical body, secrets as keyed hashes. */
  readonly requestDigest: string
  readonly revision: string
  /** ms since the epoch. */
  readonly openedAt: number
  /** The last moment at which its first byte may go out; on the steady clock, ms since the epoch. */
  readonly sendBy: number
  /** By then the process that sends it has written down what became of it, if it lives; on the steady clock. */
  readonly endBy: number
  /**
   * `open`: written, no outcome recorded; after a restart this is as good as `unknown`.
   * `failed`: the request had no effect. `unknown`: it may have worked, says the process that sent it, which has ended
   * and reset its connection. `dismissed`: a person said that it created nothing. `succeeded`: `pipe` holds the id.
   */
  readonly state: 'open' | 'failed' | 'unknown' | 'dismissed' | 'succeeded'
  /** What was seen of the reply, for the person who has to find out. */
  readonly seen: Seen | undefined
  /**
   * When `policy.retryCreate` was read while the request could still arrive: ms since the epoch. Whoever wrote it looked too
   * early; it counts no more while it stands.
   */
  readonly saidEarlyAt: number | undefined
}

export interface Seen {
  /** ms since the epoch. */
  readonly at: number
  readonly httpStatus: number | undefined
  readonly requestId: string | undefined
  /** In words, such as "the connection was reset after the request was sent". */
  readonly what: string
  /** The id that the reply held, where it may be that of the new pipe: one reading tells. */
  readonly pipeId: string | undefined
}

export interface RecordedUpsert {
  /** ms since the epoch. */
  readonly at: number
  readonly revision: string
  readonly requestId: string | undefined
  /** What the platform answered, as far as the next upsert is compared with it. */
  readonly reply: JsonObject
}

/** What a body asks for, without holding it: a digest of the whole and one of each field. */
export interface Fingerprint {
  /** Digest of the whole body, by references: a rotated secret does not change it. */
  readonly digest: string
  /** Dotted path of each field set → keyed hash of its canonical value. */
  readonly fields: Readonly<Record<string, string>>
  /** Dotted path of each secretRef → keyed hash of the secret's value. */
  readonly secrets: Readonly<Record<string, string>>
}

export interface Backoff {
  readonly failures: number
  /** Not before: ms since the epoch. */
  readonly until: number
  /** What it depends on: an edited manifest or a rotated secret starts afresh. */
  readonly digest: string
}

/** The record of a key that was never written. */
export function blankRecord(key: Key): LedgerRecord {
  return {
    key,
    version: 0,
    file: undefined,
    line: undefined,
    service: undefined,
    platformName: undefined,
    pipe: undefined,
    former: undefined,
    replaced: undefined,
    intent: undefined,
    upsert: undefined,
    applied: undefined,
    backoff: undefined,
    conditions: undefined,
  }
}
