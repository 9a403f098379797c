import { z } from 'zod'
import { isObject } from '../lib/json.ts'
import type { JsonObject } from '../lib/json.ts'

/**
 * Replies are read loosely: what we need must be there, what we do not know is left alone.
 * A platform that answers with more fields than the interface names must not stop us.
 * An object of which only that is known is not gone through: it came from `JSON.parse`.
 */
const Loose = z.custom<JsonObject>(isObject)

/** `spec/api.md` 2.1. */
export const ObservedPipe = z.looseObject({
  id: z.string().min(1),
  serviceId: z.string().nullish(),
  name: z.string().nullish(),
  state: z.string().nullish(),
  scaling: Loose.nullish(),
  source: Loose.nullish(),
  destination: Loose.nullish(),
  fieldMappings: z.array(Loose).nullish(),
  settings: Loose.nullish(),
  createdAt: z.string().nullish(),
  updatedAt: z.string().nullish(),
})
export type ObservedPipe = z.infer<typeof ObservedPipe>

/** `spec/api.md` 2.7. */
export const ObservedEndpoint = z.looseObject({
  id: z.string(),
  openApiKeys: z.array(z.string()).nullish(),
  roles: z.array(z.string()).nullish(),
  allowedOrigins: z.string().nullish(),
})
export type ObservedEndpoint = z.infer<typeof ObservedEndpoint>

/** `spec/api.md` 2.8. */
export const ObservedAlert = z.looseObject({
  id: z.string(),
  name: z.string().nullish(),
  state: z.string().nullish(),
})
export type ObservedAlert = z.infer<typeof ObservedAlert>
