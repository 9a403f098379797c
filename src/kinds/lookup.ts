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

/** A noun at the start of a sentence. */
export function capital(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}

/** @throws for a key of no kind; none was made of a manifest or read from the ledger */
export function lifecycleOf(key: Key): Lifecycle {
  return knownKind(kindOf(key)).lifecycle
}

/** The key that a text names, or `undefined` when it is not `Kind/name` with a kind that there is. */
export function knownKey(text: string): Key | undefined {
  const key = parseKey(text)
  return key !== undefined && BY_NAME.has(kindOf(key)) ? key : undefined
}

/** Whether the platform is asked to make one, with an id that is to be kept. */
export function isCreateOnce({ kind }: ResourceManifest): boolean {
  return knownKind(kind).lifecycle === 'create-once'
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
