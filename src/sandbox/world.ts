import { comparedBody } from '../kinds/remote-resource.ts'
import type { SourceKind } from '../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { Text, z } from '../kinds/zod.ts'
import { sha256 } from '../lib/digest.ts'
import { isObject, mergePatch, stableJson, type JsonObject } from '../lib/json.ts'
import type { Dialect } from './dialect.ts'
import type { openStorage } from './storage.ts'
import type { PipeInternals, ServiceIds, StoredAlert, StoredPipe } from './stored.ts'
import { asManifest, rulesBrokenBy } from './wire-schema.ts'

export interface World {
  readonly storage: ReturnType<typeof openStorage>
  readonly dialect: Dialect
  readonly times: z.infer<typeof Times>
  /** Undefined: all services exist. */
  readonly services: readonly ServiceIds[] | undefined
  readonly incidents: readonly Incident[]
  /** ms since the epoch. */
  readonly now: () => number
}

const Milliseconds = z.int().nonnegative()

export const Times = z.strictObject({
  provisioningMs: Milliseconds.default(1_500),
  movingMs: Milliseconds.default(1_500),
  scalingLagMs: Milliseconds.default(1_000),
  deletingMs: Milliseconds.default(1_500),
  listLagMs: Milliseconds.default(0),
})

/** A change that no request causes, `afterMs` after the creation of its pipe or alert. */
export const Incident = z
  .strictObject({
    pipe: Text.optional().describe('Name or id of a pipe.'),
    alert: Text.optional().describe('Id of an alert.'),
    afterMs: Milliseconds,
    change: z.record(z.string(), z.json()).optional().describe('A JSON merge patch of the resource.'),
    vanish: z.literal(true).optional().describe('The pipe disappears after `afterMs`.'),
  })
  .refine(
    ({ pipe, alert }) => (pipe === undefined) !== (alert === undefined),
    'name either a pipe or an alert',
  )
  .refine(
    ({ change, vanish }) => (change === undefined) !== (vanish === undefined),
    'say either change or vanish',
  )
  .refine(({ alert, vanish }) => alert === undefined || vanish === undefined, 'an alert cannot vanish')
type Incident = z.infer<typeof Incident>

export interface PipeView extends JsonObject {
  readonly id: string
  readonly serviceId: string
  readonly name: string
  readonly state: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly credentialsRevision?: number
}

/**
 * Applies incidents and deletions that are due. Each read calls this function, so no timer is needed.
 * @returns undefined if the pipe is gone
 */
export function advancePipe(world: World, pipe: StoredPipe, now: number): StoredPipe | undefined {
  const { storage, times } = world
  const deletedAt = pipe.internals?.deletedAt
  const isDeleted = deletedAt !== undefined && now - deletedAt >= times.deletingMs
  const { body } = pipe
  const due = dueOf(world, pipe, now).filter((one) => one.pipe === pipe.id || one.pipe === body['name'])
  if (isDeleted || due.some(({ vanish }) => vanish)) {
    storage.remove('pipe', pipe.id)
    return undefined
  }
  if (due.length === 0) return pipe
  const after = { ...pipe, ...happened(pipe, due), updatedAt: now }
  storage.put('pipe', pipe.id, after)
  return after
}

export function advanceAlert(world: World, alert: StoredAlert, now: number): StoredAlert {
  const due = dueOf(world, alert, now).filter((one) => one.alert === alert.id)
  if (due.length === 0) return alert
  const updatedAt = new Date(now).toISOString()
  const after = { ...alert, ...happened({ ...alert, body: { ...alert.body, updatedAt } }, due) }
  world.storage.put('alert', alert.id, after)
  return after
}

type Subject = Pick<StoredPipe, 'createdAt' | 'body' | 'incidents'>

function dueOf(
  { incidents }: World,
  { createdAt, incidents: past }: Subject,
  now: number,
): readonly Incident[] {
  return incidents
    .filter((incident) => now - createdAt >= incident.afterMs && !past.includes(markOf(incident)))
    .toSorted((a, b) => a.afterMs - b.afterMs)
}

function happened(
  { body, incidents }: Subject,
  due: readonly Incident[],
): Pick<Subject, 'body' | 'incidents'> {
  return {
    body: due.reduce(
      (before: JsonObject, { change }) => (isObject(change) ? mergePatch(before, change) : before),
      body,
    ),
    incidents: [...incidents, ...due.map(markOf)],
  }
}

function markOf(incident: Incident): string {
  return sha256(stableJson(incident)).slice(0, 12)
}

/** @returns undefined: valid */
export function objectionTo({ pipe }: Dialect, body: JsonObject): string | undefined {
  const paused = pipe.states?.(asManifest(body, { paused: true }))
  if (body['startPaused'] !== undefined && paused?.startPaused === undefined)
    return 'startPaused: a pipe of a database cannot be created paused'
  return rulesBrokenBy(pipe, body)[0]?.words
}

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
    internals: dialect.pipe.changes
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

export function viewInSandbox(world: World, pipe: StoredPipe, now: number): PipeView {
  return {
    ...viewPipe(world, pipe, now),
    organizationId: pipe.organizationId,
    ...(world.dialect.pipe.changes && { credentialsRevision: pipe.internals?.credentialsRevision ?? 0 }),
  }
}

/** Computes the state from times, so it survives restarts. A `state` in the body takes precedence. */
export function stateOf({ dialect, times }: World, pipe: StoredPipe, now: number): string {
  const { body, createdAt, internals } = pipe
  if (typeof body['state'] === 'string') return body['state']
  if (internals?.moves === undefined)
    return now - createdAt < times.provisioningMs ? 'Provisioning' : settledState(dialect, body)
  const { since, states } = internals.moves
  const index = states.findIndex((_state, at) => now - since < (at + 1) * times.movingMs)
  return states[index] ?? states.at(-1) ?? settledState(dialect, body)
}

/** The state that a pipe reaches if it is never stopped. */
export function settledState({ pipe }: Pick<Dialect, 'pipe'>, body: JsonObject): 'Running' | 'Completed' {
  return pipe.states?.(asManifest(body)).healthy.includes('Completed') ? 'Completed' : 'Running'
}

export function sourceOf({ source }: JsonObject): { readonly kind: SourceKind; readonly fields: JsonObject } {
  for (const [kind, fields] of Object.entries(isObject(source) ? source : {}))
    if (isObject(fields)) return { kind: kind as SourceKind, fields } // only pipes with these kinds change
  return { kind: 'kafka', fields: {} }
}

const CREDENTIALS = ['credentials', 'accessKey', 'serviceAccountKey', 'connectionString']

export function credentialDigests(id: string, source: JsonObject): PipeInternals['credentials'] & object {
  return Object.fromEntries(
    CREDENTIALS.filter((name) => source[name] !== undefined).map((name) => [
      name,
      sha256(`${id} ${stableJson(source[name])}`),
    ]),
  )
}
