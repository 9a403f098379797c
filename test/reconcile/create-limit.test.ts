import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import { messageOf } from '../../src/plan/reason.ts'
import { allowBlocked } from '../../src/reconcile/operator/allow.ts'
import { SERVICE_ID } from '../support/manifests.ts'
import { endedOf, given as begin, type Given, HOUR, MINUTE, SECOND } from './given.ts'
import { pipe, pipeBodyOf, service } from './manifests.ts'

/* The create limit counts for each service, and over an hour as well as at once. */

/** Few, as every pipe costs time. */
const LIMIT = 5

const given: typeof begin = (files, options) => begin(files, { maxCreates: LIMIT, ...options })

function names(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(3, '0')}`)
}

function commit(world: Given, prefix: string, count: number, of = 'analytics'): readonly Key[] {
  const all = names(prefix, count)
  for (const name of all) world.directory.files.set(`${name}.yaml`, pipe(name, { service: of }))
  world.read()
  return all.map((name): Key => `Pipe/${name}`)
}

async function go(world: Given, keys: readonly Key[]): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {}
  for (const key of keys) {
    const { action } = await world.go(key)
    counts[action.reason] = (counts[action.reason] ?? 0) + 1
  }
  return counts
}

/** A pipe goes, while another one of its service is found. @returns what becomes of it */
async function replaced(world: Given, key: Key, witness: Key): Promise<readonly string[]> {
  world.platform.pipes.delete((await world.record(key)).remote?.id ?? '')
  const reasons: string[] = []
  for (let round = 0; round < 8; round += 1) {
    reasons.push((await world.go(key)).action.reason)
    await world.go(witness)
    await world.clock.advance(31 * SECOND)
  }
  return reasons
}

describe('a commit of one team', () => {
  test.each([
    ['at once', 1],
    ['in three parts', 3],
  ])('is not let through under three names of one service, %s', async (_how, parts) => {
    const world = await given({
      'same.yaml': service('same', SERVICE_ID),
      'loud.yaml': service('loud', SERVICE_ID.toUpperCase()),
    })
    const keys: Key[] = []
    for (const name of ['analytics', 'same', 'loud']) {
      keys.push(...commit(world, name, 4, name))
      if (parts > 1) await go(world, keys)
    }
    await go(world, keys)
    expect(world.platform.posts.length).toBe(parts > 1 ? 4 : 0)
    expect(world.platform.posts.length).toBeLessThanOrEqual(LIMIT)
  })
})

test('pipes whose Service nobody knows count for nobody', async () => {
  const world = await given()
  commit(world, 'lost', 6, 'nowhere')
  expect(await go(world, commit(world, 'one', 1))).toEqual({ New: 1 })
})

describe('over an hour', () => {
  test('says how many were made, in which service, and when it passes; and then it passes', async () => {
    const world = await given()
    const startedAt = world.clock.now()
    expect(await go(world, commit(world, 'a', 4))).toEqual({ New: 4 })
    await world.clock.advance(30 * MINUTE)
    const later = commit(world, 'b', 4)
    const [first = 'Pipe/none'] = later
    const { action, next } = await world.go(first)
    expect(action).toMatchObject({
      reason: 'CreateLimit',
      facts: { service: 'analytics', wanted: 4, made: 4, limit: LIMIT, until: startedAt + HOUR },
    })
    expect(messageOf(action, { key: first })).toBe(
      'Creates are paused in service analytics: 4 pending, 4 made within the last hour, and the create limit is 5 (--max-creates). ' +
        'They start automatically at 2026-01-01T01:00:00Z. If you intend so many creates, allow them once: "pipewright allow --service analytics". ' +
        'If not, revert the commit. To see the change in your checkout: git log -3 --stat.',
    )
    expect(await go(world, later)).toEqual({ CreateLimit: 4 })
    // It is looked at again and again, and so it goes out when the time has come.
    expect(next).toMatchObject({ why: 'drift' })
    expect(next?.afterMs).toBeLessThanOrEqual(10 * SECOND)
    await world.clock.advance(30 * MINUTE - SECOND)
    expect(await go(world, later)).toEqual({ CreateLimit: 4 })
    await world.clock.advance(MINUTE)
    expect(await go(world, later)).toEqual({ New: 4 })
  })

  test('one whose outcome is unknown counts, and one that had no effect does not', async () => {
    const world = await given()
    const lost = { type: 'fail', class: 'BadReply', effect: 'unknown', worked: true } as const
    const refused = { type: 'fail', class: 'Rejected', effect: 'none', worked: false } as const
    world.platform.script('create', ...Array.from({ length: 2 }, () => lost))
    await go(world, commit(world, 'unknown', 2))
    world.platform.script('create', ...Array.from({ length: 2 }, () => refused))
    const failed = commit(world, 'failed', 2)
    await go(world, failed)
    // They are pending again, and are taken over instead.
    expect(await go(world, commit(world, 'a', 2))).toEqual({ CreateLimit: 2 })
    for (const name of names('failed', 2)) {
      const adopt = world.platform.make(SERVICE_ID, { ...pipeBodyOf(name), name })
      world.directory.files.set(`${name}.yaml`, pipe(name, { policy: { adopt } }))
    }
    world.read()
    expect(await go(world, failed)).toEqual({ Adopt: 2 })
    expect(await go(world, commit(world, 'b', 1))).toEqual({ New: 1 })
    expect(await go(world, commit(world, 'c', 1))).toEqual({ CreateLimit: 1 })
  })

  test('a replacement counts, and the creation of what it replaces as well', async () => {
    const world = await given({}, { maxCreates: 3 })
    const [key = 'Pipe/none', witness = 'Pipe/none'] = commit(world, 'a', 2)
    await go(world, [key, witness])
    await world.clock.advance(2 * MINUTE)
    await go(world, [key, witness])
    expect(await replaced(world, key, witness)).toContain('Missing')
    expect(world.platform.posts).toHaveLength(3)
    const again = await given({}, { around: world.around, maxCreates: 3 })
    expect(await go(again, commit(again, 'b', 1))).toEqual({ CreateLimit: 1 })
  })
})

describe('many at once', () => {
  test.each([0, 3, 10, 30, 100, 300])(
    'with a commit after %i steps of the first, not more than the limit',
    async (steps) => {
      const world = await given()
      const running = commit(world, 'a', 4).map((key) => world.begin(key))
      for (let step = 0; step < steps; step += 1) await Promise.resolve()
      running.push(...commit(world, 'b', 2).map((key) => world.begin(key)))
      await endedOf(world.clock, running)
      expect(world.platform.posts.length).toBeLessThanOrEqual(LIMIT)
      await go(world, world.keys())
      expect(world.platform.posts.length).toBeLessThanOrEqual(LIMIT)
    },
  )
})

describe('what a person allowed', () => {
  const all = { dryRun: false, deletions: false }

  test('is nothing if more wait than that person saw, and not what is edited later', async () => {
    const world = await given()
    for (const where of [{}, { service: 'analytics' }])
      expect(await allowBlocked(world.context, { ...all, ...where })).toEqual({ allowed: [] })
    const six = commit(world, 'many', 6)
    await go(world, six)
    expect(await allowBlocked(world.context, { ...all, dryRun: true })).toEqual({ allowed: six })
    const nowhere = await allowBlocked(world.context, { ...all, service: 'nope' })
    expect(nowhere).toEqual({ allowed: [], isWithoutService: true })
    const one = commit(world, 'one', 1)
    await go(world, one)
    expect(await allowBlocked(world.context, { ...all, count: 6 })).toEqual({ blocked: 7 })
    expect(await go(world, six)).toEqual({ CreateLimit: 6 })
    expect(await allowBlocked(world.context, { ...all, count: 7 })).toMatchObject({
      allowed: [...six, ...one],
    })
    for (const name of names('many', 6)) world.write(`${name}.yaml`, pipe(name, { topics: 'another' }))
    expect(await go(world, [...six, ...one])).toEqual({ CreateLimit: 6, New: 1 })
  })

  test('does not count against what comes later, neither before it is made nor within the hour, nor after a restart', async () => {
    const world = await given()
    const many = commit(world, 'many', 6)
    expect(await go(world, many)).toEqual({ CreateLimit: 6 })
    await allowBlocked(world.context, all)
    expect(await go(world, commit(world, 'one', 1))).toEqual({ New: 1 })
    expect(await go(world, many)).toEqual({ New: 6 })
    expect(await go(world, commit(world, 'two', 1))).toEqual({ New: 1 })
    const again = await given({}, { around: world.around })
    expect(await go(again, commit(again, 'three', 3))).toEqual({ New: 3 })
    expect(await go(again, commit(again, 'four', 1))).toEqual({ CreateLimit: 1 })
  })
})

describe('a wall clock that is set', () => {
  test.each([
    ['ahead', 5 * HOUR],
    ['back', -5 * HOUR],
  ])('%s neither lets more pass nor holds anything for more than an hour', async (_how, ms) => {
    const world = await given()
    await go(world, commit(world, 'a', 4))
    world.clock.jump(ms)
    const later = commit(world, 'b', 4)
    expect(await go(world, later)).toEqual({ CreateLimit: 4 })
    await world.clock.advance(HOUR + MINUTE)
    expect(await go(world, later)).toEqual({ New: 4 })
  })

  test('back makes nothing count again that is older than an hour', async () => {
    const world = await given()
    const first = commit(world, 'a', 4)
    await go(world, first)
    await world.clock.advance(2 * HOUR)
    world.clock.jump(-24 * HOUR)
    for (const name of names('a', 4))
      world.directory.files.set(`${name}.yaml`, pipe(name, { policy: { interval: '20m' } }))
    world.read()
    await go(world, first)
    expect(await go(world, commit(world, 'b', 4))).toEqual({ New: 4 })
  })

  test('back under one process hides nothing from it that another one makes', async () => {
    const world = await given()
    world.clock.jump(-5 * HOUR)
    const other = await given({}, { around: world.around })
    const first = commit(other, 'a', 4)
    expect(await go(other, first)).toEqual({ New: 4 })
    world.read()
    expect(await go(world, first)).toEqual({ InSync: 4 })
    expect(await go(world, commit(world, 'b', 4))).toEqual({ CreateLimit: 4 })
  })

  test('back makes nothing count again of a key whose pipe is replaced', async () => {
    const world = await given({}, { maxCreates: 2 })
    const [key = 'Pipe/none', witness = 'Pipe/none'] = commit(world, 'a', 2)
    await go(world, [key, witness])
    await world.clock.advance(2 * HOUR)
    await go(world, [key, witness])
    world.clock.jump(-24 * HOUR)
    expect(await replaced(world, key, witness)).toContain('Missing')
    expect(await go(world, commit(world, 'b', 1))).toEqual({ New: 1 })
  })
})
