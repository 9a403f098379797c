import { isObject, type Json } from '../lib/json.ts'
import type { SecretRef } from './secret-ref.ts'

/**
 * Texts: as they are; a comma list is a set; times, those to the minute, and those with a zone are compared by instant, the first two are
 * UTC without a zone; of an engine counts what stands before its parenthesis.
 */
type TextForm = 'text' | 'certificate' | 'comma-list' | 'time' | 'minute' | 'zoned' | 'engine'

/**
 * `unix-time` is a number of seconds that may come back as an ISO text; `millicores` and `gibibytes` may come back as quantities of Kubernetes; of
 * an `offset`, 0 and not set are the same in a reply.
 */
type NumberForm = 'number' | 'unix-time' | 'millicores' | 'gibibytes' | 'offset'

/** Of a flag, false and not set are the same in a reply. */
type BooleanForm = 'boolean' | 'flag'

/** Lists of texts: without or with an order that means something. */
type ListForm = 'set' | 'ordered'

export type LeafForm = TextForm | NumberForm | ListForm | BooleanForm

export interface ObjectForm {
  readonly fields: Fields
}

/** A list of objects without an order, each found by these fields of its own. */
export interface RecordsForm {
  readonly keyedBy: readonly string[]
  readonly fields: Fields
}

/** A field that the platform takes and never returns, with everything under it. */
export interface RequestOnly {
  readonly requestOnly: LeafForm | ObjectForm
}

/** A field that the platform returns at times: only what comes back is compared. */
export interface WhenReturned {
  readonly whenReturned: LeafForm
}

export type Form = LeafForm | ObjectForm | RecordsForm

/** A field, and whether the platform returns it; where nothing is said, it does. */
export type Field = Form | RequestOnly | WhenReturned

/** What has to be known of each field of a body so that two bodies can be compared (design §4). */
export type Fields = Readonly<Record<string, Field>>

/** The table of `T`, complete by type: a field that is new in the schema does not compile until it is here. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?:
    | FormOf<NonNullable<T[K]>>
    | { readonly requestOnly: FormOf<NonNullable<T[K]>> }
    | { readonly whenReturned: Extract<FormOf<NonNullable<T[K]>>, LeafForm> }
}

type FormOf<T> = [Exclude<T, SecretRef>] extends [string]
  ? TextForm
  : [T] extends [number]
    ? NumberForm
    : [T] extends [boolean]
      ? BooleanForm
      : [T] extends [readonly (infer Item)[]]
        ? [Item] extends [string]
          ? ListForm
          : { readonly keyedBy: readonly (keyof Item & string)[]; readonly fields: FieldsOf<Item> }
        : { readonly fields: FieldsOf<T> }

/** The form of a field that is to be compared, or `undefined` when the platform never returns it, or did not this time. */
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

/** A field that is not set comes back as null, as 0, as an empty text, list or object, or not at all. */
export function isUnset(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === '' || value === 0) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** The form of a field, whether or not the platform returns it. */
export function formOf(fields: Fields, name: string, value: Json): Form {
  const field = known(fields, name)
  if (field === undefined) return guessedForm(value)
  return plainForm(field)
}

/** The form of a field, whether or not it comes back. */
export function plainForm(field: Field): Form {
  if (isRequestOnly(field)) return field.requestOnly
  return isWhenReturned(field) ? field.whenReturned : field
}

/** Whether the platform always returns the field with that dotted path. */
export function isReturnedField(fields: Fields, path: string): boolean {
  return howOftenReturned(fields, path) === 'always'
}

/** How often the platform returns the field with that dotted path; a path that the table does not know counts as returned. */
export function howOftenReturned(fields: Fields, path: string): 'always' | 'at times' | 'never' {
  const bracket = path.indexOf('[') // nothing inside a list of objects is request only
  const names = (bracket === -1 ? path : path.slice(0, bracket)).split('.')
  let level: Fields = fields
  for (const [index, name] of names.entries()) {
    const field = known(level, name)
    if (field === undefined || typeof field === 'string') return 'always'
    if (isRequestOnly(field)) return 'never'
    if (isWhenReturned(field)) return 'at times'
    level = field.fields
    // A list of objects is one field.
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

/** A manifest holds no field that the table does not know; this keeps a caller with a body of its own safe. */
function guessedForm(value: Json): Form {
  if (Array.isArray(value)) return 'ordered'
  return isObject(value) ? { fields: {} } : 'text'
}
