import { PipeSpec } from '../kinds/profiles/default/pipe/schema.ts'
import { SOURCE_KINDS } from '../kinds/profiles/default/pipe/source-schema.ts'
import { QueryEndpointSpec } from '../kinds/profiles/default/query-endpoint/schema.ts'
import type { SecretRef } from '../kinds/secret-ref.ts'
import { Text, z } from '../kinds/zod.ts'

/** `spec/api.md` 4, and single profiles. */
export const OPERATIONS = [
  'createPipe',
  'getPipe',
  'upsertQueryEndpoint',
  'getAlert',
  'getServiceAlert',
  'listPipes',
  'updatePipe',
  'scalePipe',
  'putPipeSettings',
  'setPipeState',
  'deletePipe',
  'getQueryEndpoint',
  'deleteQueryEndpoint',
  'listServiceAlerts',
  'createAlert',
  'updateAlert',
  'deleteAlert',
] as const

export type Operation = (typeof OPERATIONS)[number]

/** `T` in a request, with texts instead of references to secrets. */
export type OnTheWire<T> = T extends SecretRef
  ? string
  : T extends readonly (infer Item)[]
    ? OnTheWire<Item>[]
    : T extends object
      ? { [Name in keyof T]: OnTheWire<T[Name]> }
      : T

/** Other schemas stay the same object. */
export function onTheWire(schema: z.core.$ZodType): z.core.$ZodType {
  if (isReference(schema) || (schema instanceof z.ZodUnion && schema.options.some(isReference))) return Text
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

/** Compares fields, since each use has its own description. */
function isReference(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodObject && Object.keys(schema.shape).join() === 'secretRef'
}

type RequestShape = Readonly<Record<string, z.core.$ZodType>>

/** `name` is required. */
export function pipeRequestShapeOf(spec: z.ZodObject): RequestShape {
  const { service: _ofManifests, ...parts } = spec.shape
  return {
    ...Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, onTheWire(part)])),
    name: Text.max(255),
  }
}

export const pipeRequestShape = pipeRequestShapeOf(PipeSpec)

/** Body of `POST …/pipes` (`spec/api.md` 4.1). */
export type PipeRequest = OnTheWire<Omit<PipeSpec, 'service' | 'name'>> & { readonly name: string }
export const PipeRequest: z.ZodType<PipeRequest> = z.strictObject(
  pipeRequestShape,
) as unknown as z.ZodType<PipeRequest> // type and shape are computed by the same steps

/** Body of the upsert (4.3). */
export const QueryEndpointRequest = QueryEndpointSpec.omit({ service: true })
export type QueryEndpointRequest = z.infer<typeof QueryEndpointRequest>

/** For a body of the right shape (`spec/api.md` 2.3, 2.5). Undefined: valid. */
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

export function wordIssues(error: z.core.$ZodError): string {
  return error.issues.map(wordIssue).join('; ')
}

/** Contains no value: it might be secret. */
export function wordIssue(issue: z.core.$ZodIssue): string {
  const at = issue.path.length === 0 ? 'body' : issue.path.join('.')
  if (issue.code === 'unrecognized_keys') return `${at}: unknown field ${issue.keys.join(', ')}`
  return `${at}: ${issue.message}`
}
