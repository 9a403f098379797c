import type { CreateOnceKind, Operation } from '../../../definition.ts'
import { PIPE_CHANGES } from './changes.ts'
import { identityIn } from '../../../identity.ts'
import { pipeRules } from './rules.ts'
import { PIPE_FIELDS, PipeManifest } from './schema.ts'
import { withoutEmpty } from './sent.ts'
import { kindsOf } from './source.ts'
import { pipeStates } from './states.ts'
import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { TO_WRITE } from '../../../imported.ts'

const PIPES = '/v1/organizations/{organizationId}/services/{serviceId}/clickpipes'

function operation(
  name: string,
  does: Operation['does'],
  method: Operation['method'],
  below = '',
): Operation {
  const permission = 'control-plane:service:manage-clickpipes' // N18
  return { name, does, method, noun: 'pipe', api: 'services', permission, path: `${PIPES}${below}` }
}

export const PIPE: CreateOnceKind<PipeManifest> = {
  name: 'Pipe',
  noun: 'pipe',
  lifecycle: 'create-once',
  description: 'A ClickPipe: a source, a destination, and how fields become columns.',
  schema: PipeManifest,
  rules: pipeRules,
  fields: PIPE_FIELDS,
  identity: identityIn(PIPE_FIELDS),
  changes: PIPE_CHANGES,
  states: pipeStates,
  /** Other fields can be missing, null or new (facts 7). */
  reply: { id: 'id', serviceId: 'text', name: 'text', state: 'text' },
  operations: {
    create: operation('createPipe', 'create', 'POST'),
    read: operation('getPipe', 'read', 'GET', '/{id}'),
    list: { ...operation('listPipes', 'read', 'GET'), noun: 'pipes', lists: true },
    update: operation('updatePipe', 'update', 'PATCH', '/{id}'),
    scale: operation('scalePipe', 'update', 'PATCH', '/{id}/scaling'),
    configure: operation('putPipeSettings', 'update', 'PUT', '/{id}/settings'),
    state: operation('setPipeState', 'update', 'PATCH', '/{id}/state'),
    delete: operation('deletePipe', 'delete', 'DELETE', '/{id}'),
  },
  /** Facts 3.1. The database is required (N2). */
  body(manifest) {
    const { service: _, name = manifest.metadata.name, destination, ...rest } = manifest.spec
    return withoutEmpty({ name, ...rest, destination: { database: 'default', ...destination } })
  },
  unsupported: ['kafka', 'postgres', 'mysql', 'mongodb'].map((kind) => `source.${kind}.sshKeyResourceId`), // N15
  staysBehind: 'Its destination tables and their data stay.',
  credentialRules: true,
  setIn,
  outline({ spec: { source, destination } }) {
    const [kind] = kindsOf(source)
    const { database, table } = destination
    const of = kind && source[kind]
    const targets =
      of !== undefined && 'tableMappings' in of ? of.tableMappings.map(({ targetTable }) => targetTable) : []
    const [first, ...more] = table === undefined ? targets : [table]
    const tables = [database, first].filter((name) => name !== undefined).join('.')
    return {
      ...(kind !== undefined && { source: kind }),
      ...(first !== undefined && { table: more.length === 0 ? tables : `${tables} and ${more.length} more` }),
    }
  },
}

/**
 * A reply's set values (facts 7). Unset values are null, empty, false, 0 (sizes) or absent. Adds set values
 * that replies omit but that follow from others.
 */
function setIn(reply: JsonObject): JsonObject {
  const { scaling, destination, source, ...rest } = setFields(reply)
  return {
    ...rest,
    ...(isObject(source) && { source: withUnshown(source) }),
    ...(isObject(destination) && { destination: withManagedTable(destination) }),
    ...(isObject(scaling) && { scaling: withoutZeros(scaling) }),
  }
}

function setFields(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const kept = value === undefined ? undefined : setValue(value)
      return kept === undefined ? [] : [[name, kept]]
    }),
  )
}

function setValue(value: Json): Json | undefined {
  if (value === null || value === '' || value === false) return undefined
  if (Array.isArray(value))
    return value.length === 0
      ? undefined
      : value.map((item: Json) => (isObject(item) ? setFields(item) : item))
  if (!isObject(value)) return value
  const rest = setFields(value)
  return Object.keys(rest).length === 0 ? undefined : rest
}

/** With a table, replies omit false. */
function withManagedTable(destination: JsonObject): JsonObject {
  return 'table' in destination ? { managedTable: false, ...destination } : destination
}

function withoutZeros(scaling: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(scaling).filter(([, value]) => value !== 0))
}

function withUnshown({ objectStorage, kafka, kinesis, ...others }: JsonObject): JsonObject {
  return {
    ...others,
    ...(isObject(objectStorage) && { objectStorage: withSignIn(objectStorage) }),
    ...(isObject(kafka) && { kafka: withSchema(kafka) }),
    ...(isObject(kinesis) && { kinesis: withSchema(kinesis) }),
  }
}

/** Without a registry, Protobuf needs a schema, which is never returned (N12). */
function withSchema(source: JsonObject): JsonObject {
  const hasOwn = source['format'] === 'Protobuf' && source['schemaRegistry'] === undefined
  return hasOwn ? { ...source, protobufSchema: TO_WRITE } : source
}

/** Replies can omit the authentication and Azure's path. */
function withSignIn(storage: JsonObject): JsonObject {
  if (storage['type'] === 'azureblobstorage')
    return {
      authentication: 'CONNECTION_STRING',
      azureContainerName: TO_WRITE,
      path: TO_WRITE,
      ...storage,
    }
  if ('iamRole' in storage) return { authentication: 'IAM_ROLE', ...storage }
  // A queue needs keys or a role, and only a role is returned (R16).
  const isKeyed = storage['type'] === 's3' && 'queueUrl' in storage
  return isKeyed ? { authentication: 'IAM_USER', ...storage } : storage
}
