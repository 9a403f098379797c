import type { Changes, Compared } from '../../../changes.ts'
import { compareBody } from '../../../compare-body.ts'
import { isUnset, isWhenReturned, type RecordsForm } from '../../../field-table.ts'
import { canonicalLeaf } from '../../../canonical.ts'
import { isObject, valueAt, type Json, type JsonObject } from '../../../../lib/json.ts'
import { REST_STATES } from './states.ts'
import { SOURCE_FIELDS, SOURCE_KINDS, type SourceKind } from './source.ts'

/*
 * How the fields of a pipe that exists are changed (facts 3.1, 4 and 8). What is not named here was seen to be refused, or to be taken and
 * dropped, and is never sent.
 */

interface SourceChanges {
  /** Sent whenever anything of the source is: the service tests the connection anew, and takes all of it or nothing. */
  readonly together: readonly string[]
  /** Sent beside those where it was changed itself. */
  readonly alone: readonly string[]
}

const SOURCES: Readonly<Record<SourceKind, SourceChanges>> = {
  kafka: {
    together: ['authentication', 'iamRole', 'caCertificate', 'credentials'],
    alone: ['reversePrivateEndpointIds'],
  },
  objectStorage: {
    together: ['authentication', 'iamRole', 'connectionString', 'accessKey', 'serviceAccountKey'],
    alone: ['skipInitialLoad', 'startAfter', 'path', 'azureContainerName'],
  },
  kinesis: { together: ['authentication', 'iamRole', 'accessKey'], alone: [] },
  // The other fields are refused even when they are as they were.
  pubsub: { together: ['authentication', 'ackDeadline', 'serviceAccountKey'], alone: [] },
  postgres: {
    together: [
      'host',
      'port',
      'database',
      'credentials',
      'tlsHost',
      'caCertificate',
      'disableTls',
      'skipCertVerification',
    ],
    alone: ['settings.syncIntervalSeconds', 'settings.pullBatchSize'],
  },
  mysql: {
    together: [
      'host',
      'port',
      'authentication',
      'iamRole',
      'credentials',
      'tlsHost',
      'caCertificate',
      'disableTls',
      'skipCertVerification',
    ],
    alone: ['settings.syncIntervalSeconds', 'settings.pullBatchSize', 'settings.useCompression', 'serverId'],
  },
  mongodb: {
    together: [
      'credentials',
      'uri',
      'readPreference',
      'tlsHost',
      'disableTls',
      'skipCertVerification',
      'caCertificate',
    ],
    alone: ['settings.syncIntervalSeconds', 'settings.pullBatchSize'],
  },
  bigquery: { together: [], alone: [] },
}

/** Parts of a login: one goes when another comes in its place. */
const LOGIN = ['credentials', 'accessKey', 'serviceAccountKey', 'iamRole', 'connectionString']

const MAPPINGS = 'tableMappings'

