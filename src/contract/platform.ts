import type { CreateOnceKind, ReadableKind, UpsertKind } from '../kinds/definition.ts'
import type { Step } from '../plan/action.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'

/*
 * What a reconcile needs of the world, as interfaces; platform/ and ledger/ implement them.
 * They stand here because imports run one way, and reconcile/ is who calls.
 */

/** 0: changed or asked for · 1: retry · 2: drift check. */
export type Priority = 0 | 1 | 2

/** A service as requests need it. */
export interface ServiceAccess {
  /** `metadata.name` of its manifest; the queue in which its requests wait. */
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
  /** As it came. It can repeat secrets. */
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
  /** Where a service has one of the kind, that of the service. */
  readonly id: string
}

/** Readings in places that were taken together with that of a write that depends on them. */
export interface Looks {
  /**
   * As {@link Platform.read}, once, never retried. Where the budget is of a single request, it uses the place of the write and waits for
   * another afterwards.
   * @throws as {@link Platform.read}
   */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  /** The same for {@link Platform.list}, of the service that the write is for. */
  list(kind: CreateOnceKind, options: ReadOptions): Promise<Reply<readonly RemoteResource[]>>
  /** How long the write would have to wait for another place after the next look: ms; none where there is a place for both. */
  readonly lookCostsMs: number
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

/** Something that exists is to be changed by one of the requests of its kind. */
export interface ChangeTarget {
  readonly kind: CreateOnceKind
  readonly way: Step['way']
  readonly service: ServiceAccess
  readonly id: string
  /** Whether it does no harm when it is carried out twice: then it is sent again after a transient failure. */
  readonly isRepeatable: boolean
  /** Whether what is there is read once before each attempt, when it may be sent. */
  readonly looksFirst: boolean
}

/** Something that exists is to be deleted. */
export interface DeleteTarget {
  readonly kind: CreateOnceKind | UpsertKind
  readonly service: ServiceAccess
  /** Where a service has one of the kind, that of the service. */
  readonly id: string
}

/** The right to send one create: a place in the request budget and readable credentials. */
export interface CreatePermit extends Looks {
  readonly service: ServiceAccess
  /** How long a create may take, from its first byte on: ms. */
  readonly deadlineMs: number
  /** How long it has waited for another place after its looks, a window of the budget each at most: ms. What they said is older by so much. */
  readonly waitedMs: number
  /**
   * `POST …/pipes` (4.1), once, on a connection of its own, never retried. Only after the intent is durable.
   * Takes no stop signal: it ends by its own deadline.
   * @throws {RemoteError} with `effect` known
   */
  send(request: CreateRequest): Promise<Reply<RemoteResource>>
  /** Gives back the places that were not used. To be called in any case. */
  release(): void
}

export interface AdmitOptions extends ReadOptions {
  /** How often {@link Looks.read} and {@link Looks.list} will be called: there has to be a place for each. */
  readonly looks: 0 | 1 | 2
}

/**
 * The operations of the interface (`spec/api.md` 4), each by the lifecycle of what it is for. Every method throws {@link RemoteError}, or
 * {@link SecretUnavailableError} when the credentials are not mounted, or the signal's reason once it is aborted.
 */
export interface Platform {
  /** `GET` by id (4.2, 4.4). A 404 is class `Missing` when it is the platform's own. */
  read(target: ReadTarget, options: ReadOptions): Promise<Reply<RemoteResource>>
  /**
   * All of a kind in a service, as {@link read} gives each; only of a kind that has such a request (design §14). Whoever is not in it
   * may be there all the same.
   */
  list(
    kind: CreateOnceKind,
    service: ServiceAccess,
    options: ReadOptions,
  ): Promise<Reply<readonly RemoteResource[]>>
  /** Waits for the budget under `options.signal`, reads the credentials, and sends nothing. */
  admitCreate(kind: CreateOnceKind, service: ServiceAccess, options: AdmitOptions): Promise<CreatePermit>
  /**
   * `POST` (4.3). Idempotent: it replaces the whole configuration.
   * @param body makes the request body as JSON text, when the request may be sent, and anew before each attempt; what it
   * throws is thrown, and nothing is sent. What can be read can be looked at once before.
   */
  upsert(
    kind: UpsertKind,
    service: ServiceAccess,
    body: (looks: Looks) => Promise<string>,
    options: ReadOptions,
  ): Promise<Reply<RemoteResource>>
  /**
   * `DELETE`. What is not there is class `Missing`, when the platform itself says so. A reply may come before it is gone.
   * @param check called when the request may be sent, and anew before each attempt; what it throws is thrown, and nothing is sent
   * @returns undefined: nothing is sent, because this is a dry run
   */
  remove(
    target: DeleteTarget,
    check: (looks: Looks) => Promise<void>,
    options: ReadOptions,
  ): Promise<Reply<unknown> | undefined>
  /**
   * Changes, stops or starts something that exists (design §14). What a reply says of it is not looked at: a reading tells what took effect.
   * @param body as that of {@link upsert}
   * @returns undefined: nothing is sent, because this is a dry run
   */
  change(
    target: ChangeTarget,
    body: (looks: Looks) => Promise<string>,
    options: ReadOptions,
  ): Promise<Reply<unknown> | undefined>
}
