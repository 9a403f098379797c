import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { isRecords, returnedForm, type Fields, type LeafForm, type RecordsForm } from './field-table.ts'
import { canonicalLeaf, sameLeaf, UNSET } from './canonical.ts'
import { NOT_SET, showPair, showSensitivePair, type Difference } from './difference.ts'
import { isSensitiveName } from '../lib/sensitive.ts'
import { createLabels, pairUp, summarize } from './record-pairs.ts'
import { isSecretRef } from './secret-ref.ts'

/** Only returned fields, sorted by path. References are skipped: their values are unknown. */
export function compareBody(
  fields: Fields,
  desired: JsonObject,
  observed: JsonObject,
): readonly Difference[] {
  return compareFields(fields, desired, observed, '').toSorted((a, b) => (a.field < b.field ? -1 : 1))
}

/** As {@link compareBody}, unsorted, with `prefix` before each path. */
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
    const form = returnedForm(fields, name, want, have)
    if (form === undefined || isSecretRef(want)) continue
    if (typeof form === 'string') {
      if (!isSameLeaf(form, want, have)) differences.push(leafDifference(form, name, prefix, want, have))
    } else if (isRecords(form) && Array.isArray(want)) {
      differences.push(...compareRecords(form, want, have, `${prefix}${name}`))
    } else if (isObject(want)) {
      differences.push(...compareFields(form.fields, want, isObject(have) ? have : {}, `${prefix}${name}.`))
    } else if (!isSameLeaf('text', want, have)) {
      differences.push(leafDifference('text', name, prefix, want, have))
    }
  }
  return differences
}

/** Of one list. A reply can have a hundred thousand items. */
const MAX_UNPAIRED = 2_000

/** Pairs items by key. An unpaired item is a difference. */
function compareRecords(
  form: RecordsForm,
  desired: readonly Json[],
  observed: Json | undefined,
  field: string,
): readonly Difference[] {
  const items = Array.isArray(observed) ? observed : []
  if (items !== observed && canonicalLeaf('text', observed) !== undefined) {
    const [want, have] = showPair('text', desired, observed)
    return [{ field, desired: want, observed: have }]
  }
  const isSame = (want: JsonObject, have: JsonObject) =>
    compareFields(form.fields, want, have, '').length === 0
  const { pairs, missing, extra } = pairUp(form.keyedBy, desired, items, isSame)
  const labelOf = createLabels(form.keyedBy)
  const pathOf = (item: Json) => `${field}[${labelOf(item)}]`
  return [
    ...pairs.flatMap(([want, have]) => compareFields(form.fields, want, have, `${pathOf(want)}.`)),
    ...missing
      .slice(0, MAX_UNPAIRED)
      .map((item) => ({ field: pathOf(item), desired: summarize(form, item), observed: NOT_SET })),
    ...extra
      .slice(0, MAX_UNPAIRED)
      .map((item) => ({ field: pathOf(item), desired: NOT_SET, observed: summarize(form, item) })),
  ]
}

/** A fast check for identical values. False proves no difference. */
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

function isSameLeaf(form: LeafForm, want: Json, have: Json | undefined): boolean {
  return (want === UNSET[form] && canonicalLeaf(form, have) === undefined) || sameLeaf(form, want, have)
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
