import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { formOf, isRecords, type Fields, type LeafForm, type RecordsForm } from './field-table.ts'
import { instantOf } from './instant.ts'

/*
 * Two values are equal if their canonical texts are. Absent values (null, empty list, object or comma list)
 * have none. The texts are never shown: they can be sensitive.
 */

const NUMERIC = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

/** Characters. Limits the quadratic time of number patterns. */
const MAX_NUMBER_LENGTH = 64

/** Limits recursion on nested replies. */
const DEEPEST = 32

const CANONICAL: Readonly<Record<LeafForm, (value: Json) => string | undefined>> = {
  text: canonicalValue,
  block: canonicalValue,
  lines: canonicalValue,
  raw: canonicalValue,
  foreign: canonicalValue,
  boolean: canonicalValue,
  flag: canonicalValue,
  ordered: canonicalValue,
  certificate: (value) => canonicalValue(typeof value === 'string' ? oneLineEnding(value) : value),
  offset: (value) => canonicalValue(numberIn(value) ?? value),
  number: (value) => canonicalValue(numberIn(value) ?? value),
  millicores: (value) => canonicalValue(millicoresIn(value) ?? value),
  gibibytes: (value) => canonicalValue(gibibytesIn(value) ?? value),
  engine: (value) => canonicalValue(typeof value === 'string' ? withoutArguments(value) : value),
  address: (value) => canonicalValue(typeof value === 'string' ? withoutUser(value) : value),
  'unix-time': canonicalUnixTime,
  time: canonicalTime,
  minute: canonicalTime,
  zoned: canonicalTime,
  'comma-list': (value) => canonicalSet('comma-list', value),
  set: (value) => canonicalSet('set', value),
}

/** Values that a reply can omit. */
export const UNSET: Partial<Readonly<Record<LeafForm, Json>>> = { flag: false, offset: 0 }

/** Undefined: the field counts as absent. */
export function canonicalLeaf(form: LeafForm, value: Json | undefined): string | undefined {
  return value === undefined || value === null ? undefined : CANONICAL[form](value)
}

/** Order of objects does not matter. Undefined: empty. */
function canonicalRecords(form: RecordsForm, value: Json | undefined): string | undefined {
  if (!Array.isArray(value)) return canonicalLeaf('text', value)
  const items = value.map((item: Json) =>
    isObject(item) ? canonicalItem(form.fields, item) : canonicalValue(item),
  )
  return joined(items.filter((item) => item !== undefined).toSorted())
}

/** As JSON. */
function canonicalItem(fields: Fields, item: JsonObject): string {
  const members = canonicalLeaves(fields, item).map(
    ([path, text]) => `${JSON.stringify(path)}:${JSON.stringify(text)}`,
  )
  return `{${members.join(',')}}`
}

export type Leaf = readonly [path: string, text: string]

/** All set fields by sorted path. A list of objects is one field. References stay. */
export function canonicalLeaves(fields: Fields, body: JsonObject): readonly Leaf[] {
  const leaves: Leaf[] = []
  addLeaves(leaves, fields, body, '')
  return leaves
}

function addLeaves(leaves: Leaf[], fields: Fields, body: JsonObject, prefix: string): void {
  // No name has a character that sorts before the dot.
  for (const name of Object.keys(body).toSorted()) {
    const value = body[name]
    if (value === undefined) continue
    const path = prefix + name
    const form = formOf(fields, name, value)
    if (typeof form === 'object' && !isRecords(form) && isObject(value)) {
      addLeaves(leaves, form.fields, value, `${path}.`)
      continue
    }
    const text = canonicalField(form, value)
    if (text !== undefined) leaves.push([path, text])
  }
}

function canonicalField(form: ReturnType<typeof formOf>, value: Json): string | undefined {
  if (typeof form === 'string') return canonicalLeaf(form, value)
  return isRecords(form) ? canonicalRecords(form, value) : canonicalValue(value)
}

/** Accepts a list as a comma list. */
export function membersOf(form: 'comma-list' | 'set', value: Json): readonly Json[] | undefined {
  if (form === 'set') return Array.isArray(value) ? value : undefined
  if (typeof value === 'string') return partsOf(value)
  if (!Array.isArray(value)) return undefined
  return value.flatMap((item: Json): readonly Json[] => (typeof item === 'string' ? partsOf(item) : [item]))
}

function partsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function canonicalSet(form: 'comma-list' | 'set', value: Json): string | undefined {
  const members = membersOf(form, value)
  return members === undefined ? canonicalValue(value) : joined([...setOf(members)].toSorted())
}

function setOf(members: readonly Json[]): ReadonlySet<string> {
  return new Set(members.map((member) => canonicalValue(member)).filter((text) => text !== undefined))
}

/** As equal canonical texts, without sorting: a reply can hold hundreds of thousands of members. */
export function sameLeaf(form: LeafForm, want: Json, have: Json | undefined): boolean {
  const isSet = (form === 'comma-list' || form === 'set') && have !== undefined && have !== null
  const [wanted, there] = isSet ? [membersOf(form, want), membersOf(form, have)] : []
  if (wanted === undefined || there === undefined)
    return canonicalLeaf(form, want) === canonicalLeaf(form, have)
  const set = setOf(wanted)
  const isExtra = (member: Json) => {
    const text = canonicalValue(member)
    return text !== undefined && !set.has(text)
  }
  return !there.some(isExtra) && setOf(there).size === set.size
}

function joined(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}

function canonicalUnixTime(value: Json): string | undefined {
  const seconds = numberIn(value)
  return seconds === undefined ? canonicalTime(value) : `@${Math.round(seconds * 1_000)}`
}

function canonicalTime(value: Json): string | undefined {
  const instant = typeof value === 'string' ? instantOf(value) : undefined
  return instant === undefined ? canonicalValue(value) : `@${instant}`
}

export function numberIn(value: Json): number | undefined {
  if (typeof value === 'number') return value
  return isShortText(value) && NUMERIC.test(value) ? Number(value) : undefined
}

function isShortText(value: Json): value is string {
  return typeof value === 'string' && value.length <= MAX_NUMBER_LENGTH
}

/** `MergeTree()` becomes `MergeTree`. */
export function withoutArguments(engine: string): string {
  return (engine.split('(')[0] ?? '').trim()
}

/** Replies replace the user of an address (N3). */
export function withoutUser(address: string): string {
  return address.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/]*@/i, '$1')
}

/** A number or a Kubernetes quantity. */
const QUANTITY = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]{0,2})\s*$/

/** A pipe has 125 to 2,000 millicores. A smaller number without a unit means cores. */
const FEWEST_MILLICORES = 125

/** `250`, `"250m"` and `"0.25"` are equal. */
export function millicoresIn(value: Json): number | undefined {
  if (typeof value === 'number') return value
  const [, digits = '', unit] = QUANTITY.exec(isShortText(value) ? value : '') ?? []
  const number = Number(digits)
  if (digits === '' || (unit !== '' && unit !== 'm')) return undefined
  // `1.007 * 1_000` is 1006.9999999999999.
  return unit === 'm' || number >= FEWEST_MILLICORES ? number : Number(`${digits}e3`)
}

/** Bytes. */
const GIBIBYTE = 1_073_741_824
const BYTES: Readonly<Record<string, number>> = {
  Ki: 1_024,
  Mi: 1_048_576,
  Gi: GIBIBYTE,
  Ti: 1_099_511_627_776,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
}

/** A larger number without a unit means bytes. */
const MOST_GIBIBYTES = 1_024

/** `1`, `"1Gi"`, `"1024Mi"` and `"1073741824"` are equal. */
export function gibibytesIn(value: Json): number | undefined {
  if (typeof value === 'number') return value
  const [, digits = '', unit = ''] = QUANTITY.exec(isShortText(value) ? value : '') ?? []
  if (digits === '') return undefined
  const number = Number(digits)
  const bytes = BYTES[unit]
  if (bytes !== undefined) return (number * bytes) / GIBIBYTE
  if (unit !== '') return undefined
  return number > MOST_GIBIBYTES ? number / GIBIBYTE : number
}

function oneLineEnding(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').trim()
}

/** Sorted JSON without absent values, limited in depth. */
function canonicalValue(value: Json | undefined, depth = 0): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return JSON.stringify(value)
  if (depth === DEEPEST) return '…'
  if (!isObject(value)) {
    return joined(value.map((item) => canonicalValue(item, depth + 1)).filter((text) => text !== undefined))
  }
  const members = Object.keys(value)
    .toSorted()
    .flatMap((name) => {
      const text = canonicalValue(value[name], depth + 1)
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`]
    })
  return members.length === 0 ? undefined : `{${members.join(',')}}`
}
