import type { JsonObject } from '../lib/json.ts'
import type { Fields } from './field-table.ts'
import { kindOf, parseKey, type Key } from './key.ts'
import type { CreateOnceKind, Kind, Lifecycle, Operation } from './definition.ts'
import type { z } from 'zod'
import type { RuleFinding } from './finding.ts'
import { LOCK, lockSchema, type LockManifest } from './lock/schema.ts'
import type { ResourceManifest } from './manifest.ts'
import { commonPolicyRules, createOncePolicyRules } from './policy-rules.ts'
import { KINDS } from './registry.ts'

/** A valid manifest. */
export type Manifest = ResourceManifest | LockManifest

/** The kinds that have conditions, a place in the ledger and on the page. */
export const RESOURCE_KINDS: readonly string[] = KINDS.map(({ name }) => name)

/** Every kind of manifest: a `Lock` names ids, and is itself no resource. */
export const MANIFEST_KINDS: readonly string[] = [...RESOURCE_KINDS, LOCK.name]

/** All requests of the interface; label values of the request metrics. */
export const OPERATIONS: readonly Operation[] = KINDS.flatMap((kind) =>
  'operations' in kind ? Object.values<Operation>(kind.operations) : [],
)

const BY_NAME: ReadonlyMap<string, Kind> = new Map(KINDS.map((kind) => [kind.name, kind]))

export function kindNamed(name: string): Kind | undefined {
  return BY_NAME.get(name)
}

/** The kind of a key that was made of a manifest or read from the ledger. */
export function kindOfKey(key: Key): Kind {
  return knownKind(kindOf(key))
}

function knownKind(name: string): Kind {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error(`there is no kind ${name}`)
  return kind
}

/** How the fields of its body are compared; a kind that the platform is not asked about has none. */
export function fieldsOf(key: Key): Fields {
  const kind = kindOfKey(key)
  return 'fields' in kind ? kind.fields : {}
}

/** @throws for the key of something that is not created */
export function createOnceKindOf(key: Key): CreateOnceKind {
  const kind = kindOfKey(key)
  if (kind.lifecycle !== 'create-once') throw new Error(`${key} is not created`)
  return kind
}

/** What the resource of a key is called in a sentence: "pipe". */
export function nounOf(key: Key): string {
  return kindNamed(kindOf(key))?.noun ?? 'resource' // a ledger may name a key of another version
}

/** A noun at the start of a sentence. */
export function capital(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}

export function lifecycleOf(key: Key): Lifecycle {
  return kindOfKey(key).lifecycle
}

/** The key that a text names, or `undefined` when it is not `Kind/name` with a kind that there is. */
export function knownKey(text: string): Key | undefined {
  const key = parseKey(text)
  return key !== undefined && BY_NAME.has(kindOf(key)) ? key : undefined
}

function kindOfManifest({ kind }: ResourceManifest): Kind {
  return knownKind(kind)
}

/** Whether the platform is asked to make one, with an id that is to be kept. */
export function isCreateOnce(manifest: ResourceManifest): boolean {
  return kindOfManifest(manifest).lifecycle === 'create-once'
}

/** The body of the interface that a manifest asks for, references in place; what is only looked at or referred to has none. */
export function bodyOf(manifest: ResourceManifest): JsonObject | undefined {
  const kind = kindOfManifest(manifest)
  return kind.lifecycle === 'create-once' || kind.lifecycle === 'upsert' ? kind.body(manifest) : undefined
}

/** What a reply is compared with: the body that is asked for, or what something that is only looked at should say. */
export function expectedOf(manifest: ResourceManifest): JsonObject | undefined {
  const kind = kindOfManifest(manifest)
  return kind.lifecycle === 'read-only' ? kind.expected(manifest) : bodyOf(manifest)
}

/** The name that a resource has on the platform. */
export function remoteNameOf(manifest: ResourceManifest): string {
  const kind = kindOfManifest(manifest)
  return kind.lifecycle === 'create-once' ? kind.remoteName(manifest) : manifest.metadata.name
}

/** The rules beyond shape within one document, for a manifest that the schema of its kind accepted. */
export function rulesOf(manifest: ResourceManifest): readonly RuleFinding[] {
  const kind = kindOfManifest(manifest)
  return [
    ...commonPolicyRules(manifest),
    ...(kind.lifecycle === 'create-once' ? createOncePolicyRules(manifest) : []),
    ...kind.rules(manifest),
  ]
}

/** What can be in a Lock is what is created once. */
export const LOCK_SCHEMA = lockSchema(
  KINDS.filter(({ lifecycle }) => lifecycle === 'create-once').map(({ name }) => name),
)

/** The schema of a kind of manifest, by its name. */
export function schemaOf(name: string): z.ZodType<Manifest> | undefined {
  return name === LOCK.name ? LOCK_SCHEMA : kindNamed(name)?.schema
}

/** Whether a manifest is that of a resource; a `Lock` is none. */
export function isResource(manifest: Manifest | undefined): manifest is ResourceManifest {
  return manifest !== undefined && manifest.kind !== LOCK.name
}
