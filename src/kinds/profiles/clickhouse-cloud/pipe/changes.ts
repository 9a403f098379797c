import type { Changes, Compared } from '../../../changes.ts'
import { compareBody } from '../../../compare-body.ts'
import { fieldAt, type Field, type Fields, isUnset, TEXT } from '../../../field-table.ts'
import { canonicalLeaf } from '../../../leaf-forms.ts'
import { isObject, valueAt, type Json, type JsonObject } from '../../../../lib/json.ts'
import { REST_STATES } from './states.ts'
import { PIPE_FIELDS } from './schema.ts'
import { SOURCE_KINDS, type SourceKind } from './source.ts'

const LOGIN = ['credentials', 'accessKey', 'serviceAccountKey', 'iamRole', 'connectionString']

function changeOf(field: string): Field['change'] {
  return fieldAt(PIPE_FIELDS, field)?.change
}

function changeableFields(kind: SourceKind, change: 'update' | 'connection'): readonly string[] {
  return pathsChangedBy(change, fieldAt(PIPE_FIELDS, `source.${kind}`)?.fields ?? {}, '')
}

function pathsChangedBy(change: Field['change'], fields: Fields, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    field.change === change
      ? [`${prefix}${name}`]
      : pathsChangedBy(change, field.fields, `${prefix}${name}.`),
  )
}

export const PIPE_CHANGES: Changes = {
  wayOf(field, fields, compared) {
    const change = changeOf(field)
    if (change === undefined) return undefined
    if (field.startsWith('source.')) return isChangeable(field, fields, compared) ? 'update' : undefined
    // No known request removes a field.
    if (setAt(compared.desired, field) === undefined) return undefined
    return change === 'scale' || change === 'configure' ? change : 'update'
  },
  request(way, fields, compared) {
    const { desired } = compared
    // Without the other sizes and settings, because a person might have changed them.
    const changed = picked(desired, [...fields])
    if (way === 'scale') return partOf(changed, 'scaling')
    if (way === 'configure') return { ...keptSettings(compared), ...partOf(changed, 'settings') }
    const has = (...names: readonly string[]) => names.some((name) => fields.has(name))
    return {
      ...(has('name') && { name: desired['name'] }),
      ...sourceRequest(fields, compared),
      ...(has('destination.columns', 'fieldMappings') && {
        destination: { columns: setAt(desired, 'destination.columns') },
        fieldMappings: desired['fieldMappings'],
      }),
    }
  },
  isFollowed: (fields, compared) => {
    const kind = sourceKindOf(compared.desired)
    return kind !== undefined && fields.has(mappingsOf(kind)) && editOf(kind, compared).isFollowed
  },
  isLeft: (field, compared) => {
    const kind = sourceKindOf(compared.desired)
    return kind !== undefined && field === mappingsOf(kind) && editOf(kind, compared).isPossible
  },
  needsRest: (field) => changeOf(field) === 'tables',
  asksForRest: (said) => /must be paused/i.test(said),
  isSlow: (field) => ['scale', 'tables'].includes(changeOf(field) ?? ''),
  rest: REST_STATES,
}

function isChangeable(field: string, fields: ReadonlySet<string>, compared: Compared): boolean {
  const { desired } = compared
  const kind = sourceKindOf(desired)
  if (kind === undefined) return field === 'source.validateSamples'
  // The service accepts `validateSamples` only together with a field of the source.
  if (field === 'source.validateSamples')
    return Object.keys(picked(sourceIn(desired, kind), changeableFields(kind, 'connection'))).length > 0
  const own = `source.${kind}.`
  // A person can adopt a pipe with another type of source.
  if (!field.startsWith(own) || setAt(compared.observed, `source.${kind}`) === undefined) return false
  const name = field.slice(own.length)
  if (changeOf(field) === 'tables') return editOf(kind, compared).isPossible
  if (kind === 'objectStorage' && name === 'authentication' && isOtherAccount(fields, compared)) return false
  if (setAt(desired, field) !== undefined) return true
  const part = LOGIN.find((one) => isWithin(name, one))
  return (
    part !== undefined &&
    (fields.has(`${own}authentication`) || setAt(desired, `${own}${part}`) !== undefined)
  )
}

/** Whether the authentication changes to or from SERVICE_ACCOUNT, because no request can make this change. */
function isOtherAccount(fields: ReadonlySet<string>, { desired, observed }: Compared): boolean {
  const logins = [desired, observed].map((body) => setAt(body, 'source.objectStorage.authentication'))
  return logins.includes('SERVICE_ACCOUNT') || fields.has('source.objectStorage.serviceAccountKey')
}

function sourceRequest(fields: ReadonlySet<string>, compared: Compared): JsonObject {
  const kind = sourceKindOf(compared.desired)
  if (kind === undefined) return {}
  const own = `source.${kind}.`
  const changed = [...fields].filter((field) => field.startsWith('source.'))
  if (changed.length === 0) return {}
  const isConnection = changed.some((field) => field !== mappingsOf(kind))
  const isChanged = (name: string) => changed.some((field) => isWithin(field, `${own}${name}`))
  const parts = isConnection
    ? [...changeableFields(kind, 'connection'), ...changeableFields(kind, 'update').filter(isChanged)]
    : []
  const { validateSamples } = partOf(compared.desired, 'source')
  return {
    source: {
      ...(isConnection && validateSamples !== undefined && { validateSamples }),
      [kind]: {
        ...picked(sourceIn(compared.desired, kind), parts),
        ...(fields.has(mappingsOf(kind)) && mappingsRequest(kind, compared)),
      },
    },
  }
}

