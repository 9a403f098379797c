import { fieldAt, type Fields } from '../kinds/field-table.ts'
import { isDatabase, type SourceKind } from '../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { comparedBody } from '../kinds/remote-resource.ts'
import { z } from '../kinds/zod.ts'
import { isObject, mergePatch, sameJson, type JsonObject } from '../lib/json.ts'
import { type Refusal, refusal } from './call.ts'
import type { Dialect } from './dialect.ts'
import {
  type PipeBefore,
  type PipeChange,
  completedRefusal,
  moved,
  obstacle,
  ruleRefusal,
  shapeRefusal,
} from './pipe-changes.ts'
import type { PipeInternals, StoredPipe } from './stored.ts'
import { mapped, optional, required, type Shape, shapeIn } from './wire-schema.ts'
import { credentialDigests, settledState, sourceOf } from './world.ts'

/** Handles `PATCH {pipe}`: merges the whole body, or refuses it. */
export function update(before: PipeBefore, json: JsonObject): PipeChange {
  const { dialect, pipe, state, now } = before
  const { kind, fields: was } = sourceOf(pipe.body)
  const declared = fieldAt(dialect.pipe.fields, `source.${kind}`)?.fields ?? {}
  const { settings: _ignored, ...body } = json
  const misshapen = shapeRefusal(shapeOf(dialect, kind, declared, json), json) ?? partsRefusal(body)
  if (misshapen !== undefined) return misshapen
  const isRename = Object.keys(body).every((name) => name === 'name')
  const completed = isRename ? undefined : completedRefusal(before)
  if (completed !== undefined) return completed

  const isEffective = (name: string) => kind !== 'kafka' || declared[name]?.change !== undefined
  const sent = Object.entries(sourceOf(body).fields)
  const patch: JsonObject = Object.fromEntries(sent.filter(([name]) => isEffective(name)))
  const edited = tablesAfter(before, patch)
  if (!edited.ok) return edited
  const { tableMappingsToAdd: added, tableMappingsToRemove: _removed, ...fields } = patch
  const is = { ...mergePatch(was, fields), ...edited.tables }
  const { source: _source, ...others } = body
  const after = { ...mergePatch(pipe.body, others), source: { [kind]: is } }
  const refused =
    accountRefusal(was, is) ??
    loginRefusal(pipe, patch, is) ??
    ruleRefusal(before, after, { ...others, source: { [kind]: patch } })
  if (refused !== undefined) return refused

  const changed = {
    ...pipe,
    updatedAt: now,
    body: { ...pipe.body, ...comparedBody(dialect.pipe.fields, after) },
    internals: withCredentials(pipe.id, pipe.internals, patch),
  }
  if (state !== 'Paused' || !isDatabase(kind) || body['source'] === undefined)
    return { ok: true, pipe: changed }
  // The pipe is `Modifying` while the service checks the edit, and `Snapshot` while it copies new tables.
  const copies = added === undefined ? [] : ['Snapshot']
  return moved({ ...before, pipe: changed }, ['Modifying', ...copies, settledState(dialect, after)])
}

function shapeOf({ pipeShape }: Dialect, kind: SourceKind, declared: Fields, json: JsonObject): Shape {
  const { name, source, destination, fieldMappings, settings } = pipeShape
  const part = sourceShape(kind, declared, shapeIn(shapeIn(source)[kind]), Object.keys(sourceOf(json).fields))
  return mapped<z.core.$ZodType | undefined>(
    {
      name,
      source: z.strictObject({ validateSamples: z.boolean().optional(), [kind]: z.strictObject(part) }),
      destination: z.strictObject({ columns: required(shapeIn(destination)['columns']) }),
      fieldMappings,
      settings,
    },
    optional,
  )
}

/** Fields that each change of the source must send. */
const NEEDED: Readonly<Partial<Record<SourceKind, readonly string[]>>> = {
  pubsub: ['authentication'],
  mysql: ['host', 'port'],
  mongodb: ['uri', 'readPreference'],
}

function sourceShape(kind: SourceKind, declared: Fields, fields: Shape, names: readonly string[]): Shape {
  const mappingEdits = mapped(editsShape(kind, declared, fields), optional)
  // If only table mappings are edited, no other field is needed.
  if (names.length > 0 && names.every((name) => name in mappingEdits)) return mappingEdits
  const needed = (NEEDED[kind] ?? []).map((name) => [name, required(fields[name])])
  return {
    ...mapped(changeable(kind, declared, fields), optional),
    ...Object.fromEntries(needed),
    ...mappingEdits,
  }
}

