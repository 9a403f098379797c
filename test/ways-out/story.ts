import { rmSync } from 'node:fs'
import { expect } from 'vitest'
import { furnish, OTHER_SERVICE_ID, SERVICE_ID } from '../support/manifests.ts'
import { answerCreate, given, type Given, strayPipe } from './given.ts'

/*
 * Stories of commands: a step in each line. A line that begins with none of the words below is a command, with the code that it ends with
 * and texts of what it prints, in this line and the next ones:
 *
 *   adopt Pipe/orders {orders} => 1 | exists, so no
 *   | not: created | once: Did you mean
 *
 * `{orders}` is the id of that pipe, `{ORDERS}` the same in capitals, `{intent}` the id of the last intent of Pipe/orders, and `{dir}` the
 * folder. Without a code, it is 0. Line breaks count as spaces, and `…` stands for any text.
 *
 *   write orders[@file] replicas=3      its manifest; `policy.adopt=ID`, `username=x`, `key=x` and `flawed` also
 *   remove orders                       its manifest is gone; `again orders`: there is no other
 *   locked Pipe/orders=ID               a Lock
 *   mount secrets/kafka/password=x      a secret
 *   create: cut-after [orders]          how the next create is answered, or that of a pipe; also a status
 *   vanish orders; hide orders 2        its pipe is gone, or not found so often
 *   make orders [other]                 in the console, in another service
 *   later 10 min                        time passes
 *   lost; damaged                       the file of the ledger
 *   keep lock                           the output of a command becomes a manifest of that name
 *   shows Pipe/orders Ready InSync      status and reason
 *   tells Pipe/orders | some words      its message
 *   posts 1; pipes 1                    requests to create, and pipes on the platform
 *   reasons a=InSync b=Deleting         of all pipes
 *   changes createPipe, scalePipe       operations that change something, since that was asked the last time; or `none`
 */

export type Step = string | ((world: Given) => unknown)

const MINUTE = 60_000
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, min: MINUTE, h: 60 * MINUTE }

/** What a story remembers: the output of its last command, and how many requests it has looked at. */
interface Telling {
  last: string
  requests: number
}

const tellings = new WeakMap<Given, Telling>()

/** @param begin names of pipes, separated by spaces; or a world that is about to be there */
export async function story(begin: string | Promise<Given>, ...steps: readonly Step[]): Promise<void> {
  await using world = await (typeof begin === 'string' ? given(...begin.split(' ').filter(Boolean)) : begin)
  await play(world, ...steps)
}

export async function play(world: Given, ...steps: readonly Step[]): Promise<void> {
  const told = tellings.get(world) ?? { last: '', requests: 0 }
  tellings.set(world, told)
  for (const step of steps) {
    if (typeof step === 'function') await step(world)
    else
      for (const line of step.replaceAll(/\n\s*\|/g, ' |').split('\n'))
        if (line.trim()) await playLine(world, line.trim(), told)
  }
}

