import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { compareBody } from './compare-body.ts'
import { isRecords, returnedForm, type Fields, type RecordsForm } from './field-table.ts'
import { isSensitiveName } from '../lib/sensitive.ts'
import { isSecretRef } from './secret-ref.ts'

/**
 * What is there, written as the manifest writes it, so that a line differs only where a field does: what means the same is as the
 * manifest has it, and so is what the platform never returns, and what is kept from every output; what the manifest does not set is left out.
 */
export function beforeBody(fields: Fields, desired: JsonObject, observed: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys(desired).flatMap((name) => {
      const want = desired[name]
      const have = Object.hasOwn(observed, name) ? observed[name] : undefined
      const shown = want === undefined || want === null ? undefined : beforeValue(fields, name, want, have)
      return shown === undefined ? [] : [[name, shown]]
    }),
  )
}

/** The same for what is replaced as a whole: what the manifest leaves out is taken away, and so it is shown. */
export function beforeWhole(fields: Fields, desired: JsonObject, observed: JsonObject): JsonObject {
  const others = Object.keys(fields).filter((name) => isSet(observed[name]) && !isSet(desired[name]))
  return {
    ...beforeBody(fields, desired, observed),
    ...Object.fromEntries(others.map((name) => [name, observed[name]])),
  }
}

function isSet(value: Json | undefined): boolean {
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  )
}

function beforeValue(fields: Fields, name: string, want: Json, have: Json | undefined): Json | undefined {
  const form = returnedForm(fields, name, want, have)
  if (form === undefined || isSecretRef(want) || isSensitiveName(name)) return want
  if (compareBody(fields, { [name]: want }, { [name]: have }).length === 0) return want
  if (typeof form === 'string') return have ?? undefined
  if (isRecords(form) && Array.isArray(want) && Array.isArray(have)) return recordsBefore(form, want, have)
  if (!isRecords(form) && isObject(want) && isObject(have)) return beforeBody(form.fields, want, have)
  return have ?? undefined
}

/** In the order of the manifest; what only the platform has comes last. */
function recordsBefore(form: RecordsForm, want: readonly Json[], have: readonly Json[]): readonly Json[] {
  const nameOf = (item: Json) =>
    isObject(item) ? JSON.stringify(form.keyedBy.map((name) => item[name] ?? null)) : JSON.stringify(item)
  const wanted = new Map(want.map((item) => [nameOf(item), item]))
  const places = new Map([...wanted.keys()].map((name, index) => [name, index]))
  const place = (item: Json) => places.get(nameOf(item)) ?? places.size
  return [...have]
    .toSorted((a, b) => place(a) - place(b))
    .map((item) => {
      const match = wanted.get(nameOf(item))
      return isObject(item) && isObject(match) ? beforeBody(form.fields, match, item) : item
    })
}
