import { randomUUID } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../src/lib/json.ts'
import { createRandom } from '../torture/random.ts'
import { scalingFaults } from './destination-rules.ts'
import { FACTS, treeOf } from './facts.ts'
import { objectAt, textOf } from './look.ts'
import { droppedOf, kindOf, patched } from './patch.ts'
import { patchFaults, touches } from './patch-rules.ts'
import { pipeReply, settingsReply } from './reply.ts'
import { isDatabasePipe, pipeFaults } from './rules.ts'
import { treeFaults, type Fault } from './shape.ts'
import { statesOfCommand, statesOfCreate, statesOfEdit } from './states.ts'
import { refuse, refuseFaults, stateNow, take, type Answer, type Pipe, type World } from './world.ts'

/* The operations on pipes (section 3.1). Each is all or nothing. */

export function createPipe(world: World, _id: string, body: Json): Answer {
  const { startPaused, ...asked } = isObject(body) ? body : {}
  const faults = pipeFaults(isObject(body) ? asked : body)
  if (faults.length > 0) return refuseFaults(faults)
  // N8
  if (startPaused !== undefined && isDatabasePipe(asked))
    return refuseFaults([{ field: 'startPaused', rule: 'unknown' }])
  const states = startPaused === true ? (['Stopped'] as const) : statesOfCreate(asked)
  const pipe: Pipe = { id: randomUUID(), body: asked, states, sizeLag: 0, reads: 0 }
  world.pipes.set(pipe.id, pipe)
  return take(tell(world, pipe))
}

export function getPipe(world: World, id: string): Answer {
  const pipe = readingOf(world, id)
  return pipe === undefined ? refuse(404, 'NOT_FOUND: pipe') : take(tell(world, pipe))
}

export function listPipes(world: World): Answer {
  const there = [...world.pipes.keys()].flatMap((id) => readingOf(world, id) ?? [])
  return take(there.map((pipe) => tell(world, pipe)))
}

/** One step on; one that is gone then is forgotten. */
function readingOf({ pipes }: World, id: string): Pipe | undefined {
  const pipe = pipes.get(id)
  if (pipe === undefined) return undefined
  // the reply to what made it come this far had the state before
  pipe.states = pipe.states.length > 1 ? pipe.states.slice(1) : pipe.states
  if (stateNow(pipe) !== 'gone') return pipe
  pipes.delete(id)
  return undefined
}

/** Not twice the same; the id is another one in each run, so chance goes by the name. */
function tell(world: World, pipe: Pipe): JsonObject {
  const { id, body } = pipe
  const random = createRandom(`${world.seed}/${textOf(body['name'])}/${pipe.reads}`)
  const made = { id, serviceId: world.service.serviceId, state: stateNow(pipe) }
  const hidesSize = pipe.sizeLag > 0
  pipe.reads += 1
  pipe.sizeLag = Math.max(0, pipe.sizeLag - 1)
  return pipeReply(body, made, { random, isTalkative: false, hidesSize })
}

/** An operation on a pipe that is there; one that is being deleted is none to work on. */
function onPipe({ pipes }: World, id: string, act: (pipe: Pipe) => Answer): Answer {
  const pipe = pipes.get(id)
  if (pipe === undefined) return refuse(404, 'NOT_FOUND: pipe')
  return pipe.states.includes('gone') ? refuse(409, 'CONFLICT: it is being deleted') : act(pipe)
}

/** The same for an edit, of which one that is done takes none. */
function editPipe(world: World, id: string, act: (pipe: Pipe) => Answer): Answer {
  return onPipe(world, id, (pipe) =>
    stateNow(pipe) === 'Completed' ? refuse(400, 'BAD_REQUEST: completed: nothing but resync') : act(pipe),
  )
}

export function patchPipe(world: World, id: string, patch: Json): Answer {
  return editPipe(world, id, (pipe) => {
    const { body } = pipe
    const faults = patchFaults(body, patch)
    if (faults.length > 0 || !isObject(patch)) return refuseFaults(faults)
    const now = stateNow(pipe)
    if (touches(body, patch, world.mustPause ?? 'mappings') && now !== 'Paused')
      return refuse(400, 'BAD_REQUEST: the pipe must be paused to edit')
    const removes = 'tableMappingsToRemove' in objectAt(patch, `source.${kindOf(body)}`)
    const wakes = touches(body, patch, 'source') && now === 'Paused'
    const dropped = droppedOf(body, patch)
    pipe.body = patched(body, patch)
    if (wakes) pipe.states = statesOfEdit(pipe.body, { now, removes })
    return { ...take(tell(world, pipe)), dropped }
  })
}

