import { isObject, type JsonObject } from '../lib/json.ts'
import { compareBody } from './compare-body.ts'
import type { Field, Fields } from './field-table.ts'
import { comparedBody } from './remote-resource.ts'

const SOURCE = 'source.'

export function identityIn(fields: Fields): Fields {
  return identifying(fields, [])
}

function identifying(fields: Fields, keys: readonly string[]): Fields {
  const found = Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    if (field.form !== undefined) return field.identifies === true ? [[name, field]] : []
    const inner = identifying(field.fields, field.keyedBy ?? [])
    return Object.keys(inner).length === 0 ? [] : [[name, { ...field, fields: inner }]]
  })
  const key = keys.flatMap((name): [string, Field][] => (fields[name] ? [[name, fields[name]]] : []))
  return found.length === 0 ? {} : Object.fromEntries([...key, ...found])
}

export function identityPaths(identity: Fields): readonly string[] {
  const paths: string[] = []
  addPaths(paths, identity, '')
  return paths
}

function addPaths(paths: string[], fields: Fields, prefix: string): void {
  for (const [name, field] of Object.entries(fields)) {
    if (field.form !== undefined || field.keyedBy !== undefined) paths.push(`${prefix}${name}`)
    else addPaths(paths, field.fields, `${prefix}${name}.`)
  }
}

type Values = Readonly<Record<string, string>>

export function sourceIn(paths: readonly string[], values: Values): string | undefined {
  const set = paths.filter((path) => path.startsWith(SOURCE) && values[path] !== undefined)
  return set.length === 0 ? undefined : set.map((path) => `${path}=${values[path]}`).join('\n')
}

/** Whether both have the same source, and no field with two different values. */
export function isSameIdentity(paths: readonly string[], a: Values, b: Values): boolean {
  const source = sourceIn(paths, a)
  const differs = (path: string) => a[path] !== undefined && b[path] !== undefined && a[path] !== b[path]
  return source !== undefined && source === sourceIn(paths, b) && !paths.some(differs)
}

/** Checks whether a resource has the source and destination of `asked`. Compares lists last: they are slow. */
export function identityCheck(identity: Fields, asked: JsonObject): (there: JsonObject) => boolean {
  const body = comparedBody(identity, asked)
  const isNamed = Object.values(body['source'] ?? {}).some(
    (kind) => isObject(kind) && Object.keys(kind).length > 0,
  )
  const plain = withoutLists(body)
  return (there) =>
    isNamed &&
    compareBody(identity, plain, there).length === 0 &&
    compareBody(identity, body, there).length === 0
}

function withoutLists(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      if (Array.isArray(value)) return []
      return [[name, value !== undefined && isObject(value) ? withoutLists(value) : value]]
    }),
  )
}
