import { isObject, type Json, type JsonObject } from '../../lib/json.ts'
import { isRecords, plainForm, type Field, type Fields, type LeafForm } from '../../kinds/field-table.ts'
import { PIPE } from '../../kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { pipeRules } from '../../kinds/profiles/clickhouse-cloud/pipe/rules.ts'
import { PipeSpec, type PipeManifest } from '../../kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { QueryEndpointManifest } from '../../kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import { z } from '../../kinds/zod.ts'
import type { Dialect } from '../dialect.ts'
import { pipeRequestShapeOf } from '../request-schema.ts'

/** The API of ClickHouse Cloud: strict in what it takes, and with a spelling of its own in what it says (facts 7). */
export const CLOUD_DIALECT: Dialect = {
  pipeShape: pipeRequestShapeOf(PipeSpec),
  endpointRequest: QueryEndpointManifest.shape.spec.omit({ service: true }),
  alert: z.looseObject({ id: z.string().regex(/^[0-9a-f]{24}$/) }),
  objectionTo(pipe) {
    const manifest = { spec: pipe } as unknown as PipeManifest // its parts were checked; secrets are texts here
    const broken = pipeRules(manifest).find(({ severity }) => severity === 'error')
    return broken && `BAD_REQUEST: ${broken.path.slice(1).join('.')}: ${broken.message}`
  },
  spelled: (pipe) => ({ ...UNSET, ...spelled(PIPE.fields, pipe) }),
  timestamp: (ms) => new Date(ms).toISOString().replace('Z', '417Z'),
}

/** What is not set, as it was seen to come. */
const UNSET: JsonObject = { scaling: null, settings: {}, fieldMappings: [], destination: null }

/** Each field as the service was seen to write it. What it may leave out, it leaves out. */
function spelled(fields: Fields, object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]) => {
      const field = fields[name]
      const shown = value === undefined || field === undefined ? value : spelledField(field, value)
      return shown === undefined ? [] : [[name, shown]]
    }),
  )
}

function spelledField(field: Field, value: Json): Json | undefined {
  if (typeof field === 'object' && 'whenReturned' in field) return undefined
  const form = plainForm(field)
  if (typeof form !== 'string') {
    if (isRecords(form))
      return Array.isArray(value)
        ? value.map((item: Json) => (isObject(item) ? spelled(form.fields, item) : item)).toReversed()
        : value
    return isObject(value) ? spelled(form.fields, value) : value
  }
  const spell = SPELLINGS[form]
  return spell === undefined ? value : spell(value)
}

/** How the service writes what it may write in several ways. */
const SPELLINGS: Partial<Readonly<Record<LeafForm, (value: Json) => Json | undefined>>> = {
  engine: (value) => (typeof value === 'string' ? `${value}()` : value),
  millicores: (value) => (typeof value === 'number' ? `${value}m` : value),
  gibibytes: (value) => (typeof value === 'number' ? `${value}Gi` : value),
  set: (value) => (Array.isArray(value) ? value.toReversed() : value),
  flag: (value) => (value === false ? undefined : value),
}
