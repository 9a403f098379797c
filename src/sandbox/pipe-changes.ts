import { foreignSettings } from '../kinds/profiles/clickhouse-cloud/pipe/rules.ts'
import { isDatabase } from '../kinds/profiles/clickhouse-cloud/pipe/source.ts'
import { z } from '../kinds/zod.ts'
import { mergePatch, valueAt, type Json, type JsonObject } from '../lib/json.ts'
import { type Refusal, refusal } from './call.ts'
import type { Dialect } from './dialect.ts'
import type { StoredPipe } from './stored.ts'
import { rulesBrokenBy, required, type Shape, wordIssues } from './wire-schema.ts'
import { settledState, sourceOf } from './world.ts'

export interface PipeBefore {
  readonly dialect: Dialect
  readonly pipe: StoredPipe
  readonly state: string
  /** ms since the epoch. */
  readonly now: number
}

export type PipeChange = { readonly ok: true; readonly pipe: StoredPipe } | Refusal

export function obstacle(error: string): Refusal {
  return { ...refusal(400, error), isUncoded: true }
}

const Command = z.strictObject({ command: z.enum(['start', 'stop', 'resync']) })

const UP = ['Running', 'Degraded', 'Provisioning', 'Setup', 'Snapshot', 'Modifying', 'Resync']
const STARTABLE = ['Stopped', 'Paused', 'Failed']
const DOWN = ['Stopped', 'Paused', 'Stopping', 'Pausing']
const RESYNCED_KINDS = ['postgres', 'mysql', 'mongodb']

export function command(before: PipeBefore, json: JsonObject): PipeChange {
  const body = Command.safeParse(json)
  if (!body.success) return refusal(400, wordIssues(body.error))
  const { dialect, pipe, state } = before
  const { kind } = sourceOf(pipe.body)
  const settled = settledState(dialect, pipe.body)
  switch (body.data.command) {
    case 'start':
      if (UP.includes(state)) return obstacle('the pipe is already running')
      if (!STARTABLE.includes(state)) return obstacle(`the pipe cannot be started while it is ${state}`)
      return moved(before, [isDatabase(kind) ? 'Setup' : 'Provisioning', settled])
    case 'stop':
      // A stopped or stopping pipe stays unchanged, without an error.
      if (DOWN.includes(state)) return { ok: true, pipe }
      if (state === 'Completed') return obstacle('the pipe is Completed: it cannot be stopped')
      return moved(before, isDatabase(kind) ? ['Pausing', 'Paused'] : ['Stopping', 'Stopped'])
    case 'resync':
      if (!RESYNCED_KINDS.includes(kind)) return refusal(400, `command: there is no resync for ${kind}`)
      return moved(before, ['Snapshot', 'Resync', settled])
  }
}

export function moved({ pipe, now }: PipeBefore, states: readonly string[]): PipeChange {
  const { state: _left, ...body } = pipe.body
  const internals = { ...pipe.internals, moves: { since: now, states } }
  return { ok: true, pipe: { ...pipe, updatedAt: now, body, internals } }
}

/** Handles `PATCH {pipe}/scaling`: merges the fields that the source kind allows. */
export function scale(before: PipeBefore, json: JsonObject): PipeChange {
  const { kind } = sourceOf(before.pipe.body)
  if (isDatabase(kind)) return refusal(400, `scaling: there is none for ${kind}`)
  const change = merged(before, 'scaling', json)
  if (!change.ok) return change
  const internals = { ...change.pipe.internals, scaledAt: before.now }
  return { ok: true, pipe: { ...change.pipe, internals } }
}

/** Handles `PUT {pipe}/settings`: merges the fields that the source kind allows. */
export function configure(before: PipeBefore, json: JsonObject): PipeChange {
  const { kind } = sourceOf(before.pipe.body)
  if (isDatabase(kind)) return refusal(404, 'this pipe has no settings')
  const [foreign] = foreignSettings(kind, json)
  return foreign === undefined
    ? merged(before, 'settings', json)
    : refusal(400, `${foreign}: is no setting of ${kind}`)
}

function merged(before: PipeBefore, part: 'scaling' | 'settings', json: JsonObject): PipeChange {
  const { dialect, pipe, now } = before
  const change = { [part]: json }
  const body = mergePatch(pipe.body, change)
  const refused =
    shapeRefusal({ [part]: required(dialect.pipeShape[part]) }, change) ??
    completedRefusal(before) ??
    ruleRefusal(before, body, change)
  return refused ?? { ok: true, pipe: { ...pipe, updatedAt: now, body } }
}

export function shapeRefusal(shape: Shape, json: JsonObject): Refusal | undefined {
  const checked = z.strictObject(shape).safeParse(json)
  if (!checked.success) return refusal(400, wordIssues(checked.error))
  const empty = emptyPlace(json)
  return empty === undefined ? undefined : refusal(400, `${empty}: must not be empty`)
}

/** Finds the first empty value, because the service refuses those. */
function emptyPlace(value: Json | undefined, path = 'body'): string | undefined {
  if (value === '' || value === null) return path
  if (typeof value !== 'object') return undefined
  const members = Object.entries(value)
  if (members.length === 0) return path
  return members
    .map(([name, member]) => emptyPlace(member, path === 'body' ? name : `${path}.${name}`))
    .find((place) => place !== undefined)
}

export function completedRefusal({ state }: PipeBefore): Refusal | undefined {
  return state === 'Completed' ? obstacle('the pipe is Completed: only its name can be changed') : undefined
}

/** Ignores a rule that the stored pipe already breaks and the change does not touch. Stored pipes lack credentials. */
export function ruleRefusal(
  { dialect, pipe }: PipeBefore,
  after: JsonObject,
  change: JsonObject,
): Refusal | undefined {
  const known = new Set(rulesBrokenBy(dialect.pipe, pipe.body).map(({ words }) => words))
  const broken = rulesBrokenBy(dialect.pipe, after).find(
    ({ path, words }) => !known.has(words) || isTouched(path, change),
  )
  return broken && refusal(400, broken.words)
}

function isTouched(path: readonly (string | number)[], change: JsonObject): boolean {
  const depths = path.map((_name, at) => at + 1).filter((depth) => depth === path.length || depth > 2)
  return depths.some((depth) => valueAt(change, path.slice(0, depth)) !== undefined)
}
