import type { Key } from '../kinds/key.ts'
import type { CreateOnceKind, ReadableKind, UpsertKind } from '../kinds/kind.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'
import type { SecretRef } from '../kinds/secret-ref.ts'
import type { Secret } from '../lib/secret.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { HistoryEntry } from './history.ts'

/*
 * What a reconcile needs of the world, as interfaces; platform/ and ledger/ implement them.
 * They stand here because imports run one way, and reconcile/ is who calls.
 */

/** 0: changed or asked for · 1: retry · 2: drift check. */
export type Priority = 0 | 1 | 2

/** A service as requests need it. */
export interface ServiceAccess {
  /** `metadata.name` of its manifest; the lane in which its requests wait their turn. */
  readonly name: string
  readonly organizationId: string
  readonly serviceId: string
  /** Name of the mounted secret with `keyId` and `keySecret`. */
  readonly secretName: string
}

export interface ReadOptions {
  readonly priority: Priority
  /** Gives up waiting and the request itself. */
  readonly signal: AbortSignal
}

/** A reply as the interface promises it. */
export interface Reply<T> {
  readonly value: T
  /** `requestId` of the envelope; alerts have none (4.4). */
  readonly requestId: string | undefined
  /** Equal for equal credentials: those that it was asked with. */
  readonly credential: string
}

/** What is read: a resource of a kind, by the id that it has on the platform. */
export interface ReadTarget {
  readonly kind: ReadableKind
  /** Undefined for a kind that belongs to no service. */
  readonly service: ServiceAccess | undefined
  readonly id: string
}

/** A create that is to go out now. */
export interface CreateRequest {
  /** JSON text, secrets in place. */
  readonly body: string
  /** Travels as `Idempotency-Key`. */
  readonly intentId: string
  /** On the monotonic clock, ms: later than this its first byte does not go out, and the effect is `none`. */
  readonly notAfter: number
}

/** The right to send one create: a place in the request budget and readable credentials. */
export interface CreatePermit {
  readonly service: ServiceAccess
  /** How long a create may take, from its first byte on: ms. */
  readonly deadlineMs: number
  /**
   * As {@link Platform.read}, once, never retried: asks for what is to be replaced, in a place that was taken with the
   * permit. Where the budget is of a single request, it uses the permit's own place and waits for another afterwards.
   * @throws as {@link Platform.read}
   */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  /**
   * `POST …/pipes` (4.1), once, on a connection of its own, never retried. Only after the intent is durable.
   * Takes no stop signal: it ends by its own deadline.
   * @throws {RemoteError} with `effect` told
   */
  send(request: CreateRequest): Promise<Reply<RemoteResource>>
  /** Gives back the places that were not used. To be called in any case. */
  release(): void
}

export interface AdmitOptions extends ReadOptions {
  /** Whether {@link CreatePermit.read} will be called: then there has to be a place for it too. */
  readonly looksFirst: boolean
}

/**
 * The operations of the interface (`spec/api.md` 4), each by the lifecycle of what it is for. Every method throws {@link RemoteError}, or
 * {@link SecretUnavailableError} when the credentials are not mounted, or the signal's reason once it is aborted.
 */
export interface Platform {
  /** `GET` by id (4.2, 4.4). A 404 is class `Missing` when it is the platform's own. */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  /** Waits for the budget under `options.signal`, reads the credentials, and sends nothing. */
  admitCreate(kind: CreateOnceKind, service: ServiceAccess, options: AdmitOptions): Promise<CreatePermit>
  /**
   * `POST` (4.3). Idempotent: it replaces the whole configuration.
   * @param body makes the request body as JSON text, when the request may be sent, and anew before each attempt; what it
   * throws is thrown, and nothing is sent
   */
  upsert(
    kind: UpsertKind,
    service: ServiceAccess,
    body: () => Promise<string>,
    options: ReadOptions,
  ): Promise<Reply<RemoteResource>>
}

/** A mounted secret, or the file that was looked for in vain. Never an error that could carry content. */
export type SecretReading =
  | { readonly found: true; readonly value: Secret }
  | { readonly found: false; readonly file: string; readonly why: 'absent' | 'unreadable' | 'empty' }

/** Mounted secrets: the file `<secrets-dir>/<name>/<key>`. Read anew each time; Kubernetes swaps them. */
export interface SecretStore {
  read(ref: SecretRef['secretRef']): Promise<SecretReading>
}

/** A request was not sent, because the platform's own credentials cannot be read. Never holds content. */
export class SecretUnavailableError extends Error {
  /** The file that was looked for, in vain. */
  readonly file: string
  readonly why: 'absent' | 'unreadable' | 'empty' | 'malformed'

  constructor(file: string, why: SecretUnavailableError['why'], message: string) {
    super(message)
    this.name = 'SecretUnavailableError'
    this.file = file
    this.why = why
  }
}

/** The durable memory (design §9). Compare-and-set; whoever loses gets a {@link LedgerConflict}. */
export interface Ledger extends AsyncDisposable {
  /** Random, made with the ledger; keys the hashes of secrets. 32 bytes. */
  readonly hashKey: Uint8Array
  /** As it was when asked, or a moment before: a write on top of an older version is refused, and from then on it is seen. */
  get(key: Key): Promise<LedgerRecord | undefined>
  /** All records, in the order of their keys. */
  list(): Promise<readonly LedgerRecord[]>
  /**
   * Replaces the record whose version is `next.version` (0: there must be none) by `next` with the version
   * after it, and adds `history`, in one transaction that is durable when the promise is fulfilled.
   * @returns the record as written
   * @throws {LedgerConflict} when the version is another one; nothing was written
   * @throws {LedgerError} when it could not be written; nothing is known to have been written
   */
  swap(next: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord>
  /** As {@link swap}, for what became of a create: it may use the room that was reserved. */
  settle(next: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord>
  /** As {@link swap}, for two records in one transaction: a record that moves to another key. */
  move(from: LedgerRecord, to: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord>
  /** Forgets a record; the same compare-and-set. */
  remove(record: LedgerRecord, history: readonly HistoryEntry[]): Promise<void>
  /**
   * Makes sure that there is room for what becomes of a create, where it can: to be called before each intent.
   * @throws {LedgerError} when there is none
   */
  reserveRoom(): Promise<void>
  /** Newest first. */
  history(query: HistoryQuery): Promise<readonly HistoryEntry[]>
  /**
   * Calls `onWritten` soon after somebody else, such as a person's command, has written; what it was, {@link versions} tells.
   * When that fails with a {@link LedgerError}, it is called again.
   * @returns ends it
   * @throws {LedgerError}
   */
  watch(onWritten: () => Promise<void>): Promise<() => void>
  /** The version of every record, without reading the records: what to compare with after somebody else has written. */
  versions(): Promise<ReadonlyMap<Key, number>>
  /** Whether an owner, the daemon or `apply`, works with it at this moment; true for the owner itself. */
  owned(): Promise<boolean>
}

export interface HistoryQuery {
  readonly key: Key | undefined
  /** From 1. */
  readonly limit: number
}

/** Somebody else wrote the record first. Read it again and decide anew. */
export class LedgerConflict extends Error {
  constructor(key: Key, expected: number) {
    super(`the record of ${key} is no longer at version ${expected}`)
    this.name = 'LedgerConflict'
  }
}

/** The ledger cannot be used: locked, corrupt, newer than this program, of another platform, or not writable. The message says which. */
export class LedgerError extends Error {
  readonly code: 'locked' | 'corrupt' | 'newer' | 'missing' | 'platform' | 'io'

  constructor(code: LedgerError['code'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LedgerError'
    this.code = code
  }
}
