import type { z } from 'zod'
import type { JsonObject } from '../lib/json.ts'
import type { Changes } from './changes.ts'
import type { Fields } from './field-table.ts'
import type { RuleFinding } from './finding.ts'
import type { IdForm } from './id-form.ts'
import type { Identity } from './identity.ts'
import type { ResourceManifest } from './manifest.ts'
import type { KnownStates } from './state.ts'
import type { RemoteResource, ReplyShape } from './remote-resource.ts'

/** How a kind lives on the platform (design §1). What the engine does for a resource follows from this, and never from the kind's name. */
export const LIFECYCLES = ['create-once', 'upsert', 'read-only', 'reference'] as const

export type Lifecycle = (typeof LIFECYCLES)[number]

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/** One request of the interface (`spec/api.md` 4). */
export interface Operation {
  /** As metrics, logs and the sandbox name it: `createPipe`. */
  readonly name: string
  readonly does: 'create' | 'read' | 'upsert' | 'update' | 'delete'
  readonly method: Method
  /** What it does that to, in a sentence: "pipe". */
  readonly noun: string
  /** Which of the two interfaces offers it: each has a base URL, credentials and an envelope of its own. */
  readonly api: 'services' | 'alerts'
  /** Relative to the base URL; each `{name}` is one encoded segment. */
  readonly path: string
}

/** What a kind is in every profile. */
export interface KindFacts {
  /** As in `kind:` of a manifest and in a key. */
  readonly name: string
  /** What one of them is called in a sentence: "pipe". */
  readonly noun: string
  /** How each of them lives, but for those that `isWritten` names. */
  readonly lifecycle: Lifecycle
  /** Of a kind that is only looked at: whether a manifest asks for one to be created all the same. That one is create-once. */
  readonly isWritten?: (manifest: ResourceManifest) => boolean
}

/** What every kind of resource says of itself. */
interface Described<M extends ResourceManifest> extends KindFacts {
  /** One sentence, for the JSON Schema and for people. */
  readonly description: string
  readonly schema: z.ZodType<M>
  /** The rules beyond shape within one document, for a manifest that `schema` accepted. */
  rules(manifest: M): readonly RuleFinding[]
}

/** What every kind has that the platform answers for. */
interface Compared<M extends ResourceManifest> {
  /** What the service documents of its states; nothing: the interface names none. */
  states?(manifest: M): KnownStates
  /** Every field of the body: how it is compared, and whether the platform returns it. */
  readonly fields: Fields
  /** What has to be in a reply. */
  readonly reply: ReplyShape
}

/** Created once, under an id that the platform gives; looked at, and never changed: `POST`, `GET` by id. */
export interface CreateOnceKind<M extends ResourceManifest = ResourceManifest>
  extends Described<M>, Compared<M> {
  readonly lifecycle: 'create-once'
  readonly operations: {
    readonly create: Operation
    readonly read: Operation
    /** All of a service, where it has such a request. */
    readonly list?: Operation
    /** Changes one; what is absent in the body stays, unless {@link Changes.replacesWhole} says otherwise. */
    readonly update?: Operation
    /** The same of its size: fields marked `scaling`. */
    readonly scale?: Operation
    /** The same of its settings: fields marked `settings`. */
    readonly configure?: Operation
    /** Starts and stops one: `{command}`. */
    readonly state?: Operation
    /** Asks for one to be deleted; it is gone once `read` answers 404. */
    readonly delete?: Operation
  }
  /** What its ids look like; UUIDs unless set. */
  readonly idForm?: IdForm
  /** The state of one that is just created, as far as a plan can know it; `Provisioning` unless set. */
  readonly firstState?: string
  /** How its fields are changed, where they can be. */
  readonly changes?: Changes
  /** What makes one that one, whatever its name is. Nothing: its name alone. */
  readonly identity?: Identity
  /** The request body, with references where secrets belong. It shares its parts with the manifest: nobody may write to either. */
  body(manifest: M): JsonObject
  /** Fields of a reply that no manifest has and a person may set: whether it is as it was depends on them, too. */
  readonly others?: Fields
  /** What stays when one is deleted, in a sentence. */
  readonly staysBehind?: string
  /** Whether `rules` say which credentials go with which way to sign in. */
  readonly credentialRules?: true
  /** Of a reply what is set, where what is not set comes as well, such as empty texts. Nothing: all that comes is set. */
  setIn?(reply: JsonObject): JsonObject
  /** What it is, in a word or two each, such as its source and its table; for who approves it. */
  outline?(manifest: M): Readonly<Record<string, string>>
}

/** Set as a whole by one request, as often as one likes. */
export interface UpsertKind<M extends ResourceManifest = ResourceManifest> extends Described<M>, Compared<M> {
  readonly lifecycle: 'upsert'
  readonly operations: {
    readonly upsert: Operation
    /** Where it can be read: the one of a service. */
    readonly read?: Operation
    /** Where it can be taken away: the one of a service. */
    readonly delete?: Operation
  }
  body(manifest: M): JsonObject
  /** Of a reply what the next upsert is compared with. */
  configured(reply: RemoteResource): JsonObject
  /** What an upsert of `body` would take away from what is configured, such as `role sql_console_admin`. */
  takenAway(configured: JsonObject, body: JsonObject): readonly string[]
}

/** Observed, and made by somebody else. */
export interface ReadOnlyKind<M extends ResourceManifest = ResourceManifest>
  extends Described<M>, Compared<M> {
  readonly lifecycle: 'read-only'
  readonly operations: {
    readonly read: Operation
    /** That of one whose manifest names a service, where the service has such ones. */
    readonly readInService?: Operation
  }
  /** The id under which it is read. */
  remoteId(manifest: M): string
  /** What it should say; an empty object when only its `state` is watched. */
  expected(manifest: M): JsonObject
  /** The form of those that a manifest asks to be created, where the service offers that. */
  readonly written?: CreateOnceKind
}

/** Names something that others need, and is itself not asked for. */
export interface ReferenceKind<M extends ResourceManifest = ResourceManifest> extends Described<M> {
  readonly lifecycle: 'reference'
}

/** The definition of a kind of resource: all that the rest of the program knows of it. */
export type Kind = CreateOnceKind | UpsertKind | ReadOnlyKind | ReferenceKind

/** A kind that is read: by id, or the one of a service. */
export type ReadableKind = CreateOnceKind | ReadOnlyKind | UpsertKind

/** Whether what is there can be read before it is set as a whole. */
export function isReadable({ operations }: UpsertKind): boolean {
  return operations.read !== undefined
}

/** Whether it is set anew at its interval, because nobody can read what is there. */
export function isResynced(kind: Kind): boolean {
  return kind.lifecycle === 'upsert' && !isReadable(kind)
}
