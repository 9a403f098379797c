import { NOT_IN_SCHEMA } from './field-table.ts'
import { z } from './zod.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import { LOCK } from './lock/schema.ts'
import type { Profile } from './profile.ts'

interface Described {
  readonly name: string
  readonly description: string
  readonly schema: z.ZodType
}

function describedIn({ kinds }: Profile): readonly Described[] {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]))
  return [...byName.values(), LOCK]
}

const DRAFT = 'http://json-schema.org/draft-07/schema#'

export function manifestJsonSchema(profile: Profile): JsonObject {
  return {
    $schema: DRAFT,
    title: 'Pipewright manifest',
    description: 'A manifest of Pipewright: one YAML document.',
    type: 'object',
    required: ['apiVersion', 'kind'],
    oneOf: describedIn(profile).map(bareSchema),
  }
}

export function kindJsonSchema(profile: Profile, name: string): JsonObject | undefined {
  const kind = describedIn(profile).find((described) => described.name === name)
  return kind && { $schema: DRAFT, ...bareSchema(kind) }
}

function bareSchema({ name, schema, description }: Described): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-07',
    override({ jsonSchema: field }) {
      for (const fact of NOT_IN_SCHEMA) delete field[fact]
      if (field.default !== undefined)
        field.description += ` Default: \`${String(field.default as string | string[])}\`.`
    },
  })
  return { title: name, description, ...(rest as Readonly<Record<string, Json>>) }
}
