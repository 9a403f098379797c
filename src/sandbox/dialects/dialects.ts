import type { Profile } from '../../kinds/profile.ts'
import { z } from '../../kinds/zod.ts'
import type { Dialect } from '../dialect.ts'
import { objectionTo, type PipeRequest, pipeRequestShape, QueryEndpointRequest } from '../request-schema.ts'
import { CLOUD_DIALECT } from './clickhouse-cloud.ts'

/** `spec/api.md` 2.8. */
const Alert = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  message: z.string(),
  threshold: z.number(),
  interval: z.string(),
  thresholdType: z.string(),
  source: z.string(),
  state: z.string(),
  channel: z.strictObject({ type: z.string(), webhookId: z.string().optional() }),
  team: z.string(),
  tileId: z.string(),
  dashboard: z.string(),
  createdAt: z.iso.datetime({ offset: true }),
  updatedAt: z.iso.datetime({ offset: true }),
})

/** `spec/api.md`. */
const DEFAULT_DIALECT: Dialect = {
  pipeShape: pipeRequestShape,
  endpointRequest: QueryEndpointRequest,
  alert: Alert,
  objectionTo: (pipe) => objectionTo(pipe as unknown as PipeRequest), // checked in parts
  refusal: (_status, error) => error,
  serviceStates: [],
  settledState: () => 'Running',
  spelled: (pipe) => ({ scaling: {}, destination: {}, fieldMappings: [], settings: {}, ...pipe }),
  timestamp: (ms) => new Date(ms).toISOString(),
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  default: DEFAULT_DIALECT,
  'clickhouse-cloud': CLOUD_DIALECT,
}

export function dialectOf({ name }: Profile): Dialect {
  const dialect = DIALECTS[name]
  if (dialect === undefined) throw new Error(`the sandbox does not speak ${name}`)
  return dialect
}
