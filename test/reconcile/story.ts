import { fineReason } from '../support/fine-reason.ts'
import { expect } from 'vitest'
import { conditionMessage } from '../support/messages.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { ErrorClass } from '../../src/contract/remote-error.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'
import type { ReconcileResult } from '../../src/reconcile/context.ts'
import type { OperatorCommand } from '../../src/contract/person-command.ts'
import { operate } from '../../src/reconcile/operator/operate.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { given, HOUR, MINUTE, SECOND, type Given, type ProcessOptions } from './given.ts'
import { lock, pipe, pipeBodyOf, type PipeOptions } from './manifests.ts'
import type { ModelOperation } from './model-platform.ts'

/*
 * Stories of a reconcile: steps of a text, separated by `;`. A name without a slash is the name of a pipe. In settings, `#1` is the id of
 * the first pipe of the platform, and `@orders` the id of the last intent of that pipe.
 *
 *   write orders[@file] topics=a policy=b   its manifest: fields of a pipe, or of its policy; or `invalid`, or `suspended`
 *   lock orders=#1                          a Lock
 *   remove orders; read again               its manifest is gone; three readings agree
 *   look orders[: New]                      one turn. It comes to this reason, type, result or move
 *   visit orders[: New]                     the same, and one of each key that it asks for
 *   shown orders: Ready                     the status or reason on the board
 *   tells orders: some words                the message of Synced
 *   5 s, 2 min, 1 h                         time passes
 *   restart                                 the next process
 *   create: lost, get: gone for ever        how the next request is answered, or each one
 *   delete orders, hide orders, show orders its pipe on the platform
 *   make orders topics=a, edit #1 topics=a  in the console; also `state=Failed` and `setting=4`
 *   service broken                          its Service manifest has errors
 *   mount kafka/password=x, unmount kafka/password
 *   suspend orders[: words]; resume orders  a person says so, for an hour; the result and the message have these words
 *   recreate orders; adopt orders=#2; resolve orders=#2   likewise
 */

/** What there is in the end. */
export interface Ending {
  /** Creates that the platform was sent. */
  readonly sent?: number
  /** Names of its pipes, in order. */
  readonly pipes?: readonly string[]
  /** The number of the pipe in each record that has one. */
  readonly holds?: Readonly<Record<string, string>>
}

const UNIT_MS: Readonly<Record<string, number>> = { s: SECOND, min: MINUTE, h: HOUR }
const REPLIES: Readonly<Record<string, readonly [ErrorClass, 'none' | 'unknown']>> = {
  gone: ['Missing', 'none'],
  lost: ['Unavailable', 'unknown'],
  unclear: ['BadReply', 'unknown'],
  refused: ['Rejected', 'none'],
  throttled: ['Throttled', 'none'],
  idle: ['ServiceIdle', 'none'],
  unauthorised: ['AuthFailed', 'none'],
  unavailable: ['Unavailable', 'none'],
  redirected: ['Redirected', 'unknown'],
}
const ID = '00000000-0000-4000-8000-'

export function fails(of: ErrorClass, effect: 'none' | 'unknown' = 'none', worked = false) {
  return { type: 'fail', class: of, effect, worked } as const
}

export function times(count: number, text: string): string {
  return Array.from({ length: count }, () => text).join('; ')
}

/** Cells of a table: a row in each line, which goes on in lines that are indented further. */
export function rowsOf(table: string): readonly string[][] {
  const rows = table
    .trim()
    .replaceAll(/\n {6,}/g, ' ')
    .split('\n')
  return rows.map((row) => row.split('|').map((cell) => cell.trim()))
}

/** Plays a story in a new world, and looks at what there is in the end. */
export async function story(text: string, ending: Ending = {}, options: ProcessOptions = {}): Promise<void> {
  await worldAfter(text, ending, options)
}

