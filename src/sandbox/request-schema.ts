import { z } from '../kinds/zod.ts'
import { PipeSpec } from '../kinds/pipe/schema.ts'
import { QueryEndpointSpec } from '../kinds/query-endpoint/schema.ts'
import type { SecretRef } from '../kinds/secret-ref.ts'
import { SecretText, SensitiveText, Text } from '../kinds/wire-types.ts'

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
  if (schema === SensitiveText || schema === SecretText) return Text
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
