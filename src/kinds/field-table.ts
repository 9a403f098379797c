import { isObject, type Json } from '../lib/json.ts'
import { z } from './zod.ts'

/**
 * A text has one line, except `block`, `lines` (also unseen characters), `certificate` and `raw` (any
 * characters). A `foreign` text names other people's data. A comma list is a set.
 * Times are instants: `time` and `minute` (UTC by default), `zoned`, and `unix-time` (seconds), which can be
 * ISO text in replies. An engine is compared without arguments, and an address without its user. `millicores`
 * and `gibibytes` can return as Kubernetes quantities. A reply can omit an `offset` of 0 and a false `flag`.
 */
export type LeafForm =
  | 'text'
  | 'block'
  | 'lines'
  | 'raw'
  | 'foreign'
  | 'certificate'
  | 'comma-list'
  | 'time'
  | 'minute'
  | 'zoned'
  | 'unix-time'
  | 'engine'
  | 'address'
  | 'number'
  | 'millicores'
  | 'gibibytes'
  | 'offset'
  | 'boolean'
  | 'flag'
  | 'set'
  | 'ordered'

export interface ObjectForm {
  readonly fields: Fields
}

/** An unordered list of objects with these key fields. */
export interface RecordsForm {
  readonly keyedBy: readonly string[]
  readonly fields: Fields
}

/** Never returned, nor anything below it. */
export interface RequestOnly {
  readonly requestOnly: LeafForm | ObjectForm
}

/** Sometimes returned; absence is no difference. */
export interface WhenReturned {
  readonly whenReturned: LeafForm
}

export type Form = LeafForm | ObjectForm | RecordsForm

/** Default: always returned. */
export type Field = Form | RequestOnly | WhenReturned

export type Fields = Readonly<Record<string, Field>>

/** By type, except `special`. Lists have no form by type. */
export function deriveForms<S extends z.core.$ZodShape, const P extends Fields>(
  shape: S,
  special: P,
  flag: 'boolean' | 'flag' = 'flag',
): { readonly [Name in keyof S]: Field } & P {
  const forms = Object.entries(shape).map(([name, type]) => [name, special[name] ?? formByType(type, flag)])
  return Object.fromEntries(forms) as { readonly [Name in keyof S]: Field } & P // each name has a form
}

function formByType(type: z.core.$ZodType, flag: 'boolean' | 'flag'): Field {
  if (type instanceof z.ZodOptional) return formByType(type.unwrap(), flag)
  if (type instanceof z.ZodNumber) return 'number'
  if (type instanceof z.ZodBoolean) return flag
  if (type instanceof z.ZodArray) throw new Error('a list needs a form')
  if (!(type instanceof z.ZodObject) || 'secretRef' in type.shape) return 'text'
  return { fields: deriveForms(type.shape, {}, flag) }
}

/** Undefined: never returned. */
export function returnedForm(
  fields: Fields,
  name: string,
  value: Json,
  returned: Json | undefined,
): Form | undefined {
  const field = known(fields, name)
  if (field === undefined) return guessedForm(value)
  if (isRequestOnly(field)) return undefined
  if (!isWhenReturned(field)) return field
  return isUnset(returned) ? undefined : field.whenReturned
}

/** Null, 0, empty or absent. */
export function isUnset(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

export function formOf(fields: Fields, name: string, value: Json): Form {
  const field = known(fields, name)
  if (field === undefined) return guessedForm(value)
  return plainForm(field)
}

export function plainForm(field: Field): Form {
  if (isRequestOnly(field)) return field.requestOnly
  return isWhenReturned(field) ? field.whenReturned : field
}

/** Undefined: no leaf. An unknown leaf is a text. */
export function leafFormAt(fields: Fields, names: readonly string[]): LeafForm | undefined {
  let form: Form | undefined = { fields }
  for (const name of names)
    form = form === undefined || typeof form === 'string' ? undefined : formOf(form.fields, name, null)
  return typeof form === 'string' ? form : undefined
}

export function isReturnedField(fields: Fields, path: string): boolean {
  return howOftenReturned(fields, path) === 'always'
}

/** An unknown path counts as returned. */
export function howOftenReturned(fields: Fields, path: string): 'always' | 'at times' | 'never' {
  const bracket = path.indexOf('[') // list items have no request-only fields
  const names = (bracket === -1 ? path : path.slice(0, bracket)).split('.')
  let level: Fields = fields
  for (const [index, name] of names.entries()) {
    const field = known(level, name)
    if (field === undefined || typeof field === 'string') return 'always'
    if (isRequestOnly(field)) return 'never'
    if (isWhenReturned(field)) return 'at times'
    level = field.fields
    if (isRecords(field) && index === names.length - 1)
      return Object.values(level).some(isWhenReturned) ? 'at times' : 'always'
  }
  return 'always'
}

export function isRecords(form: ObjectForm | RecordsForm): form is RecordsForm {
  return 'keyedBy' in form
}

export function isRequestOnly(field: Field): field is RequestOnly {
  return typeof field === 'object' && 'requestOnly' in field
}

export function isWhenReturned(field: Field): field is WhenReturned {
  return typeof field === 'object' && 'whenReturned' in field
}

function known(fields: Fields, name: string): Field | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** For bodies without a schema. */
function guessedForm(value: Json): Form {
  if (Array.isArray(value)) return 'ordered'
  return isObject(value) ? { fields: {} } : 'text'
}
