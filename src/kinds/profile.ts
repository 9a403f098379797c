import type { z } from 'zod'
import type { JsonObject } from '../lib/json.ts'
import { SECRET_FIELDS } from '../lib/sensitive.ts'
import type { CreateOnceKind, Kind, Lifecycle, Operation } from './definition.ts'
import { leafFormAt, type Fields } from './field-table.ts'
import type { RuleFinding } from './finding.ts'
import { keyOf, kindOf, type Key } from './key.ts'
import { LOCK, lockSchema } from './lock/schema.ts'
import { lifecycleOf, type Held, type Manifest } from './lookup.ts'
import type { LeafForm } from './leaf-forms.ts'
import type { KnownStates } from './state.ts'
import type { ResourceManifest } from './manifest.ts'
import { commonPolicyRules, createOncePolicyRules } from './policy-rules.ts'
import { KINDS } from './registry.ts'

/** The interface of a platform, as data. An installation uses one profile, chosen at the start. */
export interface Profile {
  /** Value of `--profile`. The ledger stores it, too. */
  readonly name: string
  /** Path prefix that users might add to the address: `/v1`. */
  readonly version: string | undefined
  /** Date of the API description that the profile follows: `2026-09-22`. Undefined: it has no date. */
  readonly document: string | undefined
  readonly kinds: readonly Kind[]
}

export function kindFor(profile: Profile, held: Held): Kind {
  return inForm(knownKind(profile, kindOf(held.key)), lifecycleOf(held))
}

function kindOfManifest(profile: Profile, manifest: ResourceManifest): Kind {
  const key = keyOf(manifest.kind, manifest.metadata.name)
  return kindFor(profile, { key, manifest, record: undefined })
}

/** @throws if the kind has no such lifecycle, because the schema should have refused the manifest */
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

export function isCreatable(profile: Profile, key: Key): boolean {
  const kind = knownKind(profile, kindOf(key))
  return kind.lifecycle === 'create-once' || (kind.lifecycle === 'read-only' && kind.written !== undefined)
}

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

export function operationsOf(profile: Profile): readonly Operation[] {
  return formsOf(profile).flatMap((kind) =>
    'operations' in kind ? Object.values<Operation>(kind.operations) : [],
  )
}

export function fieldsOf(profile: Profile, key: Key): Fields {
  const kind = knownKind(profile, kindOf(key))
  return 'fields' in kind ? kind.fields : {}
}

/** Fields that can have line breaks, and blanks at both ends. */
const BLOCKS = new Set(['reason', 'allowedOrigins'])

export function textFormAt(profile: Profile, kind: string, path: readonly (string | number)[]): LeafForm {
  const [top, ...names] = path.filter((step) => typeof step === 'string')
  if (SECRET_FIELDS.has(names.at(-1) ?? '')) return 'certificate' // any literal is refused
  if (BLOCKS.has(names.at(-1) ?? '')) return 'block'
  const found = profile.kinds.find(({ name }) => name === kind)
  if (top !== 'spec' || found === undefined || !('fields' in found)) return 'text'
  if (names[0] !== 'expect') return leafFormAt(found.fields, names) ?? 'text'
  const form = leafFormAt(found.fields, names.slice(1)) ?? 'text'
  return form === 'text' ? 'foreign' : form
}

export function identityFieldsOf(profile: Profile, key: Key): Fields | undefined {
  const kind = knownKind(profile, kindOf(key))
  return kind.lifecycle === 'create-once' ? kind.identity : undefined
}

export function createOnceKindOf(profile: Profile, key: Key): CreateOnceKind {
  return createOnceForm(knownKind(profile, kindOf(key)))
}

export function bodyOf(profile: Profile, manifest: ResourceManifest): JsonObject | undefined {
  const kind = kindOfManifest(profile, manifest)
  return kind.lifecycle === 'create-once' || kind.lifecycle === 'upsert' ? kind.body(manifest) : undefined
}

export function expectedOf(profile: Profile, manifest: ResourceManifest): JsonObject | undefined {
  const kind = kindOfManifest(profile, manifest)
  return kind.lifecycle === 'read-only' ? kind.expected(manifest) : bodyOf(profile, manifest)
}

export function knownStatesOf(profile: Profile, manifest: ResourceManifest): KnownStates | undefined {
  const kind = kindOfManifest(profile, manifest)
  return 'states' in kind ? kind.states?.(manifest) : undefined
}

export function rulesOf(profile: Profile, manifest: ResourceManifest): readonly RuleFinding[] {
  const kind = kindOfManifest(profile, manifest)
  return [
    ...commonPolicyRules(manifest),
    ...(kind.lifecycle === 'create-once' ? createOncePolicyRules(manifest) : []),
    ...kind.rules(manifest),
  ]
}

export const LOCK_SCHEMA = lockSchema(
  KINDS.filter(({ lifecycle }) => lifecycle === 'create-once').map(({ name }) => name),
)

export function schemaOf({ kinds }: Profile, name: string): z.ZodType<Manifest> | undefined {
  return name === LOCK.name ? LOCK_SCHEMA : kinds.find((kind) => kind.name === name)?.schema
}
