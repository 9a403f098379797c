import { z } from './zod.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import { KINDS } from './key.ts'
import type { Kind } from './key.ts'
import { REGISTRY } from './registry.ts'

const DRAFT = 'http://json-schema.org/draft-07/schema#'

/** JSON Schema (draft-07) for a manifest of any kind, for editors. Rules beyond shape are not in it. */
export function manifestJsonSchema(): JsonObject {
  return {
    $schema: DRAFT,
    title: 'Pipewright manifest',
    description: 'One document of a Pipewright catalog.',
    type: 'object',
    required: ['apiVersion', 'kind'],
    oneOf: KINDS.map((kind) => bareSchema(kind)),
  }
}

/** JSON Schema (draft-07) for a manifest of one kind. */
export function kindJsonSchema(kind: Kind): JsonObject {
  return { $schema: DRAFT, ...bareSchema(kind) }
}

function bareSchema(kind: Kind): JsonObject {
  const { schema, description } = REGISTRY[kind]
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-07' })
  // zod types a JSON Schema by its own interface; what it makes is plain JSON
  return { title: kind, description, ...(rest as Readonly<Record<string, Json>>) }
}