async function playLine(world: Given, line: string, told: Telling): Promise<void> {
  const { workspace, platform } = world
  const [verb = '', about = '', more = ''] = line.split(' ')
  switch (verb) {
    case 'write': {
      const [name = '', file = name] = about.split('@')
      const settings = (await withIds(world, line)).split(' ').slice(2)
      const fields = new Map(settings.map((each) => each.split('=') as [string, string])) // each is one
      return workspace.write(`manifests/${file}.yaml`, world.manifestOf(name, fields))
    }
    case 'remove':
      return workspace.write(`manifests/${about}.yaml`, '# gone\n')
    case 'locked': {
      const [key = '', id = ''] = (await withIds(world, about)).split('=')
      const manifest = { apiVersion: 'pipewright/v1', kind: 'Lock', metadata: { name: 'pipes' } }
      return workspace.write(
        `manifests/lock.yaml`,
        JSON.stringify({ ...manifest, spec: { pipes: { [key]: id } } }),
      )
    }
    case 'mount': {
      const [file = '', value = ''] = about.split('=')
      return workspace.write(file, value)
    }
    case 'create:':
      return answerCreate(world, about, more)
    case 'vanish':
      return platform.vanish(world.pipeId(about))
    case 'hide': {
      const fault = { type: 'status', status: 404 } as const
      const subject = world.pipeId(about)
      return platform.faults.add({ operation: 'getPipe', subject, times: Number(more), fault })
    }
    case 'make':
      return void (await strayPipe(world, about, more === 'other' ? OTHER_SERVICE_ID : SERVICE_ID))
    case 'later':
      return world.skip(Number(about) * (UNIT_MS[more] ?? NaN))
    case 'lost':
      return rmSync(workspace.path('ledger.db'))
    case 'damaged':
      return workspace.write('ledger.db', 'no database at all, but as long as one begins'.repeat(10))
    case 'again':
      rmSync(workspace.manifests, { recursive: true })
      return furnish(workspace, ...line.split(' ').slice(1))
    case 'keep':
      return workspace.write(`manifests/${about}.yaml`, told.last)
    case 'shows': {
      const { status, reason } = await world.status(about)
      const expected = line.split(' ').slice(2)
      return expect([status, reason].slice(0, expected.length), line).toEqual(expected)
    }
    case 'tells': {
      const { message } = await world.status(about)
      return expectTexts(world, line, message)
    }
    case 'reasons': {
      const { stdout } = await world.command('status', '--kind', 'Pipe', '-o', 'json')
      const { resources } = JSON.parse(stdout) as { resources: readonly { key: string; reason: string }[] }
      const reasons = resources.map(({ key, reason }) => `${key.slice('Pipe/'.length)}=${reason}`)
      return expect(reasons.join(' '), stdout).toBe(line.slice('reasons '.length))
    }
    case 'changes': {
      const since = platform.requests().slice(told.requests)
      told.requests += since.length
      const changes = since.filter(({ method }) => method !== 'GET').map(({ operation }) => operation)
      return expect(changes.join(', ') || 'none').toBe(line.slice('changes '.length))
    }
    case 'posts':
      return expect(world.posts(), line).toBe(Number(about))
    case 'pipes':
      return expect(platform.pipes().length, line).toBe(Number(about))
    default:
      told.last = await run(world, line)
  }
}

/** @returns its output */
export async function run(world: Given, line: string): Promise<string> {
  const [, words = '', code = '0'] = /^(.*?)(?: => (\d+))?(?: \| .*)?$/.exec(line) ?? []
  const args = await withIds(world, words)
  const { stdout, stderr, code: ended } = await world.command(...args.split(' '))
  expect(`${ended}`, `${line}\n${stdout}${stderr}`).toBe(code)
  await expectTexts(world, line, `${stdout} ${stderr}`)
  return stdout
}

async function expectTexts(world: Given, line: string, shown: string): Promise<void> {
  const told = shown.replaceAll(/\s+/g, ' ')
  for (const text of line.split(' | ').slice(1)) {
    const [, how, words = ''] = /^(not: |once: )?(.*)$/.exec(await withIds(world, text)) ?? []
    const pattern = words.split('…').map((part) => RegExp.escape(part))
    const count = [...told.matchAll(new RegExp(pattern.join('.*?'), 'g'))].length
    const isRight = how === 'not: ' ? count === 0 : how === 'once: ' ? count === 1 : count > 0
    expect(isRight, `${text}\n${shown}`).toBe(true)
  }
}

async function withIds(world: Given, text: string): Promise<string> {
  const intent = text.includes('{intent}') ? (await world.status('Pipe/orders')).intent?.id : ''
  return text
    .replaceAll('{intent}', String(intent))
    .replaceAll('{dir}', world.workspace.dir)
    .replaceAll(/\{([a-z-]+)\}/g, (_, name: string) => world.pipeId(name))
    .replaceAll(/\{([A-Z-]+)\}/g, (_, name: string) => world.pipeId(name.toLowerCase()).toUpperCase())
}
