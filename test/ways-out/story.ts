import { expect } from 'vitest'
import type { FaultInput } from '../../src/sandbox/fault-types.ts'
import { head } from '../support/manifests.ts'
import { given, type Given } from './given.ts'

/*
 * Stories of commands: a step in each line. A line that begins with none of the words below is a command, with the code that it ends with
 * and texts of what it prints, in this line and the next ones:
 *
 *   adopt Pipe/orders {orders} => 1 | exists, so no
 *   | not: created | once: Did you mean
 *
 * `{orders}` is the id of that pipe, `{intent}` that of the last intent of Pipe/orders, and `{dir}` the folder. Without a code, it is 0.
 * Line breaks count as spaces, and `…` stands for any text.
 *
 *   write orders replicas=3             its manifest; `policy.adopt=ID` also
 *   remove orders                       its manifest is gone
 *   locked Pipe/orders=ID               a Lock
 *   mount secrets/kafka/password=x      a file
 *   create: cut-after [orders]          how the next create is answered, or that of a pipe; also a status
 *   vanish orders                       its pipe is gone
 *   later 10 min                        time passes
 *   keep lock                           the output of a command becomes a manifest of that name
 *   shows Pipe/orders Ready InSync      status and reason; then texts of its message
 *   posts 1; pipes 1                    requests to create, and pipes on the platform
 *   reasons a=InSync b=Deleting         of all pipes
 *   changes createPipe, scalePipe       operations that change something, since that was asked the last time; or `none`
 */

export type Step = string | ((world: Given) => unknown)

const MINUTE = 60_000
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, min: MINUTE, h: 60 * MINUTE }

/** @param begin names of pipes, separated by spaces; or a world that is about to be there */
export async function story(begin: string | Promise<Given>, ...steps: readonly Step[]): Promise<void> {
  await using world = await (typeof begin === 'string' ? given(begin.split(' ').filter(Boolean)) : begin)
  await play(world, ...steps)
}

export async function play(world: Given, ...steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'function') await step(world)
    else
      for (const line of step.replaceAll(/\n\s*\|/g, ' |').split('\n'))
        if (line.trim()) await playLine(world, line.trim())
  }
}

async function playLine(world: Given, line: string): Promise<void> {
  const { workspace, platform, told } = world
  const [words = '', ...texts] = line.split(' | ')
  const made = await withIds(world, words)
  const [verb = '', about = '', ...more] = made.split(' ')
  switch (verb) {
    case 'write': {
      const fields = new Map(more.map((each) => each.split('=') as [string, string])) // each is one
      return workspace.write(`manifests/${about}.yaml`, world.manifestOf(about, fields))
    }
    case 'remove':
      return workspace.write(`manifests/${about}.yaml`, '# gone\n')
    case 'locked': {
      const pipes = about.replace('=', ': ')
      return workspace.write('manifests/lock.yaml', `${head('Lock', 'pipes')}spec: {pipes: {${pipes}}}\n`)
    }
    case 'mount': {
      const [file = '', value = ''] = about.split('=')
      return workspace.write(file, value)
    }
    case 'create:': {
      const fault = /^\d+$/.test(about) ? { type: 'status', status: Number(about) } : { type: about }
      const subject = more.length === 0 ? {} : { subject: more[0] }
      platform.faults.add({ operation: 'createPipe', fault: fault as FaultInput, ...subject }) // it refuses what is none
      return
    }
    case 'vanish':
      return platform.vanish(world.pipeId(about))
    case 'later':
      return world.skip(Number(about) * (UNIT_MS[more[0] ?? ''] ?? NaN))
    case 'keep':
      return workspace.write(`manifests/${about}.yaml`, told.last)
    case 'shows': {
      const { status, reason, message } = await world.status(about)
      expect([status, reason].slice(0, more.length), line).toEqual(more)
      return expectTexts(world, texts, message)
    }
    case 'reasons': {
      const { stdout } = await world.command('status', '--kind', 'Pipe', '-o', 'json')
      const { resources } = JSON.parse(stdout) as { resources: readonly { key: string; reason: string }[] }
      const reasons = resources.map(({ key, reason }) => `${key.slice('Pipe/'.length)}=${reason}`)
      return expect(reasons, stdout).toEqual([about, ...more])
    }
    case 'changes': {
      const since = platform.requests().slice(told.requests)
      told.requests += since.length
      const changes = since.filter(({ method }) => method !== 'GET').map(({ operation }) => operation)
      return expect(changes.join(', ') || 'none').toBe(words.slice('changes '.length))
    }
    case 'posts':
      return expect(world.posts(), line).toBe(Number(about))
    case 'pipes':
      return expect(platform.pipes().length, line).toBe(Number(about))
    default: {
      const [args = '', code = '0'] = made.split(' => ')
      const { stdout, stderr, code: ended } = await world.command(...args.split(' '))
      expect(`${ended}`, `${line}\n${stdout}${stderr}`).toBe(code)
      told.last = stdout
      return expectTexts(world, texts, `${stdout} ${stderr}`)
    }
  }
}

async function expectTexts(world: Given, texts: readonly string[], shown: string): Promise<void> {
  const said = shown.replaceAll(/\s+/g, ' ')
  for (const text of texts) {
    const [, how, words = ''] = /^(not: |once: )?(.*)$/.exec(await withIds(world, text)) ?? []
    const pattern = words.split('…').map((part) => RegExp.escape(part))
    const count = [...said.matchAll(new RegExp(pattern.join('.*?'), 'g'))].length
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
}
