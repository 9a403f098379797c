import type { Key } from '../kinds/key.ts'
import type { Conditions } from './condition.ts'

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
  /** The last attempt to create, of whatever fate; `attempt` only ever grows. */
  readonly intent: Intent | undefined
  /** The query endpoint's last upsert. */
  readonly upsert: RecordedUpsert | undefined
  /** What was asked for when it was created, adopted or last applied. */
  readonly applied: Fingerprint | undefined
  /** 404s in a row, while the pipe is looked for. */
  readonly misses: Misses | undefined
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
}

/** What we are about to do, written before we do it (design §5). */
export interface Intent {
  /** UUID; travels as `Idempotency-Key`. */
  readonly id: string
  /** From 1, per key. Attempts are ordered by this, never by a clock. */
  readonly attempt: number
  /** SHA-256 of the request's canonical body, secrets as keyed hashes. */
  readonly requestDigest: string
  readonly revision: string
  /** ms since the epoch. */
  readonly openedAt: number
  /**
   * `open`: written, no outcome recorded; after a restart this is as good as `unknown`.
   * `failed`: the request had no effect. `unknown`: it may have worked. `succeeded`: `pipe` holds the id.
   */
  readonly state: 'open' | 'failed' | 'unknown' | 'succeeded'
  /** What was seen of the reply, for the person who has to find out. */
  readonly seen: Seen | undefined
}

export interface Seen {
  /** ms since the epoch. */
  readonly at: number
  readonly httpStatus: number | undefined
  readonly requestId: string | undefined
  /** In words, such as "the connection was reset after the request was sent". */
  readonly what: string
}

export interface RecordedUpsert {
  /** ms since the epoch. */
  readonly at: number
  readonly revision: string
  readonly requestId: string | undefined
  /** What the platform answered (2.7): ids of keys are not secrets. */
  readonly reply: {
    readonly id: string
    readonly roles: readonly string[]
    readonly openApiKeys: readonly string[]
    readonly allowedOrigins: string
  }
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

export interface Misses {
  readonly count: number
  /** ms since the epoch. */
  readonly firstAt: number
  readonly lastAt: number
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
    intent: undefined,
    upsert: undefined,
    applied: undefined,
    misses: undefined,
    backoff: undefined,
    conditions: undefined,
  }
}
