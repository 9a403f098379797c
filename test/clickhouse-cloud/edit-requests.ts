import { isObject, sameJson, type Json, type JsonObject } from '../../src/lib/json.ts'
import { sourceKey } from './destination-rules.ts'
import { at, isSet, itemsAt, objectAt } from './look.ts'
import { kindOf, LOGINS } from './patch.ts'
import { COMPANIONS, connectionFields, KEYS } from './patch-rules.ts'

/* The requests that make one body of another, in the order of the facts (section 8): one way of those that they allow. */

export interface Wanted {
  readonly method: 'PATCH' | 'PUT'
  /** After the path of the pipe. */
  readonly path: '' | '/scaling' | '/settings' | '/state'
  readonly body: JsonObject
  /** Whether the pipe has to be read until it is paused first. */
  readonly whenPaused: boolean
}

/** What is changed by each is all that changes, as far as anything can. */
export function requestsOf(before: JsonObject, after: JsonObject): readonly Wanted[] {
  const kind = kindOf(before)
  const arm = { ...armPatch(kind, before, after), ...mappingPatch(kind, before, after) }
  const patch = {
    ...pick('name', before, after),
    ...sourcePatch(kind, arm, [objectAt(before, 'source'), objectAt(after, 'source')]),
    ...columnPatch(before, after),
  }
  const settings = differing(objectAt(before, 'settings'), objectAt(after, 'settings'))
  const scaling = differing(objectAt(before, 'scaling'), objectAt(after, 'scaling'))
  const whenPaused = Object.keys(arm).some((name) => name.startsWith('tableMappingsTo'))
  return [
    ...(whenPaused
      ? [{ method: 'PATCH', path: '/state', body: { command: 'stop' }, whenPaused: false } as const]
      : []),
    ...wanted({ method: 'PATCH', path: '', body: patch, whenPaused }),
    ...wanted({ method: 'PUT', path: '/settings', body: settings, whenPaused: false }),
    ...wanted({ method: 'PATCH', path: '/scaling', body: scaling, whenPaused: false }),
  ]
}

/** Nothing to say, no request. */
function wanted(one: Wanted): readonly Wanted[] {
  return Object.keys(one.body).length > 0 ? [one] : []
}

function pick(name: string, before: JsonObject, after: JsonObject): JsonObject {
  const value = after[name]
  return value === undefined || sameJson(before[name], value) ? {} : { [name]: value }
}

/** The members that have another value, as they are to be. */
function differing(before: JsonObject, after: JsonObject): JsonObject {
  return Object.assign({}, ...Object.keys(after).map((name) => pick(name, before, after))) as JsonObject
}

function sourcePatch(
  kind: string,
  arm: JsonObject,
  [before, after]: readonly [before: JsonObject, after: JsonObject],
): JsonObject {
  const source = {
    ...pick('validateSamples', before, after),
    ...(Object.keys(arm).length > 0 ? { [kind]: arm } : {}),
  }
  return Object.keys(source).length > 0 ? { source } : {}
}

/** Both, as soon as one of them changes. */
function columnPatch(before: JsonObject, after: JsonObject): JsonObject {
  const path = 'destination.columns'
  const { fieldMappings } = after
  const isSame =
    sameJson(at(before, path), at(after, path)) && sameJson(before['fieldMappings'], fieldMappings)
  if (isSame) return {}
  return {
    destination: { columns: at(after, path) },
    ...(fieldMappings === undefined ? {} : { fieldMappings }),
  }
}

/** What changes of a source; with its companions, and beside a connection with all that logs in. */
function armPatch(kind: string, before: JsonObject, after: JsonObject): JsonObject {
  const [old, now] = [objectAt(before, `source.${kind}`), objectAt(after, `source.${kind}`)]
  const changed = Object.entries(now).flatMap(([name, value]): readonly (readonly [string, Json])[] => {
    if (name === 'tableMappings' || value === undefined || sameJson(old[name], value)) return []
    const isWhole = LOGINS.includes(name) || !isObject(value)
    return [[name, isWhole ? value : differing(objectAt(old, name), value)]]
  })
  if (changed.length === 0) return {}
  const required = (COMPANIONS[kind] ?? []).map((name) => [name, now[name]] as const)
  const arm = Object.fromEntries([...changed, ...required])
  const owed = connectionFields(kind, arm).length > 0 ? KEYS.filter((name) => isSet(now[name])) : []
  return { ...arm, ...Object.fromEntries(owed.map((name) => [name, now[name]])) }
}

/** One that is changed goes, and comes again. */
function mappingPatch(kind: string, before: JsonObject, after: JsonObject): JsonObject {
  const [old, now] = [before, after].map((body) => itemsAt(body, `source.${kind}.tableMappings`))
  const removed = (old ?? []).filter((table) => !hasSame(now ?? [], table)).map(entry)
  const added = (now ?? []).filter((table) => !hasSame(old ?? [], table))
  return {
    ...(removed.length > 0 ? { tableMappingsToRemove: removed } : {}),
    ...(added.length > 0 ? { tableMappingsToAdd: added } : {}),
  }
}

function hasSame(tables: readonly JsonObject[], table: JsonObject): boolean {
  return tables.some((one) => sourceKey(one) === sourceKey(table) && sameJson(one, table))
}

/** What an entry to remove has to have. */
function entry(table: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(table).filter(([name]) => name.startsWith('source') || name === 'targetTable'),
  )
}
