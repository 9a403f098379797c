import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { cell, code } from './table.ts'

const HELM = join(import.meta.dirname, '../helm')

/** The part of JSON Schema that values.schema.json uses and the page shows. */
interface ValueSchema {
  readonly type?: string | readonly string[] | undefined
  readonly description?: string | undefined
  readonly enum?: readonly string[] | undefined
  /** A text no value is meant to be: Helm prints it where the value is set. */
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, ValueSchema>> | undefined
  readonly items?: ValueSchema | undefined
  readonly required?: readonly string[] | undefined
  readonly additionalProperties?: unknown
}

const ValueSchema: z.ZodType<ValueSchema> = z.lazy(() =>
  z.looseObject({
    type: z.union([z.string(), z.array(z.string())]).optional(),
    description: z.string().optional(),
    enum: z.array(z.string()).optional(),
    const: z.unknown().optional(),
    properties: z.record(z.string(), ValueSchema).optional(),
    items: ValueSchema.optional(),
    required: z.array(z.string()).optional(),
    additionalProperties: z.unknown().optional(),
  }),
)

/**
 * helm/README.md: the text by hand, and after the note every value of values.schema.json with its default from values.yaml,
 * and the moved values.
 * @throws when a value has no description, or a default has no place in the schema
 */
export function chartPage(note: string, schemaText: string): string {
  const [written = ''] = readFileSync(join(HELM, 'README.md'), 'utf8').split(note)
  const schema = ValueSchema.parse(JSON.parse(schemaText))
  const defaults: unknown = parse(readFileSync(join(HELM, 'values.yaml'), 'utf8'))
  const rows = rowsOf(schema, defaults, '')
  return `${written}${note}

| value | type | default | meaning |
|---|---|---|---|
${rows.join('\n')}

## Moved values

Helm refuses each of these, and names its new place.

| value of an earlier chart | now |
|---|---|
${movesOf(schema, '').join('\n')}
`
}

function movesOf(schema: ValueSchema, path: string): readonly string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const message = messageOf(inner)
    const isMove = message !== undefined && /^(?:moved to|gone) /.test(message)
    return isMove
      ? [`| ${code(path + name)} | ${cell(message.replace(/^moved to /, ''))} |`]
      : movesOf(inner, `${path}${name}.`)
  })
}

function messageOf(schema: ValueSchema): string | undefined {
  return typeof schema.const === 'string' ? schema.const : undefined
}

function rowsOf(schema: ValueSchema, value: unknown, path: string): readonly string[] {
  const { properties } = schema
  if (properties === undefined) return []
  for (const name of Object.keys(asObject(value))) {
    if (properties[name] === undefined) throw new Error(`values.yaml: ${path}${name} is not in the schema`)
  }
  return Object.entries(properties).flatMap(([name, inner]) => {
    if (messageOf(inner) !== undefined) return []
    const { description, items } = inner
    if (description === undefined) throw new Error(`values.schema.json: ${path}${name} has no description`)
    const given = asObject(value)[name]
    const below = [
      ...rowsOf(inner, given, `${path}${name}.`),
      // An object of Kubernetes may have more, and is described there.
      ...(items?.additionalProperties === false ? rowsOf(items, undefined, `${path}${name}[].`) : []),
    ]
    const shown = inner.properties === undefined && given !== undefined ? code(JSON.stringify(given)) : ''
    return [`| ${code(path + name)} | ${typeOf(inner)} | ${shown} | ${cell(description)} |`, ...below]
  })
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>) // the line above
    : {}
}

function typeOf(schema: ValueSchema): string {
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ')
  return [schema.type ?? []].flat().join(' or ')
}
