import type { CreateOnceKind } from '../../../definition.ts'
import { PIPE_CHANGES } from './changes.ts'
import { PIPE_IDENTITY } from './identity.ts'
import { setIn } from './returned.ts'
import { pipeRules } from './rules.ts'
import { PIPE_FIELDS, PipeManifest } from './schema.ts'
import { withoutEmpty } from './sent.ts'
import { kindsOf } from './source.ts'
import { pipeStates } from './states.ts'

const PIPES = '/v1/organizations/{organizationId}/services/{serviceId}/clickpipes'

export const PIPE: CreateOnceKind<PipeManifest> = {
  name: 'Pipe',
  noun: 'pipe',
  lifecycle: 'create-once',
  description: 'A ClickPipe: a source, a destination, and how fields become columns.',
  schema: PipeManifest,
  rules: pipeRules,
  fields: PIPE_FIELDS,
  identity: PIPE_IDENTITY,
  changes: PIPE_CHANGES,
  states: pipeStates,
  /** Any other field may be missing, null or new (facts 7). */
  reply: { id: 'id', serviceId: 'text', name: 'text', state: 'text' },
  operations: {
    create: {
      name: 'createPipe',
      does: 'create',
      method: 'POST',
      noun: 'pipe',
      api: 'services',
      path: PIPES,
    },
    read: {
      name: 'getPipe',
      does: 'read',
      method: 'GET',
      noun: 'pipe',
      api: 'services',
      path: `${PIPES}/{id}`,
    },
    list: { name: 'listPipes', does: 'read', method: 'GET', noun: 'pipes', api: 'services', path: PIPES },
    update: {
      name: 'updatePipe',
      does: 'update',
      method: 'PATCH',
      noun: 'pipe',
      api: 'services',
      path: `${PIPES}/{id}`,
    },
    scale: {
      name: 'scalePipe',
      does: 'update',
      method: 'PATCH',
      noun: 'pipe',
      api: 'services',
      path: `${PIPES}/{id}/scaling`,
    },
    configure: {
      name: 'putPipeSettings',
      does: 'update',
      method: 'PUT',
      noun: 'pipe',
      api: 'services',
      path: `${PIPES}/{id}/settings`,
    },
    state: {
      name: 'setPipeState',
      does: 'update',
      method: 'PATCH',
      noun: 'pipe',
      api: 'services',
      path: `${PIPES}/{id}/state`,
    },
    delete: {
      name: 'deletePipe',
      does: 'delete',
      method: 'DELETE',
      noun: 'pipe',
      api: 'services',
      path: `${PIPES}/{id}`,
    },
  },
  /** The body of the create (facts 3.1). */
  body(manifest) {
    const { service: _, name = manifest.metadata.name, ...rest } = manifest.spec
    return withoutEmpty({ name, ...rest })
  },
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
