import type { CreateOnceKind, Operation } from '../../../definition.ts'
import { PIPE_CHANGES } from './changes.ts'
import { UUID_FORM } from '../../../id-form.ts'
import { identityIn } from '../../../identity.ts'
import { pipeRules } from './rules.ts'
import { PIPE_FIELDS, PipeManifest } from './schema.ts'
import { withoutEmpty } from './sent.ts'
import { kindsOf } from './source.ts'
import { pipeStates } from './states.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { outlineOf } from '../../../pipe/source-rules.ts'
import { TO_WRITE } from '../../../imported.ts'

const PIPES = '/v1/organizations/{organizationId}/services/{serviceId}/clickpipes'

function operation(
  name: string,
  does: Operation['does'],
  method: Operation['method'],
  below = '',
): Operation {
  const permission = 'control-plane:service:manage-clickpipes'
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
  idForm: UUID_FORM,
  changes: PIPE_CHANGES,
  states: pipeStates,
  reply: { state: 'text' },
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
  /** The body of a create. The API requires a database, so the default is sent, too. */
  body(manifest) {
    const { service: _, name = manifest.metadata.name, destination, ...rest } = manifest.spec
    return withoutEmpty({ name, ...rest, destination: { database: 'default', ...destination } })
  },
  unsupported: ['kafka', 'postgres', 'mysql', 'mongodb'].map((kind) => `source.${kind}.sshKeyResourceId`),
  staysBehind: 'Its destination tables and their data stay.',
  // The service can take five minutes for a request.
  createLastsMs: 5 * 60_000,
  credentialRules: true,
  setIn,
  outline({ spec: { source, destination } }) {
    const [kind] = kindsOf(source)
    const of = kind && source[kind]
    return outlineOf(kind, of !== undefined && 'tableMappings' in of ? of.tableMappings : [], destination)
  },
}

/**
 * The set values of a reply. Null, empty values, `false`, and sizes of 0 count as unset. Adds implied values that
 * replies omit.
 */
function setIn(reply: JsonObject): JsonObject {
  const { scaling, destination, source, ...rest } = withoutEmpty(reply, false)
  return {
    ...rest,
    ...(isObject(source) && { source: withUnshown(source) }),
    ...(isObject(destination) && { destination: withManagedTable(destination) }),
    ...(isObject(scaling) && { scaling: withoutEmpty(scaling, 0) }),
  }
}

/** Adds `managedTable: false`, which replies with a table omit. */
function withManagedTable(destination: JsonObject): JsonObject {
  return 'table' in destination ? { managedTable: false, ...destination } : destination
}

function withUnshown({ objectStorage, kafka, kinesis, ...others }: JsonObject): JsonObject {
  return {
    ...others,
    ...(isObject(objectStorage) && { objectStorage: withSignIn(objectStorage) }),
    ...(isObject(kafka) && { kafka: withSchema(kafka) }),
    ...(isObject(kinesis) && { kinesis: withSchema(kinesis) }),
  }
}

/** Adds a placeholder for the Protobuf schema of a source without a registry, because replies omit this schema. */
function withSchema(source: JsonObject): JsonObject {
  const hasOwn = source['format'] === 'Protobuf' && source['schemaRegistry'] === undefined
  return hasOwn ? { ...source, protobufSchema: TO_WRITE } : source
}

/** Adds the authentication, and for Azure the container and path, which replies can omit. */
function withSignIn(storage: JsonObject): JsonObject {
  if (storage['type'] === 'azureblobstorage')
    return { authentication: 'CONNECTION_STRING', azureContainerName: TO_WRITE, path: TO_WRITE, ...storage }
  if ('iamRole' in storage) return { authentication: 'IAM_ROLE', ...storage }
  // A queue needs keys or a role. Replies omit keys, so a queue without a role has keys.
  const isKeyed = storage['type'] === 's3' && 'queueUrl' in storage
  return isKeyed ? { authentication: 'IAM_USER', ...storage } : storage
}
