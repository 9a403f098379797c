import type { Settings } from '../../config/settings.ts'
import { stringify } from 'yaml'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import { EXIT, misuse, print, printJson, type ExitCode, type Io } from '../io.ts'
import { fitLines, formatTable, sheetOf, wrapped, type Sheet } from '../render/terminal.ts'
import type { Json } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Kind } from '../../kinds/definition.ts'
import { fieldAt, howOftenReturned } from '../../kinds/field-table.ts'
import { kindJsonSchema } from '../../kinds/json-schema.ts'
import { factsOfForm } from '../../kinds/leaf-forms.ts'
import type { Profile } from '../../kinds/profile.ts'
import { isSensitiveName } from '../../lib/sensitive.ts'

export function explain(
  io: Io,
  { profile }: Settings,
  { output }: { readonly output: 'text' | 'json' },
  path?: string,
): ExitCode {
  if (path === undefined) {
    const kinds = MANIFEST_KINDS.flatMap((name) => explainKind(profile, name) ?? [])
    if (output === 'json') printJson(io, kinds)
    else print(io.stdout, `${fieldTable(kinds, sheetOf(io))}\n\n${MORE}`)
    return EXIT.fine
  }
  const found = findField(profile, path)
  if (!('field' in found)) {
    const { meant } = found
    const more = meant.length > MAX_MEANT ? ` or ${meant.length - MAX_MEANT} more` : ''
    const hint =
      meant.length === 0
        ? `The kinds are ${MANIFEST_KINDS.join(', ')}.`
        : `Did you mean ${meant.slice(0, MAX_MEANT).join(', ')}${more}?`
    misuse(`explain: there is no field ${JSON.stringify(path)}. ${hint}`)
  }
  if (output === 'json') printJson(io, found.field)
  else print(io.stdout, fieldText(found.field, sheetOf(io)))
  return EXIT.fine
}

const MAX_MEANT = 3

const MORE = 'To see the fields of a kind, run "explain pipe.spec".'

function fieldText(field: FieldFacts, sheet: Sheet): string {
  const { paint } = sheet
  const { path, name, type, isRequired, meaning, allowed, example, compared, changed, isSensitive, fields } =
    field
  const facts: readonly (readonly [string, string])[] = [
    ['type', type],
    ...(allowed.length === 0 ? [] : [['one of', allowed.join(', ')] as const]),
    ['required', isRequired ? 'yes' : 'no'],
    ['compared', compared],
    ...(changed === undefined ? [] : [['changed', changed] as const]),
    ...(isSensitive ? [['sensitive', 'yes: its value is never shown'] as const] : []),
  ]
  return [
    paint('bold', path),
    '',
    wrapped(meaning, ''),
    '',
    formatTable(facts.map(([label, value]) => [`  ${label}`, value])),
    ...(example === undefined
      ? []
      : ['', `Example: ${name}: ${stringify(example, { collectionStyle: 'flow', lineWidth: 0 }).trim()}`]),
    ...(fields.length === 0 ? [] : ['', 'Fields:', fieldTable(fields, sheet)]),
  ].join('\n')
}

function fieldTable(fields: readonly FieldFacts[], { paint, width }: Sheet): string {
  const table = formatTable(
    fields.map(({ name, type, isRequired, meaning }) => [
      `  ${paint('bold', name)}`,
      isRequired ? `${type}, required` : type,
      meaning,
    ]),
  )
  return fitLines(table, width)
}

export interface FieldFacts {
  /** Full path, such as `Pipe.spec.source.kafka.brokers` or `Pipe.spec.destination.columns[].name`. */
  readonly path: string
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly meaning: string
  readonly allowed: readonly string[]
  readonly example: Json | undefined
  readonly compared: string
  /**
   * How an edit is applied. Undefined outside `spec`, for a field with inner fields, and if the kind cannot be
   * updated.
   */
  readonly changed: string | undefined
  readonly isSensitive: boolean
  readonly fields: readonly FieldFacts[]
}

export function explainKind(profile: Profile, name: string): FieldFacts | undefined {
  const schema = kindJsonSchema(profile, name) as Schema | undefined // made from our schemas
  return schema && factsOf({ profile, kind: name, steps: [], schema, isRequired: false })
}

/** Finds a field by a path such as `pipe.spec.source.kafka`, or suggests similar paths. Ignores the letter case. */
export function findField(
  profile: Profile,
  path: string,
): { readonly field: FieldFacts } | { readonly meant: readonly string[] } {
  const all = MANIFEST_KINDS.flatMap((kind) => explainKind(profile, kind) ?? []).flatMap(withFields)
  const byPath = new Map(all.map((field) => [comparable(field.path), field]))
  const wanted = comparable(path)
  const field = byPath.get(wanted)
  if (field !== undefined) return { field }
  const [first = '', ...rest] = wanted.split('.')
  const isKind = byPath.has(first)
  const end = `.${isKind ? rest.join('.') : wanted}`
  const ending = [...byPath.keys()].filter(
    (one) => one.endsWith(end) && (!isKind || one.startsWith(`${first}.`)),
  )
  const near = ending.length > 0 ? undefined : nearest(wanted, byPath.keys())
  const found = near === undefined ? ending : [near]
  return { meant: found.flatMap((one) => byPath.get(one)?.path ?? []) }
}

function comparable(path: string): string {
  return path.replaceAll(/\[\d*\]/g, '').toLowerCase()
}

