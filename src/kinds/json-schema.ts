import { z } from './zod.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import { LOCK } from './lock/schema.ts'
import { LOCK_SCHEMA, type Profile } from './profile.ts'

/** A kind of manifest, as far as its schema goes. */
interface Described {
  readonly name: string
  readonly description: string
  readonly schema: z.ZodType
}

function describedIn({ kinds }: Profile): readonly Described[] {
  return [...kinds, { ...LOCK, schema: LOCK_SCHEMA }]
}

const DRAFT = 'http://json-schema.org/draft-07/schema#'

/** JSON Schema (draft-07) for a manifest of any kind, for editors. Rules beyond shape are not in it. */
export function manifestJsonSchema(profile: Profile): JsonObject {
  return {
    $schema: DRAFT,
    title: 'Pipewright manifest',
    description: 'One document of a Pipewright catalog.',
    type: 'object',
    required: ['apiVersion', 'kind'],
    oneOf: describedIn(profile).map(bareSchema),
  }
}

/** JSON Schema (draft-07) for a manifest of the kind with that name; `undefined`: there is none. */
export function kindJsonSchema(profile: Profile, name: string): JsonObject | undefined {
  const kind = describedIn(profile).find((described) => described.name === name)
  return kind && { $schema: DRAFT, ...bareSchema(kind) }
}

function bareSchema({ name, schema, description }: Described): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-07' })
  // zod types a JSON Schema by its own interface; what it makes is plain JSON
  return { title: name, description, ...(rest as Readonly<Record<string, Json>>) }
}
