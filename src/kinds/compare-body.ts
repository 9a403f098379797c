import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { comparedField, type Field, type Fields, valueOfUnset } from './field-table.ts'
import { canonicalLeaf, type LeafForm, sameLeaf } from './leaf-forms.ts'
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
  return compareFields(fields, desired, observed, '').toSorted((a, b) => (a.field < b.field ? -1 : 1))
}

function compareFields(
  fields: Fields,
  desired: JsonObject,
  observed: JsonObject,
  prefix: string,
): readonly Difference[] {
  const differences: Difference[] = []
  for (const name of Object.keys(desired)) {
    const want = desired[name]
    const have = Object.hasOwn(observed, name) ? observed[name] : undefined
    if (want === undefined || want === null || isWritten(want, have)) continue
    const field = comparedField(fields, name, want, have)
    if (field === undefined || isSecretRef(want)) continue
    if (field.form === undefined && field.keyedBy !== undefined && Array.isArray(want)) {
      differences.push(...compareRecords(field, want, have, `${prefix}${name}`))
    } else if (field.form === undefined && isObject(want)) {
      differences.push(...compareFields(field.fields, want, isObject(have) ? have : {}, `${prefix}${name}.`))
    } else {
      const { form = 'text' } = field
      const isDefault = canonicalLeaf(form, have) === undefined && want === valueOfUnset(field, form)
      if (!isDefault && !sameLeaf(form, want, have))
        differences.push(leafDifference(form, name, prefix, want, have))
    }
  }
  return differences
}

/** Maximum number of unpaired list items that become differences. A reply can have a hundred thousand items. */
const MAX_UNPAIRED = 2_000

function compareRecords(
  { keyedBy = [], fields }: Field,
  desired: readonly Json[],
  observed: Json | undefined,
  field: string,
): readonly Difference[] {
  const items = Array.isArray(observed) ? observed : []
  if (items !== observed && canonicalLeaf('text', observed) !== undefined) {
    const [want, have] = showPair('text', desired, observed)
    return [{ field, desired: want, observed: have }]
  }
  const isSame = (want: JsonObject, have: JsonObject) => compareFields(fields, want, have, '').length === 0
  const { pairs, missing, extra } = pairUp(keyedBy, desired, items, isSame)
  const labelOf = createLabels(keyedBy)
  const pathOf = (item: Json) => `${field}[${labelOf(item)}]`
  return [
    ...pairs.flatMap(([want, have]) => compareFields(fields, want, have, `${pathOf(want)}.`)),
    ...missing
      .slice(0, MAX_UNPAIRED)
      .map((item) => ({ field: pathOf(item), desired: summarize(keyedBy, fields, item), observed: NOT_SET })),
    ...extra
      .slice(0, MAX_UNPAIRED)
      .map((item) => ({ field: pathOf(item), desired: NOT_SET, observed: summarize(keyedBy, fields, item) })),
  ]
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

function leafDifference(
  form: LeafForm,
  name: string,
  prefix: string,
  want: Json,
  have: Json | undefined,
): Difference {
  const show = isSensitiveName(name) ? showSensitivePair : showPair
  const [desired, observed] = show(form, want, have)
  return { field: `${prefix}${name}`, desired, observed }
}