const SCALING = treeOf(unneeded('scaling'))

/** Any part may be sent; nothing is null, because nobody knows what that means. */
function unneeded(name: 'scaling' | 'settings') {
  return FACTS.filter(({ field }) => field.startsWith(`${name}.`)).map((fact) => ({
    ...fact,
    isNullable: false,
  }))
}

/** What is wrong with part of a body that an operation has for itself. */
function partFaults(name: 'scaling' | 'settings', part: Json): readonly Fault[] {
  return treeFaults(name === 'scaling' ? SCALING : SETTINGS, { [name]: part })
}

export function scalePipe(world: World, id: string, part: Json): Answer {
  return editPipe(world, id, (pipe) => {
    const kind = kindOf(pipe.body)
    if (isDatabasePipe(pipe.body)) return refuseFaults([{ field: 'scaling', rule: 'R36' }])
    const shape = partFaults('scaling', part)
    const faults = isObject(part) ? [...shape, ...scalingFaults(part, kind)] : shape
    if (faults.length > 0 || !isObject(part)) return refuseFaults(faults)
    pipe.body = { ...pipe.body, scaling: { ...objectAt(pipe.body, 'scaling'), ...part } }
    // its own reply, and one more
    pipe.sizeLag = 2
    return take(tell(world, pipe))
  })
}

const SETTINGS = treeOf(unneeded('settings'))

/** Newer than the facts' tables, and of one kind alone. */
const READ_COMMITTED = 'kafka_read_committed'

/** Merges; of a setting of another kind the facts know nothing but of one, so it is taken. */
export function putSettings(world: World, id: string, part: Json): Answer {
  return editPipe(world, id, (pipe) => {
    if (isDatabasePipe(pipe.body)) return refuse(404, 'NOT_FOUND: settings')
    if (!isObject(part)) return refuseFaults([{ field: 'settings', rule: 'type' }])
    const { [READ_COMMITTED]: isolation, ...known } = part
    const isRight =
      isolation === undefined || (kindOf(pipe.body) === 'kafka' && typeof isolation === 'boolean')
    const isAlone = isolation !== undefined && Object.keys(known).length === 0
    const faults = [
      ...(isAlone ? [] : partFaults('settings', known)),
      ...(isRight ? [] : [{ field: `settings.${READ_COMMITTED}`, rule: 'R37' }]),
    ]
    if (faults.length > 0) return refuseFaults(faults)
    pipe.body = { ...pipe.body, settings: { ...objectAt(pipe.body, 'settings'), ...part } }
    return take(settingsOf(world, id))
  })
}

function settingsOf(world: World, id: string): JsonObject {
  const pipe = world.pipes.get(id)
  if (pipe === undefined) return {}
  pipe.reads += 1
  const random = createRandom(`${world.seed}/${textOf(pipe.body['name'])}/settings/${pipe.reads}`)
  const settings = objectAt(pipe.body, 'settings')
  const { [READ_COMMITTED]: isolation } = settings
  return {
    ...settingsReply(settings, random),
    ...(isolation === undefined ? {} : { [READ_COMMITTED]: isolation }),
  }
}

/** Acknowledged; the reply has the old state. */
export function commandPipe(world: World, id: string, body: Json): Answer {
  return onPipe(world, id, (pipe) => {
    if (!isObject(body)) return refuseFaults([{ field: '', rule: 'type' }])
    const { command, ...others } = body
    const [other] = Object.keys(others)
    if (other !== undefined) return refuseFaults([{ field: other, rule: 'unknown field' }])
    if (typeof command !== 'string' || !['start', 'stop', 'resync'].includes(command))
      return refuseFaults([{ field: 'command', rule: command === undefined ? 'needed' : 'words' }])
    const states = statesOfCommand(command, pipe.body, stateNow(pipe))
    if (typeof states === 'string') return refuse(400, `BAD_REQUEST: ${states}`)
    pipe.states = states
    return take(tell(world, pipe))
  })
}

/** In every state; what a second one is answered while the first runs is not known, so it is taken. */
export function deletePipe(world: World, id: string): Answer {
  const pipe = world.pipes.get(id)
  if (pipe === undefined) return refuse(404, 'NOT_FOUND: pipe')
  const now = stateNow(pipe)
  if (!pipe.states.includes('gone')) pipe.states = [now, now, 'gone']
  return take()
}
