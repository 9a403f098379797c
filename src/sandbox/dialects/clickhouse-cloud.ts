import { isObject, type Json, type JsonObject, stableJson } from '../../lib/json.ts'
import { isRecords, plainForm, type Field, type Fields, type LeafForm } from '../../kinds/field-table.ts'
import { writtenRules } from '../../kinds/profiles/clickhouse-cloud/alert/rules.ts'
import { AlertManifest } from '../../kinds/profiles/clickhouse-cloud/alert/schema.ts'
import { API_VERSION } from '../../kinds/manifest.ts'
import { PIPE } from '../../kinds/profiles/clickhouse-cloud/pipe/kind.ts'
import { PipeSpec } from '../../kinds/profiles/clickhouse-cloud/pipe/schema.ts'
import { QueryEndpointManifest } from '../../kinds/profiles/clickhouse-cloud/query-endpoint/kind.ts'
import { z } from '../../kinds/zod.ts'
import { brokenBy, isOfDatabase, settledState, worded } from '../changes/cloud-pipe.ts'
import { command, configure, scale } from '../changes/command.ts'
import { internalsOf } from '../changes/credentials.ts'
import { update } from '../changes/update.ts'
import type { Dialect } from '../dialect.ts'
import { pipeRequestShapeOf } from '../request-schema.ts'

/** Strict requests, and replies in another spelling (facts 7). */
export const CLOUD_DIALECT: Dialect = {
  pipeShape: pipeRequestShapeOf(PipeSpec.extend({ startPaused: z.boolean().optional() })),
  endpointRequest: QueryEndpointManifest.shape.spec.omit({ service: true }),
  alert: z.looseObject({ id: z.string().regex(/^[0-9a-f]{24}$/) }),
  alerts: {
    request: AlertManifest.shape.spec.omit({ service: true, id: true, expect: true }).extend({
      scheduleStartAt: AlertManifest.shape.spec.shape.scheduleStartAt.nullable(),
    }),
    objectionTo(body) {
      const { scheduleStartAt, channel, channels, ...alert } = body
      const all: readonly Json[] = Array.isArray(channels) ? channels : []
      if (channel !== undefined && all.length > 0 && stableJson(channel) !== stableJson(all[0]))
        return 'channel: must be the first of channels'
      const start = scheduleStartAt === null ? {} : { scheduleStartAt }
      const to = all.length > 0 ? { channels } : { channel }
      const spec = AlertManifest.shape.spec.parse({ service: 'here', ...alert, ...start, ...to })
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
  spelled: ({ scaling, settings, destination, ...parts }) => ({
    ...UNSET,
    ...spelled(PIPE.fields, { ...parts, destination: inDatabase(destination) }),
    // keeps 0 and false (facts 3.1)
    ...(settings !== undefined && { settings }),
    ...(isObject(scaling) && { scaling: spelled(SIZE, scaling) }),
  }),
  timestamp: (ms) => new Date(ms).toISOString().replace('Z', '417Z'),
}

const ANY_ALERT = { apiVersion: API_VERSION, kind: 'Alert', metadata: { name: 'any' } } as const

function inDatabase(destination: Json | undefined): JsonObject {
  return isObject(destination) ? { database: 'default', ...destination } : { database: 'default' }
}

/** Prefix of a refusal's text (facts 7). */
const CODES: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  424: 'FAILED_DEPENDENCY',
}

/** Replies omit a size for a while after its change. */
const SIZE: Fields = { replicaCpuMillicores: 'millicores', replicaMemoryGb: 'gibibytes' }

/** Observed values of unset fields. */
const UNSET: JsonObject = { scaling: null, settings: {}, fieldMappings: [] }

/** Without the fields that replies can omit. */
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

/** The observed spelling, if several are allowed. */
const SPELLINGS: Partial<Readonly<Record<LeafForm, (value: Json) => Json | undefined>>> = {
  address: (value) => (typeof value === 'string' ? value.replace(/\/\/[^/]*@/, '//[REDACTED]@') : value),
  engine: (value) => (typeof value === 'string' ? `${value}()` : value),
  millicores: (value) => (typeof value === 'number' ? `${value}m` : value),
  gibibytes: (value) => (typeof value === 'number' ? `${value}Gi` : value),
  set: (value) => (Array.isArray(value) ? value.toReversed() : value),
  flag: (value) => (value === false ? undefined : value),
}
