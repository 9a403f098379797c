import { isObject, type Json } from '../lib/json.ts'
import { fieldOfPath } from './changes.ts'
import { factsOfForm, type LeafForm } from './leaf-forms.ts'
import { isReferenceSchema } from './secret-ref.ts'
import { z } from './zod.ts'

/** Facts that a field's schema declares in `.meta()`, beside `description` and `examples`. */
interface Declared {
  /** How values of a field without inner fields are compared. Default: by type. A list of texts needs a `form`. */
  readonly form?: LeafForm | undefined
  /** Fields that identify an item in a list of objects. The order of its items does not matter. */
  readonly keyedBy?: readonly string[] | undefined
  /**
   * How often replies have the field. If `at times`, a missing field is no difference. Inner fields inherit this
   * setting. Default: `always`.
   */
  readonly returned?: 'always' | 'at times' | 'never' | undefined
  /**
   * How an edit is sent. `update`: only the field. `connection`: all `connection` fields of the source. `tables`:
   * items to add and remove, while the pipe is stopped. Inner fields inherit this. Default: the field cannot change.
   */
  readonly change?: 'update' | 'connection' | 'tables' | 'scale' | 'configure' | undefined
  /** Whether this field and the name together identify a resource. */
  readonly identifies?: boolean | undefined
  /** The value that the platform uses if the field is not set. */
  readonly default?: string | readonly string[] | undefined
}

declare module 'zod' {
  interface GlobalMeta extends Declared {}
}

/** Members of `Declared` that the JSON Schema for editors omits. */
export const NOT_IN_SCHEMA = ['form', 'keyedBy', 'returned', 'change', 'identifies'] as const
const DECLARED = [...NOT_IN_SCHEMA, 'default'] as const

export interface Field extends Declared {
  readonly returned: 'always' | 'at times' | 'never'
  /** Inner fields, or the fields of a list's items. Empty for a leaf. */
  readonly fields: Fields
  readonly isSensitive: boolean
}

export type Fields = Readonly<Record<string, Field>>

/** @param flag form for booleans: `flag` if replies can omit `false` */
export function fieldsIn(schema: z.ZodObject, flag: 'boolean' | 'flag' = 'boolean'): Fields {
  return fieldsOf(schema, flag, {})
}

function fieldsOf(schema: z.ZodObject, flag: LeafForm, above: Declared): Fields {
  return Object.fromEntries(
    Object.entries(schema.shape).map(([name, type]) => [name, fieldOf(type, flag, above)]),
  )
}

function fieldOf(type: z.core.$ZodType, flag: LeafForm, { returned, change }: Declared): Field {
  const { bare, ...declared } = declaredBy(type)
  const own = { change, ...declared, returned: declared.returned ?? returned ?? 'always' }
  const isSensitive = isReferenceSchema(bare)
  const inner = bare instanceof z.ZodArray ? bare.element : bare
  if (inner instanceof z.ZodObject && !isSensitive)
    return { ...own, fields: fieldsOf(inner, flag, own), isSensitive }
  const form = own.form ?? formByType(bare, flag)
  if (form === undefined) throw new Error('a list needs a form')
  return { ...own, form, fields: {}, isSensitive }
}

function declaredBy(type: z.core.$ZodType): Declared & { readonly bare: z.core.$ZodType } {
  const inner = type instanceof z.ZodOptional ? declaredBy(type.unwrap()) : { bare: type }
  const meta = z.globalRegistry.get(type) ?? {}
  const own = DECLARED.filter((name) => meta[name] !== undefined).map((name) => [name, meta[name]])
  return { ...inner, ...Object.fromEntries(own) }
}

function formByType(type: z.core.$ZodType, flag: LeafForm): LeafForm | undefined {
  if (type instanceof z.ZodNumber) return 'number'
  if (type instanceof z.ZodBoolean) return flag
  return type instanceof z.ZodArray ? undefined : 'text'
}

/** The field of this name. An unknown field is guessed from its value, because some bodies have no schema. */
export function fieldFor(fields: Fields, name: string, value: Json): Field {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (field !== undefined) return field
  if (Array.isArray(value)) return UNKNOWN_LIST
  return isObject(value) ? UNKNOWN_OBJECT : TEXT
}

const UNKNOWN_OBJECT: Field = { returned: 'always', fields: {}, isSensitive: false }
const UNKNOWN_LIST: Field = { ...UNKNOWN_OBJECT, form: 'ordered' }
export const TEXT: Field = { ...UNKNOWN_OBJECT, form: 'text' }

/** @returns the field, or undefined if it cannot be compared because the reply does not show it */
export function comparedField(
  fields: Fields,
  name: string,
  value: Json,
  returned: Json | undefined,
): Field | undefined {
  const field = fieldFor(fields, name, value)
  if (field.returned === 'always') return field
  return field.returned === 'never' || isUnset(returned) ? undefined : field
}

/** Whether a value is null, 0, empty or absent. `false` counts as set. */
export function isUnset(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** The value that counts as not set. */
export function valueOfUnset(field: Field, form: LeafForm): Json | undefined {
  return field.default ?? factsOfForm(form).unset
}

export function fieldAt(fields: Fields, path: string | readonly string[]): Field | undefined {
  let field: Field | undefined = { ...UNKNOWN_OBJECT, fields }
  for (const name of typeof path === 'string' ? path.split('.') : path)
    field = field !== undefined && Object.hasOwn(field.fields, name) ? field.fields[name] : undefined
  return field
}

export function isReturnedField(fields: Fields, path: string): boolean {
  return howOftenReturned(fields, path) === 'always'
}

/** How often replies have the field at a path. An unknown field is returned as its parent is. */
export function howOftenReturned(fields: Fields, path: string): Field['returned'] {
  let field: Field = { ...UNKNOWN_OBJECT, fields }
  for (const name of fieldOfPath(path).split('.')) {
    const inner = Object.hasOwn(field.fields, name) ? field.fields[name] : undefined
    if (inner === undefined) return field.returned
    field = inner
  }
  if (field.returned !== 'always' || field.keyedBy === undefined) return field.returned
  return Object.values(field.fields).some(({ returned }) => returned === 'at times') ? 'at times' : 'always'
}
