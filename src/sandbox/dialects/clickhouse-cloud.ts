import { isObject, type Json, type JsonObject } from '../../lib/json.ts'
import { isRecords, plainForm, type Field, type Fields, type LeafForm } from '../../kinds/field-table.ts'
import { writtenRules } from '../../kinds/profiles/clickhouse-cloud/alert/rules.ts'
import { AlertManifest } from '../../kinds/profiles/clickhouse-cloud/alert/schema.ts'
import { API_VERSION } from '../../kinds/manifest.ts'
import { PIPE } from '../../kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { PipeSpec } from '../../kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { QueryEndpointManifest } from '../../kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import { z } from '../../kinds/zod.ts'
import { brokenBy, isOfDatabase, settledState, worded } from '../changes/cloud-pipe.ts'
import { command } from '../changes/command.ts'
import { internalsOf } from '../changes/credentials.ts'
import { configure, scale } from '../changes/size.ts'
import { update } from '../changes/update.ts'
import type { Dialect } from '../dialect.ts'
import { pipeRequestShapeOf } from '../request-schema.ts'

/** The API of ClickHouse Cloud: strict in what it takes, and with a spelling of its own in what it says (facts 7). */
export const CLOUD_DIALECT: Dialect = {
  pipeShape: pipeRequestShapeOf(PipeSpec.extend({ startPaused: z.boolean().optional() })),
  endpointRequest: QueryEndpointManifest.shape.spec.omit({ service: true }),
  alert: z.looseObject({ id: z.string().regex(/^[0-9a-f]{24}$/) }),
  alerts: {
    request: AlertManifest.shape.spec.omit({ service: true, id: true, expect: true }).extend({
      scheduleStartAt: AlertManifest.shape.spec.shape.scheduleStartAt.nullable(),
      channels: z.array(z.looseObject({})).min(1).max(10).optional(),
    }),
    objectionTo(body) {
      const { scheduleStartAt, channels: _, ...alert } = body
      const start = scheduleStartAt === null ? {} : { scheduleStartAt }
      const spec = AlertManifest.shape.spec.parse({ service: 'here', ...alert, ...start })
      const [first] = writtenRules({ ...ANY_ALERT, spec })
      return first && `${first.path.slice(1).join('.')}: ${first.message}`
    },
  },
  objectionTo(pipe) {
    if (pipe['startPaused'] !== undefined && isOfDatabase(pipe))
      return 'startPaused: a pipe of a database cannot be created paused'
    const [broken] = brokenBy(pipe)
    return broken && worded(broken)
  },
  refusal: (status, error) => {
    const code = CODES[status]
    return code === undefined ? error : `${code}: ${error}`
  },
  changes: { internals: internalsOf, update, scale, configure, command },
  serviceStates: [
    'running',
    'idle',
    'partially_running',
    'degraded',
    'starting',
    'awaking',
    'provisioning',
    'stopping',
    'terminating',
    'softdeleting',
    'stopped',
    'terminated',
    'softdeleted',
    'failed',
  ],
  settledState,
  spelled: ({ scaling, settings, ...parts }) => ({
    ...UNSET,
    ...spelled(PIPE.fields, parts),
    // 0 and false are kept (facts 3.1)
    ...(settings !== undefined && { settings }),
    ...(isObject(scaling) && { scaling: spelled(SIZE, scaling) }),
  }),
  timestamp: (ms) => new Date(ms).toISOString().replace('Z', '417Z'),
}

/** What of a manifest the rules for its spec do not look at. */
const ANY_ALERT = { apiVersion: API_VERSION, kind: 'Alert', metadata: { name: 'any' } } as const

/** What the text of a refusal begins with (facts 7). */
const CODES: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  424: 'FAILED_DEPENDENCY',
}

/** A size comes back, but for a while after it was set. */
const SIZE: Fields = { replicaCpuMillicores: 'millicores', replicaMemoryGb: 'gibibytes' }

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
