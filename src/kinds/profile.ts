import type { z } from 'zod'
import type { JsonObject } from '../lib/json.ts'
import type { CreateOnceKind, Kind, Lifecycle, Operation } from './definition.ts'
import type { Fields } from './field-table.ts'
import type { RuleFinding } from './finding.ts'
import type { Identity } from './identity.ts'
import { keyOf, kindOf, type Key } from './key.ts'
import { LOCK, lockSchema } from './lock/schema.ts'
import { lifecycleOf, type Held, type Manifest } from './lookup.ts'
import type { KnownStates } from './state.ts'
import type { ResourceManifest } from './manifest.ts'
import { commonPolicyRules, createOncePolicyRules } from './policy-rules.ts'
import { KINDS } from './registry.ts'

/**
 * A service as it really is (design §14): what it offers, under which paths and names, and what it says. Data, and nothing is renamed at
 * run time: its own names stand in the manifests. An installation has one, which is chosen before anything is loaded.
 */
export interface Profile {
  /** As `--profile` and the ledger name it. */
  readonly name: string
  /** With what every path begins, where people write that with the address: `/v1`. */
  readonly version: string | undefined
  /** In the order in which people read them. */
  readonly kinds: readonly Kind[]
}

/** The kind of a resource, in the form in which it lives. */
export function kindFor(profile: Profile, held: Held): Kind {
  return inForm(knownKind(profile, kindOf(held.key)), lifecycleOf(held))
}

function kindOfManifest(profile: Profile, manifest: ResourceManifest): Kind {
  const key = keyOf(manifest.kind, manifest.metadata.name)
  return kindFor(profile, { key, manifest, record: undefined })
}

/** @throws when the profile has no such form: no manifest that its schema takes asks for one */
function inForm(kind: Kind, lifecycle: Lifecycle): Kind {
  if (kind.lifecycle === lifecycle) return kind
  if (lifecycle !== 'create-once') throw new Error(`no ${kind.noun} is ${lifecycle}`)
  return createOnceForm(kind)
}

function createOnceForm(kind: Kind): CreateOnceKind {
  const form = kind.lifecycle === 'read-only' ? kind.written : kind
  if (form?.lifecycle !== 'create-once') throw new Error(`no ${kind.noun} is created`)
  return form
}

/** Whether one of the kind of a key can be created. */
export function isCreatable(profile: Profile, key: Key): boolean {
  const kind = knownKind(profile, kindOf(key))
  return kind.lifecycle === 'create-once' || (kind.lifecycle === 'read-only' && kind.written !== undefined)
}

/** Every kind in every form that it has. */
export function formsOf({ kinds }: Pick<Profile, 'kinds'>): readonly Kind[] {
  return kinds.flatMap((kind) =>
    kind.lifecycle === 'read-only' && kind.written !== undefined ? [kind, kind.written] : [kind],
  )
}

function knownKind({ kinds }: Profile, name: string): Kind {
  const found = kinds.find((kind) => kind.name === name)
  if (found === undefined) throw new Error(`there is no kind ${name}`)
  return found
}

/** All requests of its interface; label values of the request metrics. */
export function operationsOf(profile: Profile): readonly Operation[] {
  return formsOf(profile).flatMap((kind) =>
    'operations' in kind ? Object.values<Operation>(kind.operations) : [],
  )
}

/** How the fields of its body are compared, in every form; a kind that the platform is not asked about has none. */
export function fieldsOf(profile: Profile, key: Key): Fields {
  const kind = knownKind(profile, kindOf(key))
  return 'fields' in kind ? kind.fields : {}
}

/** What makes a resource of the kind of a key that one; undefined: its name alone. */
export function identityOf(profile: Profile, key: Key): Identity | undefined {
  const kind = knownKind(profile, kindOf(key))
  return kind.lifecycle === 'create-once' ? kind.identity : undefined
}

/** The form of a kind in which it is created. @throws for the key of something that is not created */
export function createOnceKindOf(profile: Profile, key: Key): CreateOnceKind {
  return createOnceForm(knownKind(profile, kindOf(key)))
}

/** The body of the interface that a manifest asks for, references in place; what is only looked at or referred to has none. */
export function bodyOf(profile: Profile, manifest: ResourceManifest): JsonObject | undefined {
  const kind = kindOfManifest(profile, manifest)
  return kind.lifecycle === 'create-once' || kind.lifecycle === 'upsert' ? kind.body(manifest) : undefined
}

/** What a reply is compared with: the body that is asked for, or what something that is only looked at should say. */
export function expectedOf(profile: Profile, manifest: ResourceManifest): JsonObject | undefined {
  const kind = kindOfManifest(profile, manifest)
  return kind.lifecycle === 'read-only' ? kind.expected(manifest) : bodyOf(profile, manifest)
}

/** What the service documents of the states of such a resource. */
export function knownStatesOf(profile: Profile, manifest: ResourceManifest): KnownStates | undefined {
  const kind = kindOfManifest(profile, manifest)
  return 'states' in kind ? kind.states?.(manifest) : undefined
}

/** The rules beyond shape within one document, for a manifest that the schema of its kind accepted. */
export function rulesOf(profile: Profile, manifest: ResourceManifest): readonly RuleFinding[] {
  const kind = kindOfManifest(profile, manifest)
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
export function schemaOf({ kinds }: Profile, name: string): z.ZodType<Manifest> | undefined {
  return name === LOCK.name ? LOCK_SCHEMA : kinds.find((kind) => kind.name === name)?.schema
}
