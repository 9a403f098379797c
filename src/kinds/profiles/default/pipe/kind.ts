import { SOURCE_KINDS } from './source-schema.ts'
import type { CreateOnceKind } from '../../../definition.ts'
import { PIPE_FIELDS, PipeManifest, type PipeSpec } from './schema.ts'
import { UUID_FORM } from '../../../id-form.ts'
import { identityIn } from '../../../identity.ts'
import { fieldAt, isReturnedField } from '../../../field-table.ts'
import { ruleWarning, type FieldFinding } from '../../../finding.ts'
import { brokerRules, outlineOf, sourceKindRules } from '../../../pipe/source-rules.ts'
import { columnRules, mappingRules, typeRules } from '../../../pipe/columns.ts'
import { secretRefsIn } from '../../../secret-ref.ts'

const CREATE = {
  name: 'createPipe',
  does: 'create',
  method: 'POST',
  noun: 'pipe',
  api: 'services',
  path: '/v1/organizations/{organizationId}/services/{serviceId}/pipes',
} as const

export const PIPE: CreateOnceKind<PipeManifest> = {
  name: 'Pipe',
  noun: 'pipe',
  lifecycle: 'create-once',
  description: 'An ingestion pipe: a source, a destination table, and how fields become columns.',
  schema: PipeManifest,
  rules: pipeRules,
  fields: PIPE_FIELDS,
  identity: identityIn(PIPE_FIELDS),
  idForm: UUID_FORM,
  reply: {
    state: 'text',
    scaling: 'object',
    source: 'object',
    destination: 'object',
    fieldMappings: 'objects',
    settings: 'object',
    updatedAt: 'text',
  },
  operations: {
    create: CREATE,
    read: { ...CREATE, name: 'getPipe', does: 'read', method: 'GET', path: `${CREATE.path}/{id}` },
  },
  body(manifest) {
    const { service: _, name = manifest.metadata.name, ...rest } = manifest.spec
    return { name, ...rest }
  },
  outline({ spec: { source, destination } }) {
    const kind = SOURCE_KINDS.find((name) => source[name] !== undefined)
    return outlineOf(kind, source.postgres?.tableMappings ?? [], destination ?? {})
  },
}

function pipeRules({ spec }: PipeManifest): readonly FieldFinding[] {
  const named = SOURCE_KINDS.filter((kind) => spec.source[kind] !== undefined)
  return [
    ...sourceKindRules(named, SOURCE_KINDS),
    ...brokerRules(spec.source.kafka?.brokers),
    ...typeRules(spec.destination?.columns ?? []),
    ...columnRules(spec),
    ...mappingRules(spec),
    ...returnedSecretRules(spec),
  ]
}

/** Warns of secrets in fields that the platform returns to all readers. Certificates are public. */
function returnedSecretRules(spec: PipeSpec): readonly FieldFinding[] {
  return secretRefsIn({ source: spec.source })
    .filter(({ path }) => isReturnedField(PIPE_FIELDS, path) && !isCertificate(path))
    .map(({ path }) =>
      ruleWarning('secret-returned', {
        path: ['spec', ...path.split('.')],
        message: `The platform returns this value to all readers of the pipe: spec.${path} is not safe for a secret.`,
        hint: 'Use a field that the platform does not return, such as accessKey. Otherwise, use a secret with few rights and rotate it often.',
      }),
    )
}

function isCertificate(path: string): boolean {
  return fieldAt(PIPE_FIELDS, path)?.form === 'certificate'
}
