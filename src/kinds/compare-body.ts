import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { comparedField, type Field, type Fields, valueOfUnset } from './field-table.ts'
import { canonicalLeaf, sameLeaf } from './leaf-forms.ts'
import { NOT_SET, showPair, showSensitivePair, type Difference } from './difference.ts'
import { isSensitiveName } from '../lib/sensitive.ts'
import { createLabels, pairUp, summarize } from './record-pairs.ts'
import { isSecretRef } from './secret-ref.ts'

/** Differences in returned fields, sorted by path. Skips secret references, whose values are unknown. */
export function compareBody(
  fields: Fields,
  desired: JsonObject,
  observed: JsonObject,
): readonly Difference[] {
  const { differences } = compareFields(fields, desired, observed, '')
  return differences.toSorted((a, b) => (a.field < b.field ? -1 : 1))
}

/**
 * The observed body in the manifest's form, for a diff with only real differences. Equal values, unreturned
 * fields and sensitive values are copied from the manifest. Fields outside the manifest are left out.
 */
export function observedForDiff(fields: Fields, desired: JsonObject, observed: JsonObject): JsonObject {
  return compareFields(fields, desired, observed, '').shown
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
  return canonicalLeaf('text', value) !== undefined && value !== ''
}

interface Comparison {
  readonly differences: readonly Difference[]
  /** The observed value, as {@link observedForDiff} shows it. */
  readonly shown: Json | undefined
}

type ComparedFields = Comparison & { readonly shown: JsonObject }

function compareFields(
  fields: Fields,
  desired: JsonObject,
  observed: JsonObject,
  prefix: string,
): ComparedFields {
  const differences: Difference[] = []
  const shown: [string, Json][] = []
  for (const name of Object.keys(desired)) {
    const want = desired[name]
    if (want === undefined || want === null) continue
    const have = Object.hasOwn(observed, name) ? observed[name] : undefined
    const field = isWritten(want, have) ? undefined : comparedField(fields, name, want, have)
    const found =
      field === undefined || isSecretRef(want) ? undefined : compareField(field, want, have, prefix, name)
    if (found !== undefined) differences.push(...found.differences)
    const isCopied = found === undefined || found.differences.length === 0 || isSensitiveName(name)
    const value = isCopied ? want : (found.shown ?? undefined)
    if (value !== undefined) shown.push([name, value])
  }
  return { differences, shown: Object.fromEntries(shown) }
}

function compareField(
  field: Field,
  want: Json,
  have: Json | undefined,
  prefix: string,
  name: string,
): Comparison {
  const path = `${prefix}${name}`
  if (field.form === undefined && field.keyedBy !== undefined && Array.isArray(want))
    return compareRecords(field, want, have, path)
  if (field.form === undefined && isObject(want)) {
    const inner = compareFields(field.fields, want, isObject(have) ? have : {}, `${path}.`)
    return isObject(have) ? inner : { ...inner, shown: have }
  }
  const { form = 'text' } = field
  const isDefault = canonicalLeaf(form, have) === undefined && want === valueOfUnset(field, form)
  if (isDefault || sameLeaf(form, want, have)) return { differences: [], shown: have }
  const show = isSensitiveName(name) ? showSensitivePair : showPair
  const [desired, observed] = show(form, want, have)
  return { differences: [{ field: path, desired, observed }], shown: have }
}

/** Maximum number of unpaired list items that become differences. A reply can have a hundred thousand items. */
const MAX_UNPAIRED = 2_000

function compareRecords(
  { keyedBy = [], fields }: Field,
  desired: readonly Json[],
  observed: Json | undefined,
  field: string,
): Comparison {
  const items = Array.isArray(observed) ? observed : []
  if (items !== observed && canonicalLeaf('text', observed) !== undefined) {
    const [want, have] = showPair('text', desired, observed)
    return { differences: [{ field, desired: want, observed: have }], shown: observed }
  }
  const isSame = (want: JsonObject, have: JsonObject) =>
    compareFields(fields, want, have, '').differences.length === 0
  const { pairs, missing, extra } = pairUp(keyedBy, desired, items, isSame)
  const labelOf = createLabels(keyedBy)
  const pathOf = (item: Json) => `${field}[${labelOf(item)}]`
  const paired = new Map<Json, ComparedFields>(
    pairs.map(([want, have]) => [want, compareFields(fields, want, have, `${pathOf(want)}.`)]),
  )
  const differences = [
    ...paired.values().flatMap((one) => one.differences),
    ...missing
      .slice(0, MAX_UNPAIRED)
      .map((item) => ({ field: pathOf(item), desired: summarize(keyedBy, fields, item), observed: NOT_SET })),
    ...extra
      .slice(0, MAX_UNPAIRED)
      .map((item) => ({ field: pathOf(item), desired: NOT_SET, observed: summarize(keyedBy, fields, item) })),
  ]
  const shown = desired.flatMap((want) => paired.get(want) ?? []).map((one) => one.shown)
  return { differences, shown: Array.isArray(observed) ? [...shown, ...extra] : observed }
}

function isWritten(want: Json | undefined, have: Json | undefined): boolean {
  if (want === have) return true
  if (typeof want !== 'object' || want === null || typeof have !== 'object' || have === null) return false
  if (isObject(want)) return isObject(have) && hasAllOf(want, have)
  return (
    Array.isArray(have) && want.length === have.length && want.every((item, i) => isWritten(item, have[i]))
  )
}

function hasAllOf(want: JsonObject, have: JsonObject): boolean {
  for (const name in want) {
    if (!Object.hasOwn(have, name) || !isWritten(want[name], have[name])) return false
  }
  return true
}