/** As {@link story}. @returns the world as it is then */
export async function worldAfter(
  text: string,
  ending: Ending = {},
  options: ProcessOptions = {},
): Promise<Given> {
  const world = await play(await given({}, options), text, options)
  const there = [...world.platform.pipes.values()]
  const held = (await world.ledger.list()).flatMap(({ key, remote }) =>
    remote ? [[key, String(Number(remote.id.slice(ID.length)))]] : [],
  )
  expect({
    ...(ending.sent !== undefined && { sent: world.platform.posts.length }),
    ...(ending.pipes && { pipes: there.map(({ body }) => body['name']) }),
    ...(ending.holds && { holds: Object.fromEntries(held) }),
  }).toEqual(ending)
  return world
}

/** Plays a story on. @returns the process that lives then */
export async function play(world: Given, text: string, options: ProcessOptions = {}): Promise<Given> {
  let living = world
  for (const step of text
    .split(';')
    .map((part) => part.trim().replace(/\s+/g, ' '))
    .filter(Boolean)) {
    if (step === 'restart') living = await given({}, { ...options, around: world.around })
    else await playStep(living, step)
  }
  return living
}

async function playStep(world: Given, step: string): Promise<void> {
  const [, verb = '', rest = ''] = /^(\S+) ?(.*)$/.exec(step) ?? []
  const [, about = '', expected] = /^(\S+)(?:: (.*))?$/.exec(rest) ?? []
  const key: Key = about.includes('/') ? (about as Key) : `Pipe/${about}` // as the story names it
  const { pipes: made } = world.platform
  if (/^\d+$/.test(verb)) return world.clock.advance(Number(verb) * (UNIT_MS[rest] ?? NaN))
  if (verb.endsWith(':')) return answer(world, verb.slice(0, -1) as ModelOperation, rest) // its type names the words
  switch (verb) {
    case 'write':
      return write(world, rest)
    case 'lock': {
      const pipes = rest.split(' ').map(async (entry) => {
        const [name = '', id = ''] = entry.split('=')
        return [`Pipe/${name}`, await valueOf(world, id)] as const
      })
      return void world.write('lock.yaml', lock(Object.fromEntries(await Promise.all(pipes))))
    }
    case 'remove':
      return world.remove(`${rest}.yaml`)
    case 'read':
      return world.readAgain()
    case 'look':
    case 'visit': {
      const result = await world.go(key)
      if (expected !== undefined) expect(toldBy(result), step).toContain(expected)
      if (verb === 'visit') for (const other of result.also) await world.go(other)
      return
    }
    case 'shown': {
      const { status, reason } = world.board.get(key) ?? {}
      return expect([status, reason], step).toContain(expected === 'nothing' ? undefined : expected)
    }
    case 'tells':
      return expect(conditionMessage((await world.conditions(key)).Synced, key), step).toContain(expected)
    case 'delete':
      return void made.delete(await idOf(world, key))
    case 'hide':
    case 'show': {
      const id = await idOf(world, key)
      return void (verb === 'hide' ? world.platform.hidden.add(id) : world.platform.hidden.delete(id))
    }
    case 'make': {
      const [name = '', ...settings] = rest.split(' ')
      const { topics = name, replicas = 1, platformName = name } = await optionsOf(world, settings)
      return void world.platform.make(SERVICE_ID, {
        name: platformName,
        ...pipeBodyOf(name, { topics, replicas }),
      })
    }
    case 'edit': {
      const [id = '', ...settings] = rest.split(' ')
      const there = made.get(await valueOf(world, id))
      if (there === undefined) throw new Error(`${step}: there is none`)
      const { topics, replicas, platformName, policy } = await optionsOf(world, settings)
      const { source } = there.body as { source: { kafka: JsonObject } } // as it was made
      if (topics !== undefined) there.body = { ...there.body, source: { kafka: { ...source.kafka, topics } } }
      if (replicas !== undefined) there.body = { ...there.body, scaling: { replicas } }
      if (platformName !== undefined) there.body = { ...there.body, name: platformName }
      if (policy?.['state'] !== undefined) there.body = { ...there.body, state: policy['state'] }
      if (policy?.['setting'] !== undefined)
        there.body = { ...there.body, settings: { x: policy['setting'] } }
      return
    }
    case 'service':
      return void world.write('service.yaml', '{"kind": ')
    case 'suspend':
    case 'resume':
    case 'recreate':
    case 'adopt':
    case 'resolve': {
      const [name, id] = key.split('=')
      const until = new Date(world.clock.now() + HOUR).toISOString()
      const more = id === undefined ? { reason: 'a migration', until } : { pipeId: await valueOf(world, id) }
      const asked = { command: verb, key: name, ...more } as OperatorCommand // as the story says
      const said = await operate(world.context, asked, new AbortController().signal)
      return expect(`${said.result}: ${said.message}`, step).toContain(expected ?? 'done')
    }
    case 'mount': {
      const [secret = '', value = ''] = rest.split('=')
      return void world.secrets.mounted.set(secret, value)
    }
    case 'unmount':
      return void world.secrets.mounted.delete(rest)
    default:
      throw new Error(`no step is "${step}"`)
  }
}

