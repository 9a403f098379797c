import { z } from '../../kinds/zod.ts'
import type { Dialect } from '../dialect.ts'
import { objectionTo, type PipeRequest, pipeRequestShape, QueryEndpointRequest } from '../request-schema.ts'

const Timestamp = z.iso.datetime({ offset: true })

/** An alert with every field of `spec/api.md` 2.8. */
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
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

/** The interface of `spec/api.md`. */
export const DEFAULT_DIALECT: Dialect = {
  pipeShape: pipeRequestShape,
  endpointRequest: QueryEndpointRequest,
  alert: Alert,
  objectionTo: (pipe) => objectionTo(pipe as unknown as PipeRequest), // its parts were checked
  refusal: (_status, error) => error,
  serviceStates: [],
  settledState: () => 'Running',
  spelled: (pipe) => ({ scaling: {}, destination: {}, fieldMappings: [], settings: {}, ...pipe }),
  timestamp: (ms) => new Date(ms).toISOString(),
}
