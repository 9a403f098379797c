import { isObject, type Json } from '../lib/json.ts'
import { instantOf } from './instant.ts'

/*
 * Two values of a field are equal if their canonical texts are equal. Null and empty lists, objects and comma
 * lists have no canonical text. Canonical texts are never shown, because they can be sensitive.
 */

interface FormFacts {
  /** Turns a returned value into the form of manifests, or undefined if its type is wrong. Default: unchanged. */
  readonly written?: (value: Json) => Json | undefined
  /** Text for comparison. Default: JSON of the written value. */
  readonly canonical?: (value: Json) => string | undefined
  /** The value that replies can omit: it counts as not set. */
  readonly unset?: Json
  /** Words in the docs on how values are compared. Default: `yes`. */
  readonly compared?: string
}

const BY_INSTANT = { canonical: canonicalTime, compared: 'yes, by instant' }

/**
 * A `text` has one line. A `block` can have line breaks, `lines` and `certificate` also invisible characters,
 * and `raw` any characters. A `foreign` text is a name in another system, such as a field of the source.
 */
const FORMS = {
  text: { unset: '' },
  block: { unset: '' },
  lines: { unset: '' },
  raw: { unset: '' },
  foreign: { unset: '' },
  certificate: {
    canonical: (value) =>
      canonicalValue(typeof value === 'string' ? value.replaceAll(/\r\n?/g, '\n').trim() : value),
    compared: 'yes, except spaces',
  },
  'comma-list': {
    written: (value) =>
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value.join(',') : undefined,
    canonical: (value) => canonicalSet('comma-list', value),
    compared: 'yes, in any order',
  },
  set: { canonical: (value) => canonicalSet('set', value), compared: 'yes, in any order' },
  ordered: { compared: 'yes, in this order' },
  /** UTC, written without a zone: `2026-01-31T08:00:00`. */
  time: { ...BY_INSTANT, written: (value) => timeAs(value, (at) => withoutFraction(at).slice(0, -1)) },
  minute: { ...BY_INSTANT, written: (value) => timeAs(value, (at) => at.toISOString().slice(0, 16)) },
  zoned: { ...BY_INSTANT, written: (value) => timeAs(value, withoutFraction) },
  /** Seconds since 1970. Some replies have an ISO text instead. */
  'unix-time': {
    written: (value) => numberIn(value) ?? timeAs(value, (at) => at.getTime() / 1_000),
    canonical: canonicalUnixTime,
    compared: 'yes, by instant',
  },
  /** Compared without arguments: `MergeTree()` becomes `MergeTree`. */
  engine: {
    written: (value) => (typeof value === 'string' ? (value.split('(')[0] ?? '').trim() : undefined),
    compared: 'yes, except its arguments',
  },
  /** Compared without its user, because replies show `[REDACTED]` instead. */
  address: {
    written: (value) =>
      typeof value === 'string' ? value.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/]*@/i, '$1') : undefined,
    compared: 'yes, except its user',
  },
  number: { written: numberIn },
  offset: { written: numberIn, unset: 0 },
  /** Some replies have a Kubernetes quantity, such as `250m`. */
  millicores: { written: millicoresIn, compared: 'yes, in any unit' },
  gibibytes: { written: gibibytesIn, compared: 'yes, in any unit' },
  boolean: {},
  flag: { unset: false },
} as const satisfies Readonly<Record<string, FormFacts>>

export type LeafForm = keyof typeof FORMS

export function factsOfForm(form: LeafForm): FormFacts {
  return FORMS[form]
}

export function asWritten(form: LeafForm, value: Json): Json {
  return factsOfForm(form).written?.(value) ?? value
}

/** Text for the comparison. Undefined: the field counts as absent. */
export function canonicalLeaf(form: LeafForm, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined
  const { canonical } = factsOfForm(form)
  return canonical === undefined ? canonicalValue(asWritten(form, value)) : canonical(value)
}

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

/** Whether the canonical texts are equal. Does not sort sets, because these can have hundreds of thousands of items. */
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

export function joined(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : `[${texts.join(',')}]`
}

function timeAs(value: Json, inWords: (instant: Date) => Json): Json | undefined {
  const instant = typeof value === 'string' ? instantOf(value) : undefined
  return instant === undefined ? undefined : inWords(new Date(instant))
}

function withoutFraction(instant: Date): string {
  return instant.toISOString().replace(/(?:\.000)?Z$/, 'Z')
}

function canonicalUnixTime(value: Json): string | undefined {
  const seconds = numberIn(value)
  return seconds === undefined ? canonicalTime(value) : `@${Math.round(seconds * 1_000)}`
}

function canonicalTime(value: Json): string | undefined {
  const instant = typeof value === 'string' ? instantOf(value) : undefined
  return instant === undefined ? canonicalValue(value) : `@${instant}`
}

const NUMERIC = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i

/** Characters. A longer text is no number, because number patterns take quadratic time. */
const MAX_NUMBER_LENGTH = 64

/** Levels of nesting. Deeper values of a reply count as equal, to limit the recursion. */
const DEEPEST = 32

function numberIn(value: Json): number | undefined {
  if (typeof value === 'number') return value
  return isShortText(value) && NUMERIC.test(value) ? Number(value) : undefined
}

function isShortText(value: Json): value is string {
  return typeof value === 'string' && value.length <= MAX_NUMBER_LENGTH
}

const QUANTITY = /^\s*(\d+(?:\.\d+)?)\s*([A-Za-z]{0,2})\s*$/

/** A pipe has 125 to 2,000 millicores. A smaller number without a unit means cores. */
const FEWEST_MILLICORES = 125

/** `250`, `"250m"` and `"0.25"` are equal. */
function millicoresIn(value: Json): number | undefined {
  if (typeof value === 'number') return value
  const [, digits = '', unit] = QUANTITY.exec(isShortText(value) ? value : '') ?? []
  const number = Number(digits)
  if (digits === '' || (unit !== '' && unit !== 'm')) return undefined
  // Exact, unlike a product: `1.007 * 1_000` is 1006.9999999999999.
  return unit === 'm' || number >= FEWEST_MILLICORES ? number : Number(`${digits}e3`)
}

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
function gibibytesIn(value: Json): number | undefined {
  if (typeof value === 'number') return value
  const [, digits = '', unit = ''] = QUANTITY.exec(isShortText(value) ? value : '') ?? []
  if (digits === '') return undefined
  const number = Number(digits)
  const bytes = BYTES[unit]
  if (bytes !== undefined) return (number * bytes) / GIBIBYTE
  if (unit !== '') return undefined
  return number > MOST_GIBIBYTES ? number / GIBIBYTE : number
}

export function canonicalValue(value: Json | undefined, depth = 0): string | undefined {
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
