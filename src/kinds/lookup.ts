import { kindOf, parseKey, type Key } from './key.ts'
import type { KindFacts, Lifecycle } from './definition.ts'
import { LOCK, type LockManifest } from './lock/schema.ts'
import type { ResourceManifest } from './manifest.ts'
import { KINDS } from './registry.ts'

export type Manifest = ResourceManifest | LockManifest

export const RESOURCE_KINDS: readonly string[] = KINDS.map(({ name }) => name)

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

export function nounOf(key: Key): string {
  return kindNamed(kindOf(key))?.noun ?? 'resource' // a ledger can have keys of other versions
}

export function anyOf(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

export function capital(noun: string): string {
  return noun.charAt(0).toUpperCase() + noun.slice(1)
}

export interface Held {
  readonly key: Key
  readonly manifest: ResourceManifest | undefined
  readonly record: { readonly remote?: unknown; readonly intent?: unknown } | undefined
}

/** Lifecycle by the manifest, or by the record if the manifest is gone. @throws for an unknown kind */
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

export function isReference(key: Key): boolean {
  return knownKind(kindOf(key)).lifecycle === 'reference'
}

export function isUpserted(key: Key): boolean {
  return knownKind(kindOf(key)).lifecycle === 'upsert'
}

/** Whether the state is about the watched data, as with an alert, and not about the resource itself. */
export function isAlarm(key: Key): boolean {
  return kindNamed(kindOf(key))?.lifecycle === 'read-only' // the runbook's placeholder has no kind
}

/** Whether Pipewright creates this resource, although its kind is otherwise only watched. */
export function isWritten(held: Held): boolean {
  return lifecycleOf(held) === 'create-once' && !isLockable(held.key)
}

export function isLockable(key: Key): boolean {
  return knownKind(kindOf(key)).lifecycle === 'create-once'
}

export function knownKey(text: string): Key | undefined {
  const key = parseKey(text)
  return key !== undefined && BY_NAME.has(kindOf(key)) ? key : undefined
}

export function isCreateOnce(manifest: ResourceManifest): boolean {
  return lifecycleOfManifest(manifest) === 'create-once'
}

export function remoteNameOf(manifest: ResourceManifest): string {
  const { metadata, spec } = manifest
  return isCreateOnce(manifest) && typeof spec['name'] === 'string' ? spec['name'] : metadata.name
}

export function isResource(manifest: Manifest | undefined): manifest is ResourceManifest {
  return manifest !== undefined && manifest.kind !== LOCK.name
}
