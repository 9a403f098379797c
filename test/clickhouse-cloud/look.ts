import { isObject, type Json, type JsonObject, stableJson } from '../../src/lib/json.ts'
import type { Fault } from './shape.ts'

/** What stands at a dotted path. */
export function at(body: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = body
  for (const name of path.split('.')) value = isObject(value) ? value[name] : undefined
  return value
}

export function objectAt(body: JsonObject, path: string): JsonObject {
  const value = at(body, path)
  return isObject(value) ? value : {}
}

export function itemsAt(body: JsonObject, path: string): readonly JsonObject[] {
  const value = at(body, path)
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** A null says no more than nothing does. */
export function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

export function unless(isRight: boolean, field: string, rule: string): readonly Fault[] {
  return isRight ? [] : [{ field, rule }]
}

export function hasTwice(texts: readonly string[]): boolean {
  return new Set(texts).size < texts.length
}

/** A text, or a number or a truth as a text; whatever else there is, is none. */
export function textOf(value: Json | undefined): string {
  return value === undefined || typeof value === 'object' ? '' : String(value)
}

/** The tables of a database have no order. */
export function inOrder(body: JsonObject | undefined): Json {
  return JSON.parse(
    JSON.stringify(body, (name, value: unknown) =>
      name === 'tableMappings' && Array.isArray(value)
        ? value.toSorted((a, b) => (stableJson(a) < stableJson(b) ? -1 : 1))
        : value,
    ),
  ) as Json
}
