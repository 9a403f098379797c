import { PipeSpec } from '../kinds/profiles/default/pipe/schema.ts'
import { SOURCE_KINDS } from '../kinds/profiles/default/pipe/source-schema.ts'
import { QueryEndpointSpec } from '../kinds/profiles/default/query-endpoint/schema.ts'
import { SecretRef, SensitiveText } from '../kinds/secret-ref.ts'
import { Text, z } from '../kinds/zod.ts'

/** The four operations of the interface (`spec/api.md` 4). */
export const OPERATIONS = ['createPipe', 'getPipe', 'upsertQueryEndpoint', 'getAlert'] as const

export type Operation = (typeof OPERATIONS)[number]

const SERVICE = '/v1/organizations/:organizationId/services/:serviceId'

/** Method and path of each, as fastify writes them. */
export const ROUTES: Readonly<Record<Operation, { readonly method: 'GET' | 'POST'; readonly url: string }>> =
  {
    createPipe: { method: 'POST', url: `${SERVICE}/pipes` },
    getPipe: { method: 'GET', url: `${SERVICE}/pipes/:pipeId` },
    upsertQueryEndpoint: { method: 'POST', url: `${SERVICE}/serviceQueryEndpoint` },
    getAlert: { method: 'GET', url: '/api/v2/alerts/:id' },
  }

/** `T` as it goes onto the wire: a plain text where a manifest has a reference to a secret. */
export type OnTheWire<T> = T extends SecretRef
  ? string
  : T extends readonly (infer Item)[]
    ? OnTheWire<Item>[]
    : T extends object
      ? { [Name in keyof T]: OnTheWire<T[Name]> }
      : T

/**
 * The schema of a manifest's part with plain texts where it takes references to secrets.
 * Parts without such a leaf are handed on as they are, with all their checks.
 */
function onTheWire(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema === SensitiveText || schema === SecretRef) return Text
  if (schema instanceof z.ZodOptional) {
    const inner = onTheWire(schema.unwrap())
    return inner === schema.unwrap() ? schema : z.optional(inner)
  }
  if (schema instanceof z.ZodArray) {
    const element = onTheWire(schema.element)
    return element === schema.element ? schema : z.array(element)
  }
  if (!(schema instanceof z.ZodObject)) return schema
  const shape = Object.entries<z.core.$ZodType>(schema.shape)
  const changed = shape.map(([name, part]) => [name, onTheWire(part)] as const)
  const same = changed.every(([name, part]) => part === schema.shape[name])
  return same ? schema : z.strictObject(Object.fromEntries(changed))
}

const { service: _ofManifests, ...pipeParts } = PipeSpec.shape

/** The parts of a pipe's body, each with its schema. `name` and `source` are mandatory here. */
export const pipeRequestShape: Readonly<Record<string, z.core.$ZodType>> = {
  ...Object.fromEntries(Object.entries(pipeParts).map(([name, part]) => [name, onTheWire(part)])),
  name: Text.max(255),
}

/** The body of `POST …/pipes` (`spec/api.md` 4.1). */
export type PipeRequest = OnTheWire<Omit<PipeSpec, 'service' | 'name'>> & { readonly name: string }
export const PipeRequest: z.ZodType<PipeRequest> = z.strictObject(
  pipeRequestShape,
) as unknown as z.ZodType<PipeRequest> // the shape is computed at run time, and so is the type, by the same steps

/** The body of the upsert (4.3). */
export const QueryEndpointRequest = QueryEndpointSpec.omit({ service: true })
export type QueryEndpointRequest = z.infer<typeof QueryEndpointRequest>

/** What is wrong with a body of the right shape, or `undefined`. The rules of `spec/api.md` 2.3 and 2.5. */
export function objectionTo(pipe: PipeRequest): string | undefined {
  const kinds = SOURCE_KINDS.filter((kind) => pipe.source[kind] !== undefined)
  if (kinds.length !== 1) {
    const found = kinds.length === 0 ? 'none is set' : `${kinds.join(' and ')} are set`
    return `source: a pipe uses one source kind, but ${found}`
  }
  const mapped = new Set(pipe.fieldMappings?.map((mapping) => mapping.destinationField))
  const uncovered = (pipe.destination?.columns ?? []).filter((column) => !mapped.has(column.name))
  return uncovered.length === 0
    ? undefined
    : `fieldMappings: must include all destination columns; missing: ${uncovered.map(({ name }) => name).join(', ')}`
}

/** The issues of a shape as one text. */
export function wordIssues(error: z.core.$ZodError): string {
  return error.issues.map(wordIssue).join('; ')
}

/** It names fields and types and never a value: values may be secrets. */
export function wordIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.length === 0 ? 'body' : issue.path.join('.')
  if (issue.code === 'unrecognized_keys') return `${at}: unknown field ${issue.keys.join(', ')}`
  return `${at}: ${issue.message}`
}