function changeable(kind: SourceKind, declared: Fields, fields: Shape): Shape {
  if (kind !== 'kafka') return changeableIn(declared, fields)
  // For Kafka, the service ignores fields that cannot change. It refuses only `schemaRegistry.credentials`.
  const { credentials: _refused, ...registry } = shapeIn(fields['schemaRegistry'])
  return { ...fields, schemaRegistry: z.strictObject(registry) }
}

function changeableIn(declared: Fields, shape: Shape): Shape {
  const fields = Object.entries(shape).flatMap(([name, schema]): [string, z.core.$ZodType][] => {
    const { change, fields: inner = {} } = declared[name] ?? {}
    if (change === 'update' || change === 'connection') return [[name, required(schema)]]
    const part = changeableIn(inner, shapeIn(schema))
    return Object.keys(part).length === 0 ? [] : [[name, z.strictObject(mapped(part, optional))]]
  })
  return Object.fromEntries(fields)
}

function editsShape(kind: SourceKind, declared: Fields, { tableMappings }: Shape): Shape {
  const { change, keyedBy = [] } = declared['tableMappings'] ?? {}
  if (change !== 'tables') return {}
  const item = shapeIn(tableMappings)
  const { targetTable = z.never() } = item
  const removed = {
    ...Object.fromEntries(keyedBy.map((name) => [name, required(item[name])])),
    targetTable: kind === 'postgres' ? z.optional(targetTable) : targetTable,
  }
  return {
    tableMappingsToAdd: z.array(z.strictObject(item)),
    tableMappingsToRemove: z.array(z.strictObject(removed)),
  }
}

function partsRefusal(body: JsonObject): Refusal | undefined {
  if (body['fieldMappings'] !== undefined && body['destination'] === undefined)
    return refusal(400, 'fieldMappings: send destination.columns, too')
  // The caller has removed `settings` from `body`, because the service ignores them in this request.
  return Object.keys(body).length === 0
    ? refusal(400, 'settings: send them to PUT {pipe}/settings')
    : undefined
}

/** Removes each mapping that equals an item of `toRemove` in the item's fields, then adds `toAdd`. */
function tablesAfter(
  { pipe, state }: PipeBefore,
  { tableMappingsToAdd: toAdd, tableMappingsToRemove: toRemove }: JsonObject,
): { readonly ok: true; readonly tables: JsonObject } | Refusal {
  if (toAdd === undefined && toRemove === undefined) return { ok: true, tables: {} }
  if (state !== 'Paused') return obstacle('the pipe must be paused to edit its table mappings')
  const { kind, fields } = sourceOf(pipe.body)
  let rest = objectsIn(fields['tableMappings'])
  for (const [index, item] of objectsIn(toRemove).entries()) {
    const kept = rest.filter((mapping) => !sameJson({ ...mapping, ...item }, mapping))
    const place = `source.${kind}.tableMappingsToRemove.${index}`
    if (kept.length === rest.length) return refusal(400, `${place}: there is no such mapping`)
    rest = kept
  }
  return { ok: true, tables: { tableMappings: [...rest, ...objectsIn(toAdd)] } }
}

function objectsIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function accountRefusal(before: JsonObject, after: JsonObject): Refusal | undefined {
  const [was, is] = [before['authentication'], after['authentication']]
  const switches = was !== is && (was === 'SERVICE_ACCOUNT' || is === 'SERVICE_ACCOUNT')
  return switches && after['type'] === 'gcs'
    ? refusal(400, 'source.objectStorage.authentication: cannot change to or from SERVICE_ACCOUNT')
    : undefined
}

const WITHOUT_CONNECTION = ['tableMappingsToAdd', 'tableMappingsToRemove', 'settings']

/**
 * A PATCH of the source must send the credentials again, because the service does not use the stored ones.
 * @param patch only the fields that have an effect
 */
function loginRefusal(
  { body, internals }: StoredPipe,
  patch: JsonObject,
  after: JsonObject,
): Refusal | undefined {
  const { kind } = sourceOf(body)
  const connects = Object.keys(patch).some((name) => !WITHOUT_CONNECTION.includes(name))
  const hasLogin =
    (kind === 'kafka' && after['authentication'] !== 'IAM_ROLE') ||
    (kind === 'mongodb' && internals?.credentials?.['credentials'] !== undefined) ||
    kind === 'postgres' ||
    kind === 'mysql'
  return connects && hasLogin && patch['credentials'] === undefined
    ? obstacle('cannot connect to the source: login failed, no password was given')
    : undefined
}

function withCredentials(id: string, internals: PipeInternals | undefined, patch: JsonObject): PipeInternals {
  const known = internals?.credentials ?? {}
  const sent = credentialDigests(id, patch)
  const isNew = Object.entries(sent).some(([name, digest]) => known[name] !== digest)
  return {
    ...internals,
    credentials: { ...known, ...sent },
    credentialsRevision: (internals?.credentialsRevision ?? 0) + Number(isNew),
  }
}
