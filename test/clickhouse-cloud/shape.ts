import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { PIPE, type Fact, type Place } from './facts.ts'
import { FORMATS } from './formats.ts'
import { textOf } from './look.ts'

/** Why a body is refused. */
export interface Fault {
  /** Dotted, with `[]` after the name of a list. */
  readonly field: string
  /** A rule of the facts, such as `R3`, or what of the field itself is wrong. */
  readonly rule: string
}

/** Whether a body has the closed shape of the facts: fields, types, words, bounds, formats, and nothing empty. */
export function shapeFaults(body: JsonObject): readonly Fault[] {
  return [
    ...treeFaults(PIPE, body),
    ...(isObject(body['source']) ? [] : [{ field: 'source', rule: 'needed' }]),
  ]
}

export function treeFaults(place: Place, value: JsonObject): readonly Fault[] {
  const given = Object.entries(value).flatMap(([name, member]) => {
    const below = place.members.get(name)
    const field = place.path === '' ? name : `${place.path}.${name}`
    if (below === undefined) return [{ field, rule: 'unknown field' }]
    return member === undefined ? [] : placeFaults(below, member)
  })
  const needed = [...place.members.values()]
    .filter(({ name, isNeeded }) => isNeeded && (value[name] ?? null) === null)
    .map(({ path }) => ({ field: path, rule: 'needed' }))
  return [...given, ...needed]
}

function placeFaults(place: Place, value: Json): readonly Fault[] {
  const field = place.path
  if (place.fact !== undefined) return leafFaults(place.fact, value)
  // R1: the sources that are not used may be null; no other object may
  if (value === null) return /^source\.\w+$/.test(field) ? [] : [{ field, rule: 'type' }]
  const isEmpty = typeof value === 'object' && Object.keys(value).length === 0
  return [...(isEmpty ? [{ field, rule: 'R41' }] : []), ...innerFaults(place, value)]
}

function innerFaults(place: Place, value: Json): readonly Fault[] {
  const field = place.path
  if (place.isList)
    return Array.isArray(value)
      ? value.flatMap((item) => (isObject(item) ? treeFaults(place, item) : [{ field, rule: 'type' }]))
      : [{ field, rule: 'type' }]
  return isObject(value) ? treeFaults(place, value) : [{ field, rule: 'type' }]
}

function leafFaults(fact: Fact, value: Json): readonly Fault[] {
  const rule = leafFault(fact, value)
  return rule === undefined ? [] : [{ field: fact.field, rule }]
}

function leafFault(fact: Fact, value: Json): string | undefined {
  if (value === null) return fact.isNullable ? undefined : 'type'
  if (Array.isArray(value)) return fact.type === 'string[]' ? listFault(fact, value) : 'type'
  if (!isOfType(fact, value)) return 'type'
  if (value === '') return 'R41'
  if (fact.words !== undefined && !fact.words.includes(textOf(value))) return 'words'
  const size = typeof value === 'string' ? Array.from(value).length : Number(value)
  if (fact.type !== 'bool' && (size < (fact.low ?? -Infinity) || size > (fact.high ?? Infinity)))
    return 'range'
  return formatFault(fact, value)
}

function isOfType({ type }: Fact, value: Json): boolean {
  if (type === 'int') return Number.isInteger(value)
  if (type === 'number') return typeof value === 'number'
  if (type === 'bool') return typeof value === 'boolean'
  return type === 'string' && typeof value === 'string'
}

function listFault(fact: Fact, items: readonly Json[]): string | undefined {
  if (items.length === 0) return 'R41'
  if (items.some((item) => typeof item !== 'string')) return 'type'
  if (items.includes('')) return 'R41'
  if (fact.values === 'unique' && new Set(items).size < items.length) return 'R31'
  return items.map((item) => formatFault(fact, item)).find((rule) => rule !== undefined)
}

function formatFault(fact: Fact, value: Json): string | undefined {
  const format = FORMATS.find(({ says }) => fact.values.startsWith(says))
  return format === undefined || format.takes(value) ? undefined : 'format'
}
