import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import { formOf, isRecords, type Fields, type LeafForm, type RecordsForm } from './field-table.ts'
import { instantOf } from './instant.ts'

/*
 * Two values mean the same exactly when their canonical texts are equal; what counts as absent (null, an empty list,
 * an empty object, an empty comma list) has none. The texts are never shown: they may hold sensitive values.
 */

const NUMERIC = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

/** A longer text is no number: the patterns of numbers take the square of the time on it. In characters. */
const MAX_NUMBER_LENGTH = 64

/** A reply may be nested deeper than any stack; nothing we compare is. */
const DEEPEST = 32

const CANONICAL: Readonly<Record<LeafForm, (value: Json) => string | undefined>> = {
  text: canonicalValue,
  boolean: canonicalValue,
  flag: canonicalValue,
  ordered: canonicalValue,
  certificate: (value) => canonicalValue(typeof value === 'string' ? oneLineEnding(value) : value),
  offset: (value) => canonicalValue(numberIn(value) ?? value),
  number: (value) => canonicalValue(numberIn(value) ?? value),
  millicores: (value) => canonicalValue(millicoresIn(value) ?? value),
  gibibytes: (value) => canonicalValue(gibibytesIn(value) ?? value),
  engine: (value) => canonicalValue(typeof value === 'string' ? withoutArguments(value) : value),
  'unix-time': canonicalUnixTime,
  time: canonicalTime,
  minute: canonicalTime,
  zoned: canonicalTime,
  'comma-list': (value) => canonicalSet('comma-list', value),
  set: (value) => canonicalSet('set', value),
}

/** What a reply may say by leaving a field out. */
export const UNSET: Partial<Readonly<Record<LeafForm, Json>>> = { flag: false, offset: 0 }

/** The canonical text of one field, or `undefined` when it counts as absent. */
export function canonicalLeaf(form: LeafForm, value: Json | undefined): string | undefined {
  return value === undefined || value === null ? undefined : CANONICAL[form](value)
}

/** The canonical text of a list of objects, whatever their order; `undefined` when it is empty. */
function canonicalRecords(form: RecordsForm, value: Json | undefined): string | undefined {
  if (!Array.isArray(value)) return canonicalLeaf('text', value)
  const items = value.map((item: Json) =>
    isObject(item) ? canonicalItem(form.fields, item) : canonicalValue(item),
  )
  return joined(items.filter((item) => item !== undefined).toSorted())
}

/** An item of a list of objects: the canonical texts of its fields, as JSON. */
function canonicalItem(fields: Fields, item: JsonObject): string {
  const members = canonicalLeaves(fields, item).map(
    ([path, text]) => `${JSON.stringify(path)}:${JSON.stringify(text)}`,
  )
  return `{${members.join(',')}}`
}

/** A field by its dotted path, with its canonical text. */
export type Leaf = readonly [path: string, text: string]

/**
 * Every field that a body sets, in the order of their paths. A list of objects is one field; a secretRef stands for
 * itself; what counts as absent is left out.
 */
export function canonicalLeaves(fields: Fields, body: JsonObject): readonly Leaf[] {
  const leaves: Leaf[] = []
  addLeaves(leaves, fields, body, '')
  return leaves
}

function addLeaves(leaves: Leaf[], fields: Fields, body: JsonObject, prefix: string): void {
  // Fields in the order of their names are in the order of their paths: no name has a character that sorts before the dot.
  for (const name of Object.keys(body).toSorted()) {
    const value = body[name]
    if (value === undefined || value === null) continue
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

/** The texts of a comma list or a set; a list where a comma list is expected is taken for one, item by item. */
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
  if (members === undefined) return canonicalValue(value)
  const texts = members.map((member) => canonicalValue(member)).filter((text) => text !== undefined)
  return joined([...new Set(texts)].toSorted())
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

/** The name of an engine without what is in its parentheses: `MergeTree()`. */
export function withoutArguments(engine: string): string {
  return (engine.split('(')[0] ?? '').trim()
}

/** A number, or a quantity of Kubernetes: a number and a unit. */
const QUANTITY = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]{0,2})\s*$/

/** A pipe has at most two cores, and at least an eighth of one: a smaller number without a unit means cores. */
const FEWEST_MILLICORES = 125

/** `250`, `"250m"` and `"0.25"` are the same. */
export function millicoresIn(value: Json): number | undefined {
  if (typeof value === 'number') return value
  const [, digits = '', unit] = QUANTITY.exec(isShortText(value) ? value : '') ?? []
  const number = Number(digits)
  if (digits === '' || (unit !== '' && unit !== 'm')) return undefined
  // Not `number * 1_000`: of 1.007 that is 1006.9999999999999.
  return unit === 'm' || number >= FEWEST_MILLICORES ? number : Number(`${digits}e3`)
}

/** Bytes of a gibibyte, and of the units in which a quantity of memory may come. */
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

/** No pipe has so many gibibytes: a larger number without a unit means bytes. */
const MOST_GIBIBYTES = 1_024

/** `1`, `"1Gi"`, `"1024Mi"` and `"1073741824"` are the same. */
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

/** JSON without what counts as absent, with names in order, and cut off where no honest value goes. */
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
