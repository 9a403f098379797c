import type { CreateOnceKind, ReadableKind, UpsertKind } from '../kinds/definition.ts'
import type { Step } from '../plan/action.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'

/** 0: changed or requested. 1: retry. 2: drift check. */
export type Priority = 0 | 1 | 2

export interface ServiceAccess {
  /** `metadata.name` of its manifest. Services take turns by it. */
  readonly name: string
  readonly organizationId: string
  readonly serviceId: string
  /** Mounted secret with `keyId` and `keySecret`. */
  readonly secretName: string
}

export interface ReadOptions {
  readonly priority: Priority
  readonly signal: AbortSignal
}

export interface Reply<T> {
  /** As received. It can repeat secrets. */
  readonly value: T
  /** `requestId` of the envelope. Alerts have none. */
  readonly requestId: string | undefined
  /** Equal for equal credentials. */
  readonly credential: string
}

export interface ReadTarget {
  readonly kind: ReadableKind
  /** Undefined for a kind without a service. */
  readonly service: ServiceAccess | undefined
  /** The service's id if a service has one resource of the kind. */
  readonly id: string
  /** As a list just showed it: a plan reads no more. */
  readonly listed?: Reply<RemoteResource> | undefined
}

/** Reads that share their permits with a dependent write. */
export interface Looks {
  /**
   * Without retries. With a budget of one request, it uses the write's permit and waits for another.
   * @throws as {@link Platform.read}
   */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  /** As {@link Platform.list}, for the service of the write. */
  list(kind: CreateOnceKind, options: ReadOptions): Promise<Reply<readonly RemoteResource[]>>
  /** Wait for another permit after the next read: ms. 0 if there are permits for both. */
  readonly lookCostsMs: number
}

export interface CreateRequest {
  /** JSON text with resolved secrets. */
  readonly body: string
  /** Sent as `Idempotency-Key`. */
  readonly intentId: string
  /** Latest first byte, in ms of the monotonic clock. */
  readonly notAfter: number
}

export interface ChangeTarget extends DeleteTarget {
  readonly kind: CreateOnceKind
  readonly way: Step['way']
  readonly isRepeatable: boolean
}

export interface DeleteTarget {
  readonly kind: CreateOnceKind | UpsertKind
  readonly service: ServiceAccess
  /** The service's id if a service has one resource of the kind. */
  readonly id: string
}

/** The right to send one create. */
export interface CreatePermit extends Looks {
  readonly service: ServiceAccess
  /** Starts at the first byte. */
  readonly deadlineMs: number
  /** Wait for other permits: ms. Earlier reads are older by this. */
  readonly waitedMs: number
  /**
   * `POST …/pipes`, once, on its own connection. Call it after the intent is durable. Only its deadline
   * stops it.
   * @throws {RemoteError} with a known `effect`
   */
  send(request: CreateRequest): Promise<Reply<RemoteResource>>
  /** Returns unused permits. Must always be called. */
  release(): void
}

export interface AdmitOptions extends ReadOptions {
  /** Calls of {@link Looks.read} and {@link Looks.list}. Each needs a permit. */
  readonly looks: 0 | 1 | 2
}

/**
 * The requests of `docs/reference/default-platform.md`. Each method throws {@link RemoteError}, {@link
 * SecretUnavailableError} without mounted credentials, or the signal's reason after an abort.
 */
export interface Platform {
  /** `GET` by id. Only the platform's own 404 is class `Missing`. */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  /** Resources as {@link read} returns them. One that it lacks might still exist. */
  list(
    kind: CreateOnceKind,
    service: ServiceAccess,
    options: ReadOptions,
  ): Promise<Reply<readonly RemoteResource[]>>
  /** Waits for the budget and reads the credentials. Sends no request. */
  admitCreate(kind: CreateOnceKind, service: ServiceAccess, options: AdmitOptions): Promise<CreatePermit>
  /**
   * `POST`. Idempotent: it replaces the whole configuration.
   * @param body makes the JSON text before each attempt; can look once before; its error is thrown instead
   */
  upsert(
    kind: UpsertKind,
    service: ServiceAccess,
    body: (looks: Looks) => Promise<string>,
    options: ReadOptions,
  ): Promise<Reply<RemoteResource>>
  /**
   * `DELETE`. Class `Missing` only from the platform itself. The reply can come before the resource is gone.
   * @param check called before each attempt; its error is thrown instead
   * @returns undefined in a dry run
   */
  remove(
    target: DeleteTarget,
    check: (looks: Looks) => Promise<void>,
    options: ReadOptions,
  ): Promise<Reply<unknown> | undefined>
  /**
   * Ignores the reply's content: a later read shows the effect.
   * @param body as in {@link upsert}
   * @returns undefined in a dry run
   */
  change(
    target: ChangeTarget,
    body: (looks: Looks) => Promise<string>,
    options: ReadOptions,
  ): Promise<Reply<unknown> | undefined>
}
