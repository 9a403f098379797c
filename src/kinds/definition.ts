import type { z } from 'zod'
import type { JsonObject } from '../lib/json.ts'
import type { Changes } from './changes.ts'
import type { Fields } from './field-table.ts'
import type { FieldFinding } from './finding.ts'
import type { IdForm } from './id-form.ts'
import type { ResourceManifest } from './manifest.ts'
import type { KnownStates } from './state.ts'
import type { RemoteResource, ReplyShape } from './remote-resource.ts'

/** How Pipewright manages a resource. Decisions depend on the lifecycle, never on the name of a kind. */
export const LIFECYCLES = ['create-once', 'upsert', 'read-only', 'reference'] as const

export type Lifecycle = (typeof LIFECYCLES)[number]

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

export interface Operation {
  readonly name: string
  readonly does: 'create' | 'read' | 'upsert' | 'update' | 'delete'
  readonly method: Method
  readonly noun: string
  readonly api: 'services' | 'alerts'
  readonly permission?: string
  /** True if the request lists the resources of a service. Then a 404 means that the service does not exist. */
  readonly lists?: true
  /** Maximum number of resources in one list. A list of this length might be incomplete. */
  readonly most?: number
  /** Path below the base URL. Each `{name}` stands for one encoded segment. */
  readonly path: string
}

export interface KindFacts {
  readonly name: string
  readonly noun: string
  /** The lifecycle, unless `isWritten` returns true. */
  readonly lifecycle: Lifecycle
  /** True if this manifest of a read-only kind asks for a create. The lifecycle is then `create-once`. */
  readonly isWritten?: (manifest: ResourceManifest) => boolean
}

interface Described<M extends ResourceManifest> extends KindFacts {
  readonly description: string
  readonly schema: z.ZodType<M>
  rules(manifest: M): readonly FieldFinding[]
}

interface Compared<M extends ResourceManifest> {
  states?(manifest: M): KnownStates
  readonly fields: Fields
  readonly reply: ReplyShape
}

/** A kind whose resources a `POST` creates. Later reads use the returned id. */
export interface CreateOnceKind<M extends ResourceManifest = ResourceManifest>
  extends Described<M>, Compared<M> {
  readonly lifecycle: 'create-once'
  readonly operations: {
    readonly create: Operation
    readonly read: Operation
    readonly list?: Operation
    /** Fields that the request omits keep their values, except with {@link Changes.replacesWhole}. */
    readonly update?: Operation
    readonly scale?: Operation
    readonly configure?: Operation
    /** The body is `{command: 'start'}` or `{command: 'stop'}`. */
    readonly state?: Operation
    readonly delete?: Operation
  }
  readonly idForm: IdForm
  /** State that a plan assumes after a create. Default: `Provisioning`. */
  readonly firstState?: string
  /** For how many ms after a create request the service might still create the resource. Default: none. */
  readonly createLastsMs?: number
  readonly changes?: Changes
  /** Fields that identify a resource beside its name. Undefined: the name alone identifies the resource. */
  readonly identity?: Fields
  /** The request body with secret references. It shares objects with the manifest: do not modify it. */
  body(manifest: M): JsonObject
  /** Paths of settings that replies can have, but manifests cannot. */
  readonly unsupported?: readonly string[]
  readonly staysBehind?: string
  readonly credentialRules?: true
  /** The reply without empty values, and with implied values, such as `managedTable: false`. */
  setIn?(reply: JsonObject): JsonObject
  outline?(manifest: M): Readonly<Record<string, string>>
}

export interface UpsertKind<M extends ResourceManifest = ResourceManifest> extends Described<M>, Compared<M> {
  readonly lifecycle: 'upsert'
  readonly operations: {
    readonly upsert: Operation
    readonly read?: Operation
    readonly delete?: Operation
  }
  body(manifest: M): JsonObject
  configured(reply: RemoteResource): JsonObject
  /** Access that `configured` allows and `body` does not, such as `role sql_console_admin`. */
  takenAway(configured: JsonObject, body: JsonObject): readonly string[]
}

export interface ReadOnlyKind<M extends ResourceManifest = ResourceManifest>
  extends Described<M>, Compared<M> {
  readonly lifecycle: 'read-only'
  readonly operations: {
    readonly read: Operation
    readonly readInService?: Operation
  }
  remoteId(manifest: M): string
  /** Values that the manifest expects. If empty, only `state` is watched. */
  expected(manifest: M): JsonObject
}

/** A kind without requests, which other manifests refer to by name. */
export interface ReferenceKind<M extends ResourceManifest = ResourceManifest> extends Described<M> {
  readonly lifecycle: 'reference'
}

export type Kind = CreateOnceKind | UpsertKind | ReadOnlyKind | ReferenceKind

export type ReadableKind = CreateOnceKind | ReadOnlyKind | UpsertKind

export function isReadable({ operations }: UpsertKind): boolean {
  return operations.read !== undefined
}

/** Whether the resource is applied again at each interval, because it cannot be read. */
export function isResynced(kind: Kind): boolean {
  return kind.lifecycle === 'upsert' && !isReadable(kind)
}