export const PIPE_CHANGES: Changes = {
  wayOf(field, fields, { desired, observed }) {
    const [top = ''] = field.split('.')
    if (top === 'source') return isChangeable(field, fields, { desired, observed }) ? 'update' : undefined
    // There is no known way to take one out.
    if (setAt(desired, field) === undefined) return undefined
    if (top === 'scaling') return 'scale'
    if (top === 'settings') return 'configure'
    return ['name', 'destination.columns', 'fieldMappings'].includes(field) ? 'update' : undefined
  },
  request(way, fields, compared) {
    const { desired } = compared
    if (way === 'scale') return partOf(desired, 'scaling')
    if (way === 'configure') return { ...keptSettings(compared), ...partOf(desired, 'settings') }
    const has = (...names: readonly string[]) => names.some((name) => fields.has(name))
    return {
      ...(has('name') && { name: desired['name'] }),
      ...sourceRequest(fields, compared),
      // Each without the other is refused.
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
  needsRest: (field) => field.endsWith(`.${MAPPINGS}`),
  asksForRest: (said) => /must be paused/i.test(said),
  isSlow: (field) => field.startsWith('scaling.') || field.endsWith(`.${MAPPINGS}`),
  rest: REST_STATES,
}

function isChangeable(field: string, fields: ReadonlySet<string>, compared: Compared): boolean {
  const { desired } = compared
  const kind = sourceKindOf(desired)
  if (kind === undefined) return field === 'source.validateSamples'
  // It is taken beside something of the source only.
  if (field === 'source.validateSamples')
    return Object.keys(picked(partOf(partOf(desired, 'source'), kind), SOURCES[kind].together)).length > 0
  const own = `source.${kind}.`
  if (!field.startsWith(own)) return false
  const name = field.slice(own.length)
  if (name === MAPPINGS) return editOf(kind, compared).isPossible
  const { together, alone } = SOURCES[kind]
  if (![...together, ...alone].some((part) => name === part || name.startsWith(`${part}.`))) return false
  if (kind === 'objectStorage' && name === 'authentication' && isOtherAccount(fields, compared)) return false
  if (setAt(desired, field) !== undefined) return true
  const part = LOGIN.find((one) => name === one || name.startsWith(`${one}.`))
  return (
    part !== undefined &&
    (fields.has(`${own}authentication`) || setAt(desired, `${own}${part}`) !== undefined)
  )
}

/** A login to or from SERVICE_ACCOUNT is none that can be changed (R18). What it was may be left out of a reply. */
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
  const of = partOf(partOf(compared.desired, 'source'), kind)
  const { together, alone } = SOURCES[kind]
  const isConnection = changed.some((field) => field !== mappingsOf(kind))
  const parts = isConnection ? [...together, ...alone.filter((name) => fields.has(`${own}${name}`))] : []
  const { validateSamples } = partOf(compared.desired, 'source')
  return {
    source: {
      ...(isConnection && validateSamples !== undefined && { validateSamples }),
      [kind]: {
        ...picked(of, parts),
        ...(fields.has(mappingsOf(kind)) && mappingsRequest(kind, compared)),
      },
    },
  }
}

function mappingsOf(kind: SourceKind): string {
  return `source.${kind}.${MAPPINGS}`
}

interface MappingsEdit {
  readonly add: readonly JsonObject[]
  readonly remove: readonly JsonObject[]
  /** A table that is to be copied in another way is removed first, and added once it is gone. */
  readonly isFollowed: boolean
  /** Something differs in what is shown of them, or is shown and not asked for. */
  readonly isPossible: boolean
}

/** What a change of the table mappings comes to, against what is there. */
function editOf(kind: SourceKind, { desired, observed }: Compared): MappingsEdit {
  const form = MAPPING_FORMS[kind]
  if (form === undefined) return { add: [], remove: [], isFollowed: false, isPossible: false }
  const want = itemsAt(desired, mappingsOf(kind))
  const have = itemsAt(observed, mappingsOf(kind))
  const idOf = (item: JsonObject) => JSON.stringify(form.keyedBy.map((name) => item[name]))
  const wanted = new Map(want.map((item) => [idOf(item), item]))
  const there = new Map(have.map((item) => [idOf(item), item]))
  const isBoth = (id: string, differ: (is: JsonObject, was: JsonObject) => boolean) => {
    const [was, is] = [there.get(id), wanted.get(id)]
    return was !== undefined && is !== undefined && differ(is, was)
  }
  const isOther = (id: string) => isBoth(id, (is, was) => compareBody(form.fields, is, was).length > 0)
  const isSame = wanted.size === there.size && [...wanted.keys()].every((id) => there.has(id) && !isOther(id))
  const isHidden = [...wanted.keys()].some((id) => isBoth(id, (is, was) => hidesOf(form, is, was)))
  const isChanged = (id: string) =>
    isOther(id) || (isSame && !isHidden && isBoth(id, (is, was) => leavesOut(form, is, was)))
  const remove = have.filter((item) => !wanted.has(idOf(item)) || isChanged(idOf(item)))
  const changed = want.filter((item) => isChanged(idOf(item)))
  const added = want.filter((item) => !there.has(idOf(item)))
  // Some table has to be left: then both go in one request, of which nobody knows whether it is taken.
  const isOnlyOne = have.length - remove.length + added.length === 0
  return {
    add: isOnlyOne ? changed : added,
    remove: remove.map((item) => ({ ...picked(item, form.keyedBy), targetTable: item['targetTable'] })),
    isFollowed: !isOnlyOne && changed.length > 0,
    isPossible: remove.length + added.length > 0,
  }
}

/** Whether something that is asked for is not shown: then nobody knows whether an edit was of that. */
function hidesOf({ fields }: RecordsForm, is: JsonObject, was: JsonObject): boolean {
  return Object.entries(fields).some(
    ([name, field]) => isWhenReturned(field) && !isUnset(is[name]) && isUnset(was[name]),
  )
}

/**
 * Whether something is there that is not asked for. Where an edit shows in nothing else, it was taken out; a service may fill in what a manifest
 * does not set, so that it says nothing beside another edit.
 */
function leavesOut({ fields }: RecordsForm, is: JsonObject, was: JsonObject): boolean {
  return Object.entries(fields).some(
    ([name, field]) =>
      !isWhenReturned(field) && isUnset(is[name]) && was[name] !== false && !isUnset(was[name]),
  )
}

function mappingsRequest(kind: SourceKind, compared: Compared): JsonObject {
  const { add, remove } = editOf(kind, compared)
  return {
    ...(add.length > 0 && { tableMappingsToAdd: [...add] }),
    ...(remove.length > 0 && { tableMappingsToRemove: [...remove] }),
  }
}

/** BigQuery has none that can be changed. */
const MAPPING_FORMS: Readonly<Partial<Record<SourceKind, RecordsForm>>> = {
  postgres: SOURCE_FIELDS.postgres.fields.tableMappings,
  mysql: SOURCE_FIELDS.mysql.fields.tableMappings,
  mongodb: SOURCE_FIELDS.mongodb.fields.tableMappings,
}

/** Whether the settings of Kafka that a request leaves out stay is not known, so that this one is sent again as it is. */
function keptSettings({ observed }: Compared): JsonObject {
  const kept = setAt(observed, 'settings.kafka_read_committed')
  return typeof kept === 'boolean' ? { kafka_read_committed: kept } : {}
}

function sourceKindOf(body: JsonObject): SourceKind | undefined {
  const source = partOf(body, 'source')
  return SOURCE_KINDS.find((kind) => isObject(source[kind] ?? null))
}

function partOf(body: JsonObject, name: string): JsonObject {
  const part = body[name]
  return part !== undefined && isObject(part) ? part : {}
}

/** The value at a dotted path; undefined where it counts as not set. */
function setAt(body: JsonObject, path: string): Json | undefined {
  const value = valueAt(body, path)
  return canonicalLeaf('text', value) === undefined ? undefined : value
}

function itemsAt(body: JsonObject, path: string): readonly JsonObject[] {
  const items = setAt(body, path)
  return Array.isArray(items) ? items.filter((item: Json) => isObject(item)) : []
}

/** The parts of an object at dotted paths, where they are set. */
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
