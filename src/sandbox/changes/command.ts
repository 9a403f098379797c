import type { JsonObject } from '../../lib/json.ts'
import { z } from '../../kinds/zod.ts'
import { wordIssues } from '../request-schema.ts'
import { type Before, type Change, mistake, moving, obstacle } from './change.ts'
import {
  emptyPlace,
  isOfDatabase,
  kindOf,
  newlyBroken,
  objectIn,
  settledState,
  worded,
} from './cloud-pipe.ts'
import { ScalingPatch, SettingsPatch } from './patch-schema.ts'

const Command = z.strictObject({ command: z.enum(['start', 'stop', 'resync']) })

/** `PATCH {pipe}/state` (facts 6.1). */
export function command(before: Before, json: JsonObject): Change {
  const body = Command.safeParse(json)
  if (!body.success) return mistake(wordIssues(body.error))
  switch (body.data.command) {
    case 'start':
      return start(before)
    case 'stop':
      return stop(before)
    case 'resync':
      return resync(before)
  }
}

const STARTABLE = ['Stopped', 'Paused', 'Failed']

/** Running, or on the way to it. */
const UP = ['Running', 'Degraded', 'Provisioning', 'Setup', 'Snapshot', 'Modifying', 'Resync']

function start(before: Before): Change {
  const { pipe, state } = before
  if (UP.includes(state)) return obstacle('the pipe is already running')
  if (!STARTABLE.includes(state)) return obstacle(`the pipe cannot be started while it is ${state}`)
  const first = isOfDatabase(pipe.body) ? 'Setup' : 'Provisioning'
  return moved(before, [first, settledState(pipe.body)])
}

const DOWN = ['Stopped', 'Paused', 'Stopping', 'Pausing']

/** A stopped or stopping pipe stays so, without an error. */
function stop(before: Before): Change {
  const { pipe, state } = before
  if (DOWN.includes(state)) return { ok: true, pipe }
  if (state === 'Completed') return obstacle('the pipe is Completed: it cannot be stopped')
  return moved(before, isOfDatabase(pipe.body) ? ['Pausing', 'Paused'] : ['Stopping', 'Stopped'])
}

const RESYNCED_KINDS = ['postgres', 'mysql', 'mongodb']

function resync(before: Before): Change {
  const kind = kindOf(before.pipe.body)
  if (!RESYNCED_KINDS.includes(kind)) return mistake(`command: there is no resync for ${kind}`)
  return moved(before, ['Snapshot', 'Resync', settledState(before.pipe.body)])
}

function moved(before: Before, states: readonly string[]): Change {
  return { ok: true, pipe: { ...moving(before, states), updatedAt: before.now } }
}

/** `PATCH {pipe}/scaling`: merges the fields that R36 allows for the source kind. */
export function scale({ pipe, state, now }: Before, json: JsonObject): Change {
  const shape = ScalingPatch.safeParse(json)
  if (!shape.success) return mistake(wordIssues(shape.error))
  const empty = emptyPlace(json)
  if (empty !== undefined) return mistake(`${empty}: must not be empty`)
  if (isOfDatabase(pipe.body)) return mistake(`scaling: there is none for ${kindOf(pipe.body)}`)
  if (state === 'Completed') return obstacle('the pipe is Completed: it cannot be scaled')
  const after = { ...pipe.body, scaling: { ...objectIn(pipe.body, 'scaling'), ...json } }
  const broken = newlyBroken(pipe.body, after, { scaling: json })
  if (broken !== undefined) return mistake(worded(broken))
  const internals = { ...pipe.internals, scaledAt: now }
  return { ok: true, pipe: { ...pipe, updatedAt: now, body: after, internals } }
}

/** `PUT {pipe}/settings`: merges the fields that R37 allows for the source kind. Keeps `0` and `false`. */
export function configure({ pipe, state, now }: Before, json: JsonObject): Change {
  if (isOfDatabase(pipe.body)) {
    return { ok: false, status: 404, error: 'NOT_FOUND: this pipe has no settings' }
  }
  const shape = SettingsPatch.safeParse(json)
  if (!shape.success) return mistake(wordIssues(shape.error))
  const empty = emptyPlace(json)
  if (empty !== undefined) return mistake(`${empty}: must not be empty`)
  if (state === 'Completed') return obstacle('the pipe is Completed: it cannot be configured')
  const kind = kindOf(pipe.body)
  // Settings of messages begin with `streaming_`. The others are for files.
  const isOfFiles = kind === 'objectStorage'
  const isForeign = (name: string) =>
    name === 'kafka_read_committed' ? kind !== 'kafka' : name.startsWith('streaming_') === isOfFiles
  const foreign = Object.keys(json).find(isForeign)
  if (foreign !== undefined) return mistake(`${foreign}: is no setting of ${kind}`)
  const settings = { ...objectIn(pipe.body, 'settings'), ...json }
  return { ok: true, pipe: { ...pipe, updatedAt: now, body: { ...pipe.body, settings } } }
}
