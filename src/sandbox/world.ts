import { sha256 } from '../lib/digest.ts'
import { isObject, type JsonObject, stableJson } from '../lib/json.ts'
import { mergePatch } from '../lib/merge-patch.ts'
import { Text, z } from '../kinds/zod.ts'
import type { Dialect } from './dialect.ts'
import type { Storage } from './storage.ts'
import type { ServiceIds, StoredAlert, StoredPipe } from './stored.ts'

/** The simulated platform: its state, and how it behaves. */
export interface World {
  readonly storage: Storage
  readonly dialect: Dialect
  readonly times: z.infer<typeof Times>
  /** Undefined: all services exist. */
  readonly services: readonly ServiceIds[] | undefined
  readonly incidents: readonly Incident[]
}

const Milliseconds = z.int().nonnegative()

export const Times = z.strictObject({
  provisioningMs: Milliseconds.default(1_500),
  movingMs: Milliseconds.default(1_500),
  scalingLagMs: Milliseconds.default(1_000),
  deletingMs: Milliseconds.default(1_500),
  listLagMs: Milliseconds.default(0),
})

/** Some ms after the creation of its pipe or alert, without a request. */
export const Incident = z
  .strictObject({
    pipe: Text.optional().describe('Name or id of a pipe.'),
    alert: Text.optional().describe('Id of an alert.'),
    afterMs: Milliseconds,
    change: z.record(z.string(), z.json()).optional().describe('A JSON merge patch of the resource.'),
    vanish: z.literal(true).optional().describe('The pipe is gone from then on.'),
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

/** Computed at each read, without timers. Undefined: the pipe is gone. */
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
