import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { compareBody } from './compare-body.ts'
import { comparedField, type Field, type Fields } from './field-table.ts'
import { isSensitiveName } from '../lib/sensitive.ts'
import { isSecretRef } from './secret-ref.ts'

/**
 * The observed body in the manifest's form, for a diff with only real differences. Equal values, unreturned
 * fields and sensitive values are copied from the manifest. Fields outside the manifest are left out.
 */
export function observedForDiff(fields: Fields, desired: JsonObject, observed: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.keys(desired).flatMap((name) => {
      const want = desired[name]
      const have = Object.hasOwn(observed, name) ? observed[name] : undefined
      const shown = want === undefined || want === null ? undefined : beforeValue(fields, name, want, have)
      return shown === undefined ? [] : [[name, shown]]
    }),
  )
}

/** The observed body for a diff, with the fields that the manifest lacks, because an upsert removes them. */
export function beforeWhole(fields: Fields, desired: JsonObject, observed: JsonObject): JsonObject {
  const others = Object.keys(fields).filter((name) => isSet(observed[name]) && !isSet(desired[name]))
  return {
    ...observedForDiff(fields, desired, observed),
    ...Object.fromEntries(others.map((name) => [name, observed[name]])),
  }
}

function isSet(value: Json | undefined): boolean {
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  )
}

function beforeValue(fields: Fields, name: string, want: Json, have: Json | undefined): Json | undefined {
  const field = comparedField(fields, name, want, have)
  if (field === undefined || isSecretRef(want) || isSensitiveName(name)) return want
  if (compareBody(fields, { [name]: want }, { [name]: have }).length === 0) return want
  if (field.form !== undefined) return have ?? undefined
  const isList = field.keyedBy !== undefined
  if (isList && Array.isArray(want) && Array.isArray(have)) return recordsBefore(field, want, have)
  if (!isList && isObject(want) && isObject(have)) return observedForDiff(field.fields, want, have)
  return have ?? undefined
}

function recordsBefore(
  { keyedBy = [], fields }: Field,
  want: readonly Json[],
  have: readonly Json[],
): readonly Json[] {
  const nameOf = (item: Json) =>
    isObject(item) ? JSON.stringify(keyedBy.map((name) => item[name] ?? null)) : JSON.stringify(item)
  const wanted = new Map(want.map((item) => [nameOf(item), item]))
  const places = new Map([...wanted.keys()].map((name, index) => [name, index]))
  const place = (item: Json) => places.get(nameOf(item)) ?? places.size
  return [...have]
    .toSorted((a, b) => place(a) - place(b))
    .map((item) => {
      const match = wanted.get(nameOf(item))
      return isObject(item) && isObject(match) ? observedForDiff(fields, match, item) : item
    })
}