export function withFields(field: FieldFacts): readonly FieldFacts[] {
  return [field, ...field.fields.flatMap(withFields)]
}

interface Place {
  readonly profile: Profile
  readonly kind: string
  readonly steps: readonly string[]
  readonly schema: Schema
  readonly isRequired: boolean
}

interface Schema {
  readonly type?: string
  readonly format?: string
  readonly const?: Json
  readonly enum?: readonly string[]
  readonly description?: string
  readonly examples?: readonly Json[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

const MEANINGS: Readonly<Record<string, string>> = {
  apiVersion: 'The version of this format.',
  kind: 'Kind of the described resource.',
  metadata: 'Name and labels of the resource.',
  policy: 'How Pipewright manages the resource. The platform does not receive it.',
  spec: 'The resource as it should be, with the field names of the platform.',
  secretRef: 'Reference to a mounted secret.',
}

function factsOf(place: Place): FieldFacts {
  const { profile, kind, steps, schema, isRequired } = place
  const name = (steps.at(-1) ?? kind).replace('[]', '')
  const fields = fieldsIn(place)
  const names = steps.map((step) => step.replace('[]', ''))
  const form = formWithField(profile.kinds, kind, names[1])
  return {
    path: [kind, ...steps].join('.'),
    name,
    type: typeOf(schema),
    isRequired,
    meaning: schema.description ?? MEANINGS[name] ?? '',
    allowed: schema.enum ?? [],
    example: exampleOf(name, schema),
    compared: comparedWords(form, names, fields.length > 0),
    changed: changedWords(form, names),
    isSensitive: isSensitiveName(name),
    fields,
  }
}

function fieldsIn({ schema, ...place }: Place): readonly FieldFacts[] {
  const { items, anyOf } = schema
  const { properties = {}, required = [] } = items ?? anyOf?.find(({ type }) => type === 'object') ?? schema
  const last = place.steps.length - 1
  const parents = items ? place.steps.map((step, at) => (at === last ? `${step}[]` : step)) : place.steps
  return Object.entries(properties).map(([name, inner]) =>
    factsOf({ ...place, steps: [...parents, name], schema: inner, isRequired: required.includes(name) }),
  )
}

function typeOf(schema: Schema): string {
  const { type = '', format = '', anyOf, const: only, items } = schema
  if (anyOf !== undefined) return 'text, or a reference to a secret'
  if (only !== undefined) return `always ${JSON.stringify(only)}`
  if (items !== undefined) return items.type === 'object' ? 'list of mappings' : 'list of texts'
  if (type === 'object') return isReference(schema) ? 'reference to a secret' : 'mapping'
  return TYPES[type] ?? FORMATS[format] ?? 'text'
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
}

const FORMATS: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'timestamp' }

function isReference({ properties }: Schema): boolean {
  return properties?.['secretRef'] !== undefined
}

function exampleOf(name: string, schema: Schema): Json | undefined {
  const { examples, const: only, enum: words, anyOf, items, format = '', type } = schema
  const own = examples?.[0] ?? only ?? words?.[0]
  if (own !== undefined) return own
  if (type === 'boolean') return true
  if (isReference(schema) || anyOf !== undefined) return { secretRef: { name: 'orders', key: name } }
  if (items === undefined) return EXAMPLES[format]
  const example = exampleOf(name, items)
  return example === undefined ? undefined : [example]
}

const EXAMPLES: Readonly<Record<string, string>> = {
  uuid: '9c3732ac-5ebf-4bcb-8a41-d38f40d65f4d',
  'date-time': '2027-01-31T00:00:00Z',
}

function comparedWords(
  kind: Kind | undefined,
  [top, ...inSpec]: readonly string[],
  isMapping: boolean,
): string {
  if (kind === undefined || kind.lifecycle === 'reference') return 'no: not created'
  if (top !== 'spec') return 'no: it is not sent'
  const isExpectation = kind.lifecycle === 'read-only'
  if (isExpectation && inSpec[0] !== 'expect') return 'no: it selects the resource to read'
  const path = isExpectation ? inSpec.slice(1) : inSpec
  if (path.length === 0) return 'field by field'
  if (!Object.hasOwn(kind.fields, path[0] ?? '')) return 'no: it is not sent'
  const returned = howOftenReturned(kind.fields, path.join('.'))
  if (returned === 'never') return 'no: the platform does not return it'
  if (isMapping) return 'field by field'
  const form = fieldAt(kind.fields, path)?.form
  const words = form === undefined ? 'field by field' : (factsOfForm(form).compared ?? 'yes')
  return returned === 'always' ? words : `${words}, when the platform returns it`
}

function changedWords(kind: Kind | undefined, [top, ...inSpec]: readonly string[]): string | undefined {
  if (kind?.lifecycle !== 'create-once' || kind.changes === undefined || top !== 'spec') return undefined
  const field = fieldAt(kind.fields, inSpec)
  if (field?.form === undefined && field?.keyedBy === undefined) return undefined
  const change = kind.changes.replacesWhole === true ? 'update' : field.change
  if (change === undefined) return 'no: it stays as it was created'
  return `by ${kind.operations[change === 'scale' || change === 'configure' ? change : 'update']?.name}`
}

/** A kind can have two variants: watched and created. Returns the variant that has the field. */
function formWithField(kinds: readonly Kind[], name: string, field = ''): Kind | undefined {
  const variants = kinds.filter((one) => one.name === name)
  return variants.at(['id', 'expect'].includes(field) ? 0 : -1)
}
