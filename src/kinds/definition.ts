import type { z } from 'zod'
import type { JsonObject } from '../lib/json.ts'
import type { Changes } from './changes.ts'
import type { Fields } from './field-table.ts'
import type { RuleFinding } from './finding.ts'
import type { IdForm } from './id-form.ts'
import type { ResourceManifest } from './manifest.ts'
import type { KnownStates } from './state.ts'
import type { RemoteResource, ReplyShape } from './remote-resource.ts'

/** The engine depends on the lifecycle, not on the kind's name. */
export const LIFECYCLES = ['create-once', 'upsert', 'read-only', 'reference'] as const

export type Lifecycle = (typeof LIFECYCLES)[number]

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** A request of the interface (`spec/api.md` 4). */
export interface Operation {
  /** For metrics, logs and the sandbox: `createPipe`. */
  readonly name: string
  readonly does: 'create' | 'read' | 'upsert' | 'update' | 'delete'
  readonly method: Method
  readonly noun: string
  /** Each interface has its own base URL, credentials and envelope. */
  readonly api: 'services' | 'alerts'
  /** Permission that the API key needs, if the service names one. */
  readonly permission?: string
  /** Lists the resources of a service. A 404 means that there is no such service. */
  readonly lists?: true
  /** Most resources in one list. A list of this length might be cut. */
  readonly most?: number
  /** Below the base URL. Each `{name}` is one encoded segment. */
  readonly path: string
}

/** Facts that hold in each profile. */
export interface KindFacts {
  readonly name: string
  readonly noun: string
  /** Default; `isWritten` selects exceptions. */
  readonly lifecycle: Lifecycle
  /** Whether the manifest of a watched kind asks for a create, which makes it create-once. */
  readonly isWritten?: (manifest: ResourceManifest) => boolean
}

interface Described<M extends ResourceManifest> extends KindFacts {
  /** One sentence, for JSON Schema and docs. */
  readonly description: string
  readonly schema: z.ZodType<M>
  rules(manifest: M): readonly RuleFinding[]
}

interface Compared<M extends ResourceManifest> {
  /** States that the service documents. */
  states?(manifest: M): KnownStates
  readonly fields: Fields
  readonly reply: ReplyShape
}

/** Created by `POST`, then read by the returned id. */
export interface CreateOnceKind<M extends ResourceManifest = ResourceManifest>
  extends Described<M>, Compared<M> {
  readonly lifecycle: 'create-once'
  readonly operations: {
    readonly create: Operation
    readonly read: Operation
    readonly list?: Operation
    /** Absent fields stay, except with {@link Changes.replacesWhole}. */
    readonly update?: Operation
    readonly scale?: Operation
    readonly configure?: Operation
    /** Sends `{command}`: start or stop. */
    readonly state?: Operation
    /** The resource is gone when `read` answers 404. */
    readonly delete?: Operation
  }
  /** Default: UUID. */
  readonly idForm?: IdForm
  /** State after a create, for plans. Default: `Provisioning`. */
  readonly firstState?: string
  /** Ms. The service can still carry out a create this long after its request. Default: none. */
  readonly createLastsMs?: number
  readonly changes?: Changes
  /** Identifying fields beside the name. Undefined: none. */
  readonly identity?: Fields
  /** The request body with secret references. Do not modify: it shares objects with the manifest. */
  body(manifest: M): JsonObject
  /** Paths of settings that no manifest can have. Other unknown fields might be new in replies. */
  readonly unsupported?: readonly string[]
  /** A sentence: which parts stay after a deletion. */
  readonly staysBehind?: string
  /** Whether `rules` refuse credentials that do not fit the authentication. */
  readonly credentialRules?: true
  /** Drops empty values of a reply. */
  setIn?(reply: JsonObject): JsonObject
  /** Short facts for reviewers, such as source and table. */
  outline?(manifest: M): Readonly<Record<string, string>>
}

/** Replaced as a whole by a repeatable request. */
export interface UpsertKind<M extends ResourceManifest = ResourceManifest> extends Described<M>, Compared<M> {
  readonly lifecycle: 'upsert'
  readonly operations: {
    readonly upsert: Operation
    readonly read?: Operation
    readonly delete?: Operation
  }
  body(manifest: M): JsonObject
  configured(reply: RemoteResource): JsonObject
  /** Access that the upsert removes, such as `role sql_console_admin`. */
  takenAway(configured: JsonObject, body: JsonObject): readonly string[]
}

/** Created by others and only watched. */
export interface ReadOnlyKind<M extends ResourceManifest = ResourceManifest>
  extends Described<M>, Compared<M> {
  readonly lifecycle: 'read-only'
  readonly operations: {
    readonly read: Operation
    readonly readInService?: Operation
  }
  remoteId(manifest: M): string
  /** Expected values. Empty: watches only `state`. */
  expected(manifest: M): JsonObject
  readonly written?: CreateOnceKind
}

/** A name to refer to, without requests. */
export interface ReferenceKind<M extends ResourceManifest = ResourceManifest> extends Described<M> {
  readonly lifecycle: 'reference'
}

export type Kind = CreateOnceKind | UpsertKind | ReadOnlyKind | ReferenceKind

export type ReadableKind = CreateOnceKind | ReadOnlyKind | UpsertKind

export function isReadable({ operations }: UpsertKind): boolean {
  return operations.read !== undefined
}

/** Whether it is applied again at each interval: it cannot be read. */
export function isResynced(kind: Kind): boolean {
  return kind.lifecycle === 'upsert' && !isReadable(kind)
}
