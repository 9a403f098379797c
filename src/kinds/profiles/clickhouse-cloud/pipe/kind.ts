import type { CreateOnceKind, Operation } from '../../../definition.ts'
import { PIPE_CHANGES } from './changes.ts'
import { pickFields } from '../../../identity.ts'
import { setIn } from './returned.ts'
import { pipeRules } from './rules.ts'
import { PIPE_FIELDS, PipeManifest } from './schema.ts'
import { withoutEmpty } from './sent.ts'
import { kindsOf, SOURCE_IDENTITY } from './source.ts'
import { pipeStates } from './states.ts'

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
  identity: {
    source: { fields: SOURCE_IDENTITY },
    destination: { fields: pickFields(PIPE_FIELDS.destination.fields, 'database', 'table') },
  },
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
