import { isObject, type Json, type JsonObject } from '../lib/json.ts'
import type { CreateOnceKind } from '../kinds/definition.ts'
import { fieldAt, type Field, type Fields } from '../kinds/field-table.ts'
import type { LeafForm } from '../kinds/leaf-forms.ts'
import type { Profile } from '../kinds/profile.ts'
import { PIPE as CLOUD_PIPE } from '../kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { ALERT } from '../kinds/profiles/default/alert/kind.ts'
import { z } from '../kinds/zod.ts'
import { bodyShape, mapped, required, type Shape, shapeIn } from './wire-schema.ts'

export interface Dialect {
  readonly pipe: CreateOnceKind
  readonly pipeShape: Shape
  readonly endpointShape: Shape
  readonly alert: CreateOnceKind | undefined
  readonly fixtureAlert: z.ZodType<{ readonly id: string } & Readonly<Record<string, unknown>>>
  readonly codes: Readonly<Record<number, string>>
  /** Empty if the profile ignores the service's state. */
  readonly serviceStates: readonly string[]
  spelled(pipe: JsonObject): JsonObject
  timestamp(ms: number): string
}

export function dialectOf({ name, kinds }: Profile): Dialect {
  const facts = FACTS[name]
  const [pipe, alert] = kinds.filter((kind) => kind.lifecycle === 'create-once')
  const endpoint = kinds.find((kind) => kind.lifecycle === 'upsert')
  if (facts === undefined || pipe === undefined || endpoint === undefined)
    throw new Error(`the sandbox does not speak ${name}`)
  const shape = bodyShape(pipe)
  return {
    ...facts,
    pipe,
    pipeShape: {
      ...shape,
      name: required(shape['name']),
      ...(pipe.changes && { startPaused: z.boolean().optional() }),
    },
    endpointShape: bodyShape(endpoint),
    alert,
  }
}

const FACTS: Readonly<Record<string, Omit<Dialect, 'pipe' | 'pipeShape' | 'endpointShape' | 'alert'>>> = {
  default: {
    fixtureAlert: z.strictObject({
      ...mapped(shapeIn(bodyShape(ALERT)['expect']), required),
      id: z.string().min(1),
    }),
    codes: {},
    serviceStates: [],
    spelled: (pipe) => ({ scaling: {}, destination: {}, fieldMappings: [], settings: {}, ...pipe }),
    timestamp: (ms) => new Date(ms).toISOString(),
  },
  'clickhouse-cloud': {
    fixtureAlert: z.looseObject({ id: z.string().regex(/^[0-9a-f]{24}$/) }),
    codes: { 400: 'BAD_REQUEST', 404: 'NOT_FOUND', 409: 'CONFLICT', 424: 'FAILED_DEPENDENCY' },
    serviceStates: ['running', 'idle', 'starting', 'awaking', 'stopping', 'stopped', 'degraded', 'failed'],
    spelled: ({ scaling, settings, destination, ...parts }) => ({
      scaling: null,
      settings: {},
      fieldMappings: [],
      ...spelled(CLOUD_PIPE.fields, {
        ...parts,
        destination: { database: 'default', ...(isObject(destination) && destination) },
      }),
      // not through `spelled`, because that would omit `false`
      ...(settings !== undefined && { settings }),
      ...(isObject(scaling) && { scaling: spelled(SIZE, scaling, 'never') }),
    }),
    timestamp: (ms) => new Date(ms).toISOString().replace('Z', '417Z'),
  },
}

const SIZE = fieldAt(CLOUD_PIPE.fields, 'scaling')?.fields ?? {}

/** Leaves out each field whose `returned` is `omitted`. */
function spelled(fields: Fields, object: JsonObject, omitted: Field['returned'] = 'at times'): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const field = fields[name]
      if (field?.returned === omitted) return []
      const shown = value === undefined || field === undefined ? value : spelledField(field, value)
      return shown === undefined ? [] : [[name, shown]]
    }),
  )
}

function spelledField({ form, fields, keyedBy }: Field, value: Json): Json | undefined {
  if (form !== undefined) {
    const spell = SPELLINGS[form]
    return spell === undefined ? value : spell(value)
  }
  if (isObject(value)) return spelled(fields, value)
  if (keyedBy === undefined || !Array.isArray(value)) return value
  return value.map((item: Json) => (isObject(item) ? spelled(fields, item) : item)).toReversed()
}

const SPELLINGS: Partial<Readonly<Record<LeafForm, (value: Json) => Json | undefined>>> = {
  address: (value) => (typeof value === 'string' ? value.replace(/\/\/[^/]*@/, '//[REDACTED]@') : value),
  engine: (value) => (typeof value === 'string' ? `${value}()` : value),
  millicores: (value) => (typeof value === 'number' ? `${value}m` : value),
  gibibytes: (value) => (typeof value === 'number' ? `${value}Gi` : value),
  set: (value) => (Array.isArray(value) ? value.toReversed() : value),
  flag: (value) => (value === false ? undefined : value),
}
