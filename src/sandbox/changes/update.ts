import { SOURCE_KINDS, type SourceKind } from '../../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { type JsonObject, isObject, stableJson } from '../../lib/json.ts'
import { mergePatch } from '../../lib/merge-patch.ts'
import { PIPE_FIELDS } from '../../kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { wordIssues } from '../request-schema.ts'
import { withoutRequestOnly } from '../stored.ts'
import { type Before, type Change, mistake, moving, obstacle, type Refusal } from './change.ts'
import {
  emptyPlace,
  isOfDatabase,
  kindOf,
  newlyBroken,
  objectIn,
  settledState,
  worded,
} from './cloud-pipe.ts'
import { rotated, signInRefusal } from './credentials.ts'
import { DROPPED_OF_KAFKA, patchSchema } from './patch-schema.ts'

/** `PATCH {pipe}`: merges all or nothing (facts 3.1 and 8). */
export function update(before: Before, json: JsonObject): Change {
  const { pipe, state, now } = before
  const kind = kindOf(pipe.body)
  const { settings: _ignored, ...body } = json
  const shapeless = objectionToShape(kind, json)
  if (shapeless !== undefined) return mistake(shapeless)
  if (state === 'Completed' && Object.keys(body).some((name) => name !== 'name'))
    return obstacle('the pipe is Completed: only its name can be changed')

  const patch = effectOf(kind, objectIn(objectIn(body, 'source'), kind))
  const edit = mappingEditOf(patch)
  const source = edited(before, patch, edit)
  if (!source.ok) return source
  const after: JsonObject = {
    ...pipe.body,
    ...body,
    source: { ...objectIn(pipe.body, 'source'), [kind]: source.json },
    destination: mergePatch(objectIn(pipe.body, 'destination'), objectIn(body, 'destination')),
  }
  const refusal =
    switchRefusal(objectIn(objectIn(pipe.body, 'source'), kind), source.json) ??
    signInRefusal({ kind, patch, after: source.json, internals: pipe.internals })
  if (refusal !== undefined) return refusal
  const broken = newlyBroken(pipe.body, after, { ...body, source: { [kind]: patch } })
  if (broken !== undefined) return mistake(worded(broken))

  const changed = {
    ...pipe,
    updatedAt: now,
    body: withoutRequestOnly(PIPE_FIELDS, after),
    internals: rotated(pipe.id, pipe.internals, patch),
  }
  const wakes = state === 'Paused' && isOfDatabase(pipe.body) && body['source'] !== undefined
  return {
    ok: true,
    pipe: wakes ? moving({ ...before, pipe: changed }, wakingStates(changed.body, edit)) : changed,
  }
}

function objectionToShape(kind: SourceKind, json: JsonObject): string | undefined {
  const { settings: _ignored, ...body } = json
  const source = objectIn(json, 'source')
  const foreign = SOURCE_KINDS.find((name) => name !== kind && source[name] !== undefined)
  if (foreign !== undefined) return `source.${foreign}: the pipe is one of ${kind}, which never changes`
  if (body['fieldMappings'] !== undefined && objectIn(body, 'destination')['columns'] === undefined)
    return 'fieldMappings: destination.columns are needed with them'
  const shape = patchSchema(kind, Object.keys(objectIn(source, kind))).safeParse(json)
  if (!shape.success) return wordIssues(shape.error)
  const empty = emptyPlace(json)
  if (empty !== undefined) return `${empty}: must not be empty`
  // Checked, but not applied (N9).
  return Object.keys(body).length === 0 ? 'settings: use the settings of the pipe' : undefined
}

function effectOf(kind: SourceKind, patch: JsonObject): JsonObject {
  if (kind !== 'kafka') return patch
  const dropped: readonly string[] = DROPPED_OF_KAFKA
  return Object.fromEntries(Object.entries(patch).filter(([name]) => !dropped.includes(name)))
}

function edited(
  before: Before,
  patch: JsonObject,
  edit: MappingEdit | undefined,
): { readonly ok: true; readonly json: JsonObject } | Refusal {
  const source = objectIn(objectIn(before.pipe.body, 'source'), kindOf(before.pipe.body))
  const { tableMappingsToAdd: _added, tableMappingsToRemove: _removed, ...fields } = patch
  const merged = mergePatch(source, fields)
  if (edit === undefined) return { ok: true, json: merged }
  const result = editedMappings(before, objectsIn(source['tableMappings']), edit)
  return result.ok ? { ok: true, json: { ...merged, tableMappings: result.mappings } } : result
}

/** R18. */
function switchRefusal(before: JsonObject, after: JsonObject): Refusal | undefined {
  const [was, is] = [before['authentication'], after['authentication']]
  const switches = was !== is && (was === 'SERVICE_ACCOUNT' || is === 'SERVICE_ACCOUNT')
  return switches && after['type'] === 'gcs'
    ? mistake('source.objectStorage.authentication: cannot change to or from SERVICE_ACCOUNT')
    : undefined
}

/** A paused pipe wakes to check an edit and copies new tables (facts 6.1). */
function wakingStates(body: JsonObject, edit: MappingEdit | undefined): readonly string[] {
  const copies = edit !== undefined && edit.toAdd.length > 0
  return ['Modifying', ...(copies ? ['Snapshot'] : []), settledState(body)]
}

interface MappingEdit {
  readonly toAdd: readonly JsonObject[]
  readonly toRemove: readonly JsonObject[]
}

/** @param patch checked part of the source kind @returns undefined: no edit */
function mappingEditOf(patch: JsonObject): MappingEdit | undefined {
  const [toAdd, toRemove] = [patch['tableMappingsToAdd'], patch['tableMappingsToRemove']]
  return toAdd === undefined && toRemove === undefined
    ? undefined
    : { toAdd: objectsIn(toAdd), toRemove: objectsIn(toRemove) }
}

type Edited = { readonly ok: true; readonly mappings: readonly JsonObject[] } | Refusal

/** Removes first. The pipe's rules reject an empty list and duplicate targets. */
function editedMappings(
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

function objectsIn(value: unknown): readonly JsonObject[] {
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
