import type { CreateOnceKind, ReadableKind, UpsertKind } from '../kinds/definition.ts'
import type { ChangeStep } from '../plan/action.ts'
import type { ServiceIdentity } from '../plan/record.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'

/** 0 (first): a changed or requested key. 1: a retry. 2: a drift check. */
export type Priority = 0 | 1 | 2

/** `name`: `metadata.name` of the Service. */
export interface ServiceAccess extends ServiceIdentity {
  /** Name of the mounted secret with `keyId` and `keySecret`. */
  readonly secretName: string
}

export interface ReadOptions {
  readonly priority: Priority
  readonly signal: AbortSignal
}

export interface Reply<T> {
  /** As received. The platform might repeat secrets in it. */
  readonly value: T
  readonly requestId: string | undefined
  /** A digest of the credentials that were sent. */
  readonly credential: string
}

export interface ReadTarget {
  readonly kind: ReadableKind
  readonly service: ServiceAccess | undefined
  /** Id of the resource. For a kind with one resource per service: the service's id. */
  readonly id: string
  /** The resource as a list just showed it. A plan uses this instead of a read. */
  readonly listed?: Reply<RemoteResource> | undefined
}

/** Reads right before a write. Each read and the write use the request budget. */
export interface Looks {
  /**
   * Reads without retries. If the request budget is then empty, waits until it allows the write.
   * @throws as {@link Platform.read}
   */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  list(kind: CreateOnceKind, options: ReadOptions): Promise<Reply<readonly RemoteResource[]>>
  /** Longest wait for the request budget that one more read can cause, in ms. */
  readonly lookCostsMs: number
}

export interface CreateRequest {
  /** JSON text with resolved secrets. */
  readonly body: string
  readonly intentId: string
  /** Time limit for sending the first byte. Monotonic ms. */
  readonly notAfter: number
}

export interface ChangeTarget extends DeleteTarget {
  readonly kind: CreateOnceKind
  readonly way: ChangeStep['way']
  readonly isRepeatable: boolean
}

export interface DeleteTarget {
  readonly kind: CreateOnceKind | UpsertKind
  readonly service: ServiceAccess
  readonly id: string
}

export interface CreatePermit extends Looks {
  readonly service: ServiceAccess
  /** Time limit of the request, from its first byte. */
  readonly deadlineMs: number
  /** ms that the create waited for the request budget after its reads. */
  readonly waitedMs: number
  /**
   * Sends `POST …/pipes` once, on its own connection. The intent must be durable before. Only the deadline
   * ends a sent request.
   * @throws {RemoteError} with a known `effect`
   */
  send(request: CreateRequest): Promise<Reply<RemoteResource>>
  /** Gives unused requests back to the budget. Must always be called. */
  release(): void
}

/**
 * The requests of `docs/reference/default-platform.md`. Each method throws {@link RemoteError}, {@link
 * SecretUnavailableError} without mounted credentials, or the signal's reason after an abort.
 */
export interface Platform {
  /** `GET` by id. @throws {RemoteError} class `Missing` only after a 404 of the platform, not of a proxy */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  /** Resources as {@link read} returns them. A resource that is not listed might still exist. */
  list(
    kind: CreateOnceKind,
    service: ServiceAccess,
    options: ReadOptions,
  ): Promise<Reply<readonly RemoteResource[]>>
  /**
   * Waits for the budget and reads the credentials. Sends no request.
   * @param options `looks`: number of reads right before the create. Each uses the request budget.
   */
  admitCreate(
    kind: CreateOnceKind,
    service: ServiceAccess,
    options: ReadOptions & { readonly looks: 0 | 1 | 2 },
  ): Promise<CreatePermit>
  /**
   * `POST`. Idempotent: it replaces the whole configuration.
   * @param body returns the JSON text for an attempt; if it throws, no request is sent
   */
  upsert(
    kind: UpsertKind,
    service: ServiceAccess,
    body: (looks: Looks) => Promise<string>,
    options: ReadOptions,
  ): Promise<Reply<RemoteResource>>
  /**
   * `DELETE`. The reply can come before the resource is gone.
   * @param check called before each attempt; if it throws, no request is sent
   * @returns undefined in a dry run
   */
  remove(
    target: DeleteTarget,
    check: (looks: Looks) => Promise<void>,
    options: ReadOptions,
  ): Promise<Reply<unknown> | undefined>
  /**
   * Sends a change. Ignores the content of the reply, because a later read shows the effect.
   * @param body returns the JSON text for an attempt; if `body` throws, no request is sent
   * @returns undefined in a dry run
   */
  change(
    target: ChangeTarget,
    body: (looks: Looks) => Promise<string>,
    options: ReadOptions,
  ): Promise<Reply<unknown> | undefined>
}
