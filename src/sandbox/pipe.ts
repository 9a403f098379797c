import { comparedBody } from '../kinds/remote-resource.ts'
import { sha256 } from '../lib/digest.ts'
import { isObject, type JsonObject, stableJson } from '../lib/json.ts'
import type { Dialect } from './dialect.ts'
import type { PipeInternals, StoredPipe } from './stored.ts'
import { asManifest, rulesBrokenBy } from './wire-schema.ts'
import type { World } from './world.ts'

/** In replies (`spec/api.md` 2.1). */
export interface PipeView extends JsonObject {
  readonly id: string
  readonly serviceId: string
  readonly name: string
  readonly state: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
}

/** `credentialsRevision`: if the profile can change credentials. */
export type PipeInSandbox = PipeView & {
  readonly organizationId: string
  readonly credentialsRevision?: number
}

/** @param body of the right shape @returns undefined: valid */
export function objectionTo({ pipe }: Dialect, body: JsonObject): string | undefined {
  const paused = pipe.states?.(asManifest(body, { paused: true }))
  if (body['startPaused'] !== undefined && paused?.startPaused === undefined)
    return 'startPaused: a pipe of a database cannot be created paused'
  return rulesBrokenBy(pipe, body)[0]?.words
}

/** @param body valid */
export function newPipe(
  dialect: Dialect,
  about: Pick<StoredPipe, 'id' | 'organizationId' | 'serviceId' | 'createdAt'>,
  body: JsonObject,
): StoredPipe {
  const { startPaused, state, ...asked } = body
  const { id, createdAt } = about
  return {
    ...about,
    updatedAt: createdAt,
    body: { ...comparedBody(dialect.pipe.fields, asked), ...(state !== undefined && { state }) },
    incidents: [],
    internals: dialect.canChange
      ? {
          credentials: credentialDigests(id, sourceOf(body).fields),
          credentialsRevision: 0,
          ...(startPaused === true && { moves: { since: createdAt, states: ['Stopped'] } }),
        }
      : undefined,
  }
}

export function viewPipe(world: World, pipe: StoredPipe, now: number): PipeView {
  const { dialect, times } = world
  const { name, state: _seen, ...parts } = pipe.body
  const scaledAt = pipe.internals?.scaledAt
  const isScaling = scaledAt !== undefined && now - scaledAt < times.scalingLagMs
  return {
    id: pipe.id,
    serviceId: pipe.serviceId,
    name: typeof name === 'string' ? name : '',
    state: stateOf(world, pipe, now),
    ...dialect.spelled(isScaling ? { ...parts, scaling: { replicas: 0 } } : parts),
    createdAt: dialect.timestamp(pipe.createdAt),
    updatedAt: dialect.timestamp(pipe.updatedAt),
  }
}

export function viewInSandbox(world: World, pipe: StoredPipe, now: number): PipeInSandbox {
  return {
    ...viewPipe(world, pipe, now),
    organizationId: pipe.organizationId,
    ...(world.dialect.canChange && { credentialsRevision: pipe.internals?.credentialsRevision ?? 0 }),
  }
}

/** Needs no timer and survives restarts. A set `state` takes precedence. */
export function stateOf({ dialect, times }: World, pipe: StoredPipe, now: number): string {
  const { body, createdAt, internals } = pipe
  if (typeof body['state'] === 'string') return body['state']
  if (internals?.moves === undefined)
    return now - createdAt < times.provisioningMs ? 'Provisioning' : settledState(dialect, body)
  const { since, states } = internals.moves
  const index = states.findIndex((_state, at) => now - since < (at + 1) * times.movingMs)
  return states[index] ?? states.at(-1) ?? settledState(dialect, body)
}

/** Of a pipe that is never stopped (facts 6.1). */
export function settledState({ pipe }: Pick<Dialect, 'pipe'>, body: JsonObject): 'Running' | 'Completed' {
  return pipe.states?.(asManifest(body)).healthy.includes('Completed') ? 'Completed' : 'Running'
}

/** The source kind of a pipe, and its fields. */
export function sourceOf({ source }: JsonObject): { readonly kind: string; readonly fields: JsonObject } {
  for (const [kind, fields] of Object.entries(isObject(source) ? source : {}))
    if (isObject(fields)) return { kind, fields }
  return { kind: '', fields: {} }
}

const CREDENTIALS = ['credentials', 'accessKey', 'serviceAccountKey', 'connectionString']

/** Credentials are not kept. */
export function credentialDigests(id: string, source: JsonObject): PipeInternals['credentials'] & object {
  return Object.fromEntries(
    CREDENTIALS.filter((name) => source[name] !== undefined).map((name) => [
      name,
      sha256(`${id} ${stableJson(source[name])}`),
    ]),
  )
}
