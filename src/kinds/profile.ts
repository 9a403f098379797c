import type { z } from 'zod'
import type { JsonObject } from '../lib/json.ts'
import { SECRET_FIELDS } from '../lib/sensitive.ts'
import type { CreateOnceKind, Kind, Operation } from './definition.ts'
import { fieldAt, type Fields } from './field-table.ts'
import type { FieldFinding, Path } from './finding.ts'
import { keyOf, kindOf, type Key } from './key.ts'
import { LOCK } from './lock/schema.ts'
import { lifecycleOf, type Held, type Manifest } from './lookup.ts'
import type { LeafForm } from './leaf-forms.ts'
import type { KnownStates } from './state.ts'
import type { ResourceManifest } from './manifest.ts'
import { commonPolicyRules, createOncePolicyRules } from './policy-rules.ts'

/** The interface of a platform, as data. An installation uses one profile, chosen at the start. */
export interface Profile {
  /** Value of `--profile`. The ledger stores it, too. */
  readonly name: string
  /** Path prefix that users might add to the address: `/v1`. */
  readonly version: string | undefined
  /** Date of the API description that the profile follows: `2026-09-22`. Undefined: it has no date. */
  readonly document: string | undefined
  /** Some kinds are in the list twice: watched, then created. */
  readonly kinds: readonly Kind[]
}

/** @throws if the kind has no such lifecycle, because the schema should have refused the manifest */
export function kindFor(profile: Profile, held: Held): Kind {
  const [name, lifecycle] = [kindOf(held.key), lifecycleOf(held)]
  const kind = profile.kinds.find((one) => one.name === name && one.lifecycle === lifecycle)
  if (kind === undefined) throw new Error(`no ${name} is ${lifecycle}`)
  return kind
}

function kindOfManifest(profile: Profile, manifest: ResourceManifest): Kind {
  const key = keyOf(manifest.kind, manifest.metadata.name)
  return kindFor(profile, { key, manifest, record: undefined })
}

function createdKind({ kinds }: Profile, key: Key): CreateOnceKind | undefined {
  return kinds.filter((kind) => kind.lifecycle === 'create-once').find(({ name }) => name === kindOf(key))
}

export function isCreatable(profile: Profile, key: Key): boolean {
  return createdKind(profile, key) !== undefined
}

export function operationsOf(profile: Profile): readonly Operation[] {
  return profile.kinds.flatMap((kind) =>
    'operations' in kind ? Object.values<Operation>(kind.operations) : [],
  )
}

export function fieldsOf(profile: Profile, key: Key): Fields {
  const kind = profile.kinds.find(({ name }) => name === kindOf(key))
  return kind !== undefined && 'fields' in kind ? kind.fields : {}
}

/** Fields that can have line breaks, and blanks at both ends. */
const BLOCKS = new Set(['reason', 'allowedOrigins'])

export function textFormAt(profile: Profile, kind: string, path: Path): LeafForm {
  const [top, ...names] = path.filter((step) => typeof step === 'string')
  if (SECRET_FIELDS.has(names.at(-1) ?? '')) return 'certificate' // any literal is refused
  if (BLOCKS.has(names.at(-1) ?? '')) return 'block'
  const found = profile.kinds.find(({ name }) => name === kind)
  if (top !== 'spec' || found === undefined || !('fields' in found)) return 'text'
  if (names[0] !== 'expect') return fieldAt(found.fields, names)?.form ?? 'text'
  const form = fieldAt(found.fields, names.slice(1))?.form ?? 'text'
  return form === 'text' ? 'foreign' : form
}

export function identityFieldsOf(profile: Profile, key: Key): Fields | undefined {
  return createdKind(profile, key)?.identity
}

export function createOnceKindOf(profile: Profile, key: Key): CreateOnceKind {
  const kind = createdKind(profile, key)
  if (kind === undefined) throw new Error(`no ${kindOf(key)} is created`)
  return kind
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

export function rulesOf(profile: Profile, manifest: ResourceManifest): readonly FieldFinding[] {
  const kind = kindOfManifest(profile, manifest)
  return [
    ...commonPolicyRules(manifest),
    ...(kind.lifecycle === 'create-once' ? createOncePolicyRules(manifest) : []),
    ...kind.rules(manifest),
  ]
}

export function schemaOf({ kinds }: Profile, name: string): z.ZodType<Manifest> | undefined {
  return name === LOCK.name ? LOCK.schema : kinds.find((kind) => kind.name === name)?.schema
}
