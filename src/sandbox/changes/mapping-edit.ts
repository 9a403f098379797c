import { isObject, type JsonObject, stableJson } from '../../lib/json.ts'
import { mistake, obstacle, type Before, type Refusal } from './change.ts'
import { kindOf } from './cloud-pipe.ts'

export interface MappingEdit {
  readonly toAdd: readonly JsonObject[]
  readonly toRemove: readonly JsonObject[]
}

/** @param patch checked part of the source kind @returns undefined: no edit */
export function mappingEditOf(patch: JsonObject): MappingEdit | undefined {
  const [toAdd, toRemove] = [patch['tableMappingsToAdd'], patch['tableMappingsToRemove']]
  return toAdd === undefined && toRemove === undefined
    ? undefined
    : { toAdd: objectsIn(toAdd), toRemove: objectsIn(toRemove) }
}

type Edited = { readonly ok: true; readonly mappings: readonly JsonObject[] } | Refusal

/** Removes first. The pipe's rules reject an empty list and duplicate targets. */
export function editedMappings(
  { pipe, state }: Before,
  mappings: readonly JsonObject[],
  { toAdd, toRemove }: MappingEdit,
): Edited {
  if (state !== 'Paused') return obstacle('the pipe must be paused to edit its table mappings')
  const place = `source.${kindOf(pipe.body)}.tableMappingsTo`
  let rest = mappings
  for (const [index, item] of toRemove.entries()) {
    const left = rest.filter((mapping) => !isMeant(mapping, item))
    if (left.length === rest.length) return mistake(`${place}Remove.${index}: there is no such mapping`)
    rest = left
  }
  for (const [index, item] of toAdd.entries()) {
    const isThere = rest.some((mapping) => sourceOf(mapping) === sourceOf(item))
    if (isThere) return mistake(`${place}Add.${index}: there is a mapping of this source`)
    rest = [...rest, item]
  }
  return { ok: true, mappings: rest }
}

export function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

/** Source fields identify a mapping (R27). A given target must match. */
function isMeant(mapping: JsonObject, item: JsonObject): boolean {
  const target = item['targetTable'] ?? mapping['targetTable']
  return sourceOf(mapping) === sourceOf(item) && mapping['targetTable'] === target
}

function sourceOf(mapping: JsonObject): string {
  return stableJson(
    Object.fromEntries(Object.entries(mapping).filter(([field]) => field.startsWith('source'))),
  )
}
