import type { JsonObject } from '../../lib/json.ts'
import { z } from '../../kinds/zod.ts'
import { wordIssues } from '../request-schema.ts'
import { type Before, type Change, mistake, moving, obstacle } from './change.ts'
import { isOfDatabase, kindOf, settledState } from './cloud-pipe.ts'

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

/** States of a pipe that goes, or is on its way to it. */
const UP = ['Running', 'Degraded', 'Provisioning', 'Setup', 'Snapshot', 'Modifying', 'Resync']

function start(before: Before): Change {
  const { pipe, state } = before
  if (UP.includes(state)) return obstacle('the pipe is already running')
  if (!STARTABLE.includes(state)) return obstacle(`the pipe cannot be started while it is ${state}`)
  const first = isOfDatabase(pipe.body) ? 'Setup' : 'Provisioning'
  return moved(before, [first, settledState(pipe.body)])
}

const DOWN = ['Stopped', 'Paused', 'Stopping', 'Pausing']

/** What is at rest, or on its way to it, stays so without an error. */
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
