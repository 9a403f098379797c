import { isObject, type Json } from '../lib/json.ts'
import type { SecretRef } from './secret-ref.ts'

/** Texts: as they are; a comma list is a set; times are compared by instant, and are UTC without a zone. */
type TextForm = 'text' | 'certificate' | 'comma-list' | 'time'

/** `unix-time` is a number of seconds that may come back as an ISO text. */
type NumberForm = 'number' | 'unix-time'

/** Lists of texts: without or with an order that means something. */
type ListForm = 'set' | 'ordered'

export type LeafForm = TextForm | NumberForm | ListForm | 'boolean'

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

export type Form = LeafForm | ObjectForm | RecordsForm

/** What has to be known of each field of a body so that two bodies can be compared (design §4). */
export type Fields = Readonly<Record<string, Form | RequestOnly>>

/** The table of `T`, complete by type: a field that is new in the schema does not compile until it is here. */
export type FieldsOf<T> = {
  readonly [K in keyof T]-?: FormOf<NonNullable<T[K]>> | { readonly requestOnly: FormOf<NonNullable<T[K]>> }
}

type FormOf<T> = [Exclude<T, SecretRef>] extends [string]
  ? TextForm
  : [T] extends [number]
    ? NumberForm
    : [T] extends [boolean]
      ? 'boolean'
      : [T] extends [readonly (infer Item)[]]
        ? [Item] extends [string]
          ? ListForm
          : { readonly keyedBy: readonly (keyof Item & string)[]; readonly fields: FieldsOf<Item> }
        : { readonly fields: FieldsOf<T> }

/** The form of a field that is to be compared, or `undefined` when the platform never returns it. */
export function returnedForm(fields: Fields, name: string, value: Json): Form | undefined {
  const field = known(fields, name)
  if (field === undefined) return guessedForm(value)
  return isRequestOnly(field) ? undefined : field
}

/** The form of a field, whether or not the platform returns it. */
export function formOf(fields: Fields, name: string, value: Json): Form {
  const field = known(fields, name)
  if (field === undefined) return guessedForm(value)
  return isRequestOnly(field) ? field.requestOnly : field
}

/** Whether the platform returns the field with that dotted path; a path that the table does not know counts as returned. */
export function isReturnedField(fields: Fields, path: string): boolean {
  const bracket = path.indexOf('[') // nothing inside a list of objects is request only
  const names = (bracket === -1 ? path : path.slice(0, bracket)).split('.')
  let level: Fields = fields
  for (const name of names) {
    const field = known(level, name)
    if (field === undefined || typeof field === 'string') return true
    if (isRequestOnly(field)) return false
    level = field.fields
  }
  return true
}

export function isRecords(form: ObjectForm | RecordsForm): form is RecordsForm {
  return 'keyedBy' in form
}

function isRequestOnly(field: Form | RequestOnly): field is RequestOnly {
  return typeof field === 'object' && 'requestOnly' in field
}

function known(fields: Fields, name: string): Form | RequestOnly | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** A manifest holds no field that the table does not know; this keeps a caller with a body of its own safe. */
function guessedForm(value: Json): Form {
  if (Array.isArray(value)) return 'ordered'
  return isObject(value) ? { fields: {} } : 'text'
}
