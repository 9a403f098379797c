import { isObject, type JsonObject } from '../lib/json.ts'
import type { StoredPipe } from './stored.ts'

/** A pipe as replies show it (`spec/api.md` 2.1). */
export interface PipeView extends JsonObject {
  readonly id: string
  readonly serviceId: string
  readonly name: string
  readonly state: string
  /** ISO 8601, UTC, with milliseconds. */
  readonly createdAt: string
  readonly updatedAt: string
}

/** A view together with the organization, which replies do not carry. */
export type PipeInSandbox = PipeView & { readonly organizationId: string }

/**
 * What a pipe looks like at `now` (ms). Its state follows from the time, so that it moves on without a timer
 * and across restarts: `Provisioning` for `provisioningMs` after the creation, `Running` from then on.
 */
export function viewPipe(pipe: StoredPipe, now: number, provisioningMs: number): PipeView {
  const { name, state, ...parts } = pipe.body
  const moved = now - pipe.createdAt < provisioningMs ? 'Provisioning' : 'Running'
  return {
    id: pipe.id,
    serviceId: pipe.serviceId,
    name: typeof name === 'string' ? name : '',
    state: typeof state === 'string' ? state : moved,
    scaling: {},
    destination: {},
    fieldMappings: [],
    settings: {},
    ...parts,
    createdAt: new Date(pipe.createdAt).toISOString(),
    updatedAt: new Date(pipe.updatedAt).toISOString(),
  }
}

/** Fields of a request that no reply carries (`spec/api.md` 2.1, 2.3, 2.4). */
const REQUEST_ONLY: readonly (readonly string[])[] = [
  ['source', 'validateSamples'],
  ['source', 'kafka', 'credentials'],
  ['source', 'kafka', 'schemaRegistry', 'credentials'],
  ['source', 'objectStorage', 'accessKey'],
  ['source', 'managedStream', 'accessKey'],
  ['source', 'postgres', 'credentials'],
  ['destination', 'roles'],
]

/** A pipe as it is kept: what a request says, but for the fields that are never given back. */
export function withoutRequestOnly(pipe: JsonObject): JsonObject {
  return REQUEST_ONLY.reduce(without, pipe)
}

function without(object: JsonObject, path: readonly string[]): JsonObject {
  const [name, ...rest] = path
  if (name === undefined || object[name] === undefined) return object
  const { [name]: member, ...others } = object
  if (rest.length === 0) return others
  return isObject(member) ? { ...object, [name]: without(member, rest) } : object
}