function toldBy({ action, outcome, movedFrom }: ReconcileResult): readonly (string | undefined)[] {
  return [
    action.reason,
    fineReason(action),
    action.type,
    `${action.type} ${action.reason}`,
    `${action.type} ${fineReason(action)}`,
    outcome.result,
    'reason' in outcome ? outcome.reason : '',
    `from ${movedFrom}`,
  ]
}

function answer({ platform }: Given, operation: ModelOperation, how: string): void {
  const [, word = '', worked, forEver] = /^(.*?)( after the work)?( for ever)?$/.exec(how) ?? []
  if (word === 'without credentials') return platform.script(operation, { type: 'no-credentials' })
  const [of, effect] = REPLIES[word] ?? []
  if (of === undefined && word !== 'ok') throw new Error(`no reply is "${word}"`)
  const reply = of === undefined ? 'ok' : fails(of, effect, worked !== undefined)
  if (forEver === undefined) platform.script(operation, reply)
  else platform.always(operation, reply)
}

async function write(world: Given, text: string): Promise<void> {
  const [what = '', ...settings] = text.split(' ')
  const [name = '', file = name] = what.split('@')
  world.write(`${file}.yaml`, pipe(name, await optionsOf(world, settings)))
}

async function optionsOf(world: Given, settings: readonly string[]): Promise<PipeOptions> {
  const policy: Record<string, Json> = {}
  const options: Record<string, unknown> = { policy }
  const { destination } = pipeBodyOf('') as { destination: JsonObject } // as it is made
  for (const setting of settings.filter(Boolean)) {
    const [name = '', text = ''] = setting.split('=')
    const value = await valueOf(world, text)
    if (name === 'suspended') policy['suspend'] = { reason: 'planned', until: '2100-01-01T00:00:00Z' }
    else if (name === 'invalid') options['more'] = { unknown: true }
    else if (name === 'name') options['platformName'] = value
    else if (name === 'replicas') options[name] = Number(value)
    else if (name === 'table') options['more'] = { destination: { ...destination, table: value } }
    else if (name === 'topics' || name === 'service') options[name] = value
    else policy[name] = name === 'dependsOn' || name === 'healthyStates' ? [value] : value
  }
  return options
}

async function valueOf(world: Given, text: string): Promise<string> {
  if (text.startsWith('#')) return ID + text.slice(1).padStart(12, '0')
  if (text.startsWith('@')) return (await world.record(`Pipe/${text.slice(1)}`)).intent?.id ?? ''
  return text
}

export async function idOf(world: Given, key: Key): Promise<string> {
  return (await world.record(key)).remote?.id ?? ''
}