function mappingsOf(kind: SourceKind): string {
  return `source.${kind}.tableMappings`
}

function editOf(kind: SourceKind, { desired, observed }: Compared) {
  const { change, keyedBy = [], fields } = fieldAt(PIPE_FIELDS, mappingsOf(kind)) ?? TEXT
  if (change !== 'tables') return { add: [], remove: [], isFollowed: false, isPossible: false }
  const want = itemsAt(desired, mappingsOf(kind))
  const have = itemsAt(observed, mappingsOf(kind))
  const idOf = (item: JsonObject) => JSON.stringify(keyedBy.map((name) => item[name]))
  const wanted = new Map(want.map((item) => [idOf(item), item]))
  const there = new Map(have.map((item) => [idOf(item), item]))
  const isBoth = (id: string, differ: (is: JsonObject, was: JsonObject) => boolean) => {
    const [was, is] = [there.get(id), wanted.get(id)]
    return was !== undefined && is !== undefined && differ(is, was)
  }
  const isOther = (id: string) => isBoth(id, (is, was) => compareBody(fields, is, was).length > 0)
  const isSame = wanted.size === there.size && [...wanted.keys()].every((id) => there.has(id) && !isOther(id))
  const isHidden = [...wanted.keys()].some((id) => isBoth(id, (is, was) => hidesOf(fields, is, was)))
  const isChanged = (id: string) =>
    isOther(id) || (isSame && !isHidden && isBoth(id, (is, was) => leavesOut(fields, is, was)))
  const remove = have.filter((item) => !wanted.has(idOf(item)) || isChanged(idOf(item)))
  const changed = want.filter((item) => isChanged(idOf(item)))
  const added = want.filter((item) => !there.has(idOf(item)))
  // A pipe must keep a table, so one request replaces the only table. The service might refuse this.
  const isOnlyOne = have.length - remove.length + added.length === 0
  return {
    add: isOnlyOne ? changed : added,
    remove: remove.map((item) => ({ ...picked(item, keyedBy), targetTable: item['targetTable'] })),
    isFollowed: !isOnlyOne && changed.length > 0,
    isPossible: remove.length + added.length > 0,
  }
}

/** Whether the observed item `was` omits a value of the wanted item `is`, so an edit of the value is not visible. */
function hidesOf(fields: Fields, is: JsonObject, was: JsonObject): boolean {
  return Object.entries(fields).some(
    ([name, { returned }]) => returned === 'at times' && !isUnset(is[name]) && isUnset(was[name]),
  )
}

/** Whether the observed item `was` has a value that the wanted item `is` lacks: a default, or one that an edit removed. */
function leavesOut(fields: Fields, is: JsonObject, was: JsonObject): boolean {
  return Object.entries(fields).some(
    ([name, { returned }]) =>
      returned !== 'at times' && isUnset(is[name]) && was[name] !== false && !isUnset(was[name]),
  )
}

function mappingsRequest(kind: SourceKind, compared: Compared): JsonObject {
  const { add, remove } = editOf(kind, compared)
  return {
    ...(add.length > 0 && { tableMappingsToAdd: [...add] }),
    ...(remove.length > 0 && { tableMappingsToRemove: [...remove] }),
  }
}

/** Keeps the observed setting of a Kafka pipe, because the service might reset an omitted setting. */
function keptSettings({ desired, observed }: Compared): JsonObject {
  const isKafka = sourceKindOf(desired) === 'kafka'
  const kept = isKafka ? setAt(observed, 'settings.kafka_read_committed') : undefined
  return typeof kept === 'boolean' ? { kafka_read_committed: kept } : {}
}

function sourceKindOf(body: JsonObject): SourceKind | undefined {
  const source = partOf(body, 'source')
  return SOURCE_KINDS.find((kind) => isObject(source[kind] ?? null))
}

function sourceIn(body: JsonObject, kind: SourceKind): JsonObject {
  return partOf(partOf(body, 'source'), kind)
}

function partOf(body: JsonObject, name: string): JsonObject {
  const part = body[name]
  return part !== undefined && isObject(part) ? part : {}
}

function isWithin(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}.`)
}

function setAt(body: JsonObject, path: string): Json | undefined {
  const value = valueAt(body, path)
  return canonicalLeaf('text', value) === undefined ? undefined : value
}

function itemsAt(body: JsonObject, path: string): readonly JsonObject[] {
  const items = setAt(body, path)
  return Array.isArray(items) ? items.filter((item: Json) => isObject(item)) : []
}

function picked(of: JsonObject, paths: readonly string[]): JsonObject {
  const parts: Record<string, Json> = {}
  for (const path of paths) {
    const value = setAt(of, path)
    const [name = '', inner] = path.split('.')
    if (value === undefined) continue
    if (inner === undefined) parts[name] = value
    else parts[name] = { ...partOf(parts, name), [inner]: value }
  }
  return parts
}
