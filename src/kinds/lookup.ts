import { kindOf, parseKey, type Key } from './key.ts'
import type { KindFacts, Lifecycle } from './definition.ts'
import { LOCK, type LockManifest } from './lock/schema.ts'
import type { ResourceManifest } from './manifest.ts'
import { KINDS } from './registry.ts'

/*
 * What holds for a kind in every profile: its name, what one of them is called, how it lives. What a service offers of it, and how it says
 * that, is in `profile.ts`.
 */

/** A valid manifest. */
export type Manifest = ResourceManifest | LockManifest

/** The kinds that have conditions, a place in the ledger and on the page. */
export const RESOURCE_KINDS: readonly string[] = KINDS.map(({ name }) => name)

/** Every kind of manifest: a `Lock` names ids, and is itself no resource. */
export const MANIFEST_KINDS: readonly string[] = [...RESOURCE_KINDS, LOCK.name]

const BY_NAME: ReadonlyMap<string, KindFacts> = new Map(KINDS.map((kind) => [kind.name, kind]))

export function kindNamed(name: string): KindFacts | undefined {
  return BY_NAME.get(name)
}

function knownKind(name: string): KindFacts {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error(`there is no kind ${name}`)
  return kind
}

/** What the resource of a key is called in a sentence: "pipe". */
export function nounOf(key: Key): string {
  return kindNamed(kindOf(key))?.noun ?? 'resource' // a ledger may name a key of another version
}

/** One of them: "a pipe", "an alert". */
export function anyOf(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** A noun at the start of a sentence. */
export function capital(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}

/** What says how a resource lives: its last valid manifest, and what was done for it. */
export interface Held {
  readonly key: Key
  readonly manifest: ResourceManifest | undefined
  /** Its record in the ledger. */
  readonly record: { readonly remote?: unknown; readonly intent?: unknown } | undefined
}

/**
 * How a resource lives: as its manifest asks for it, where it has one; else as what was done for it.
 * @throws for a key of no kind; none was made of a manifest or read from the ledger
 */
export function lifecycleOf({ key, manifest, record }: Held): Lifecycle {
  if (manifest !== undefined) return lifecycleOfManifest(manifest)
  const kind = knownKind(kindOf(key))
  const isCreated = record?.remote !== undefined || record?.intent !== undefined
  return kind.isWritten !== undefined && isCreated ? 'create-once' : kind.lifecycle
}

function lifecycleOfManifest(manifest: ResourceManifest): Lifecycle {
  const kind = knownKind(manifest.kind)
  return kind.isWritten?.(manifest) === true ? 'create-once' : kind.lifecycle
}

/** Whether others refer to it, and nothing is asked for: every resource of its kind lives so. */
export function isReference(key: Key): boolean {
  return knownKind(kindOf(key)).lifecycle === 'reference'
}

/** Whether it is set as a whole, as often as one likes: every resource of its kind lives so. */
export function isUpserted(key: Key): boolean {
  return knownKind(kindOf(key)).lifecycle === 'upsert'
}

/** Whether its state says how something else is, as that of an alert does, whoever made it. */
export function isAlarm(key: Key): boolean {
  return kindNamed(kindOf(key))?.lifecycle === 'read-only' // or a placeholder of the runbook
}

/** Whether it is created, as few of its kind are: most of them are only looked at. */
export function isWritten(held: Held): boolean {
  return lifecycleOf(held) === 'create-once' && !isLockable(held.key)
}

/** Whether a Lock can name it: every resource of its kind is created. */
export function isLockable(key: Key): boolean {
  return knownKind(kindOf(key)).lifecycle === 'create-once'
}

/** The key that a text names, or `undefined` when it is not `Kind/name` with a kind that there is. */
export function knownKey(text: string): Key | undefined {
  const key = parseKey(text)
  return key !== undefined && BY_NAME.has(kindOf(key)) ? key : undefined
}

/** Whether the platform is asked to make one, with an id that is to be kept. */
export function isCreateOnce(manifest: ResourceManifest): boolean {
  return lifecycleOfManifest(manifest) === 'create-once'
}

/** The name that a resource has on the platform. */
export function remoteNameOf(manifest: ResourceManifest): string {
  const { metadata, spec } = manifest
  return isCreateOnce(manifest) && typeof spec['name'] === 'string' ? spec['name'] : metadata.name
}

/** Whether a manifest is that of a resource; a `Lock` is none. */
export function isResource(manifest: Manifest | undefined): manifest is ResourceManifest {
  return manifest !== undefined && manifest.kind !== LOCK.name
}
