import { viewMessage } from '../support/messages.ts'
import { isLockable } from '../../src/kinds/lookup.ts'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { Given } from './given.ts'
import { given, HOUR, MINUTE, SECOND } from './given.ts'
import { endpoint, pipe } from './manifests.ts'

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)
const keys = (count: number) => names(count).map((name): Key => `Pipe/${name}`)

/** So many pipes, made an hour ago, and seen since. */
async function settled(
  count: number,
  options: { readonly maxCreates?: number; readonly policy?: object } = {},
) {
  const policy = options.policy === undefined ? {} : { policy: { ...options.policy } }
  const files = Object.fromEntries(names(count).map((name) => [`${name}.yaml`, pipe(name, policy)]))
  const world = await given(files, { maxCreates: 1_000 })
  for (const key of keys(count)) await world.go(key)
  await world.clock.advance(HOUR)
  for (const key of keys(count)) await world.go(key)
  return given({}, { around: world.around, maxCreates: options.maxCreates ?? 25 })
}

async function vanish(world: Given, ...gone: readonly Key[]): Promise<void> {
  for (const key of gone) world.platform.pipes.delete((await world.record(key)).remote?.id ?? '')
}

/** Pipes that are there, and are answered 404. @returns what shows one again */
async function hide(world: Given, ...hidden: readonly Key[]): Promise<(key: Key) => void> {
  const { pipes } = world.platform
  const kept = new Map<Key, () => void>()
  for (const key of hidden) {
    const id = (await world.record(key)).remote?.id ?? ''
    const hiding = pipes.get(id)
    if (hiding === undefined) throw new Error(`${key} is not there`)
    kept.set(key, () => pipes.set(id, hiding))
    pipes.delete(id)
  }
  return (key) => kept.get(key)?.()
}

/** Turns of these keys, and of those that they ask for. @returns reasons of the keys, in order */
async function reasonsOf(world: Given, ...which: readonly Key[]): Promise<readonly string[]> {
  const reasons = []
  for (const key of which) {
    const { action, also } = await world.go(key)
    reasons.push(action.reason)
    for (const other of also) await world.go(other)
  }
  return reasons
}

/* Which 404s are believed is told in test/explore/stories.test.ts. */

describe('a pipe that is not found', () => {
  test('is looked for again soon, and the new one is recorded under a new intent', async () => {
    const world = await settled(2)
    await vanish(world, 'Pipe/p0')
    const before = await world.record('Pipe/p0')
    for (let look = 0; look < 2; look += 1) {
      const { next } = await world.go('Pipe/p0')
      await world.go('Pipe/p1')
      expect(next).toEqual({ why: 'retry', afterMs: 34_100 })
      await world.clock.advance(next?.afterMs ?? 0)
    }
    await world.go('Pipe/p0')
    const after = await world.record('Pipe/p0')
    expect(after.intent).toMatchObject({ attempt: 2, reason: 'Missing' })
    expect(after.remote?.id).not.toBe(before.remote?.id)
    expect(after.replaced).toMatchObject({ count: 1 })
    const told = (await world.ledger.history({ key: 'Pipe/p0', limit: 9 })).map(({ message }) => message)
    expect(told).toContain(`Pipe ${after.remote?.id} was created in place of pipe ${before.remote?.id}.`)
  })

  test('is not replaced on words that stood there while it was found', async () => {
    const world = await settled(2)
    const { remote: had } = await world.record('Pipe/p0')
    const says = pipe('p0', { policy: { recreate: had?.id ?? '' } })
    world.write('p0.yaml', says)
    expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['InSync'])
    await vanish(world, 'Pipe/p0')
    expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['MissingUnconfirmed'])
    expect(viewMessage(world.board.get('Pipe/p0'))).toContain('remove policy.recreate and add it again')

    // Taken back, and said anew, it is believed.
    world.write('p0.yaml', pipe('p0'))
    expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['MissingUnconfirmed'])
    world.write('p0.yaml', says)
    expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['RecreateApproved'])
    expect(world.platform.posts).toHaveLength(3)
  })

  test('is only reported, when the policy says so, and then nothing more is written', async () => {
    const world = await settled(2, { policy: { onMissing: 'report' } })
    await vanish(world, 'Pipe/p0')
    for (let look = 0; look < 3; look += 1) {
      await reasonsOf(world, 'Pipe/p0')
      await world.clock.advance(MINUTE)
    }
    expect(world.board.get('Pipe/p0')).toMatchObject({ status: 'Missing', reason: 'Missing' })
    const written = world.writes.length
    await world.go('Pipe/p0')
    expect(world.writes).toHaveLength(written)
    expect(world.platform.posts).toHaveLength(2)

    const again = await given({}, { around: world.around })
    for (let look = 0; look < 5; look += 1) {
      await reasonsOf(again, 'Pipe/p0')
      await again.clock.advance(MINUTE)
    }
    expect(again.board.get('Pipe/p0')).toMatchObject({ status: 'Missing', reason: 'Missing' })
    expect(world.writes).toHaveLength(written)
  })

  test('is not created from an invalid manifest, but held', async () => {
    const world = await settled(1)
    await vanish(world, 'Pipe/p0')
    world.write('p0.yaml', pipe('p0', { more: { unknown: 1 } }))
    for (let look = 0; look < 4; look += 1) {
      await world.go('Pipe/p0')
      await world.clock.advance(MINUTE)
    }
    expect(world.board.get('Pipe/p0')).toMatchObject({ status: 'Invalid' })
    expect(world.platform.posts).toHaveLength(1)
  })
})

describe('many pipes that are not found', () => {
  test('the first one asks for a look at eight of its service', async () => {
    const world = await settled(12)
    await vanish(world, 'Pipe/p0')
    const also = (await world.go('Pipe/p0')).also.filter((key) => isLockable(key))
    expect(also).toHaveLength(8)
    expect(keys(12).slice(1)).toEqual(expect.arrayContaining([...also]))
    // Spread over all of them: a loss that begins in the middle shows.
    expect(also).toEqual(expect.arrayContaining(['Pipe/p7', 'Pipe/p8', 'Pipe/p9']))
    await world.clock.advance(1)
    for (const key of also) await world.go(key)
    await world.clock.advance(1)
    expect((await world.go('Pipe/p0')).also).toHaveLength(8) // they speak for the next minute only
  })

  test('of which one comes back a second before the other, are not believed to be missing', async () => {
    const world = await settled(2)
    const show = await hide(world, 'Pipe/p0', 'Pipe/p1')
    for (let look = 0; look < 4; look += 1) {
      expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['MissingUnconfirmed'])
      await world.clock.advance(35 * SECOND)
    }
    show('Pipe/p1')
    expect(await reasonsOf(world, 'Pipe/p1')).toEqual(['InSync'])
    for (const wait of [1, 31, 27]) {
      await world.clock.advance(wait * SECOND)
      expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['MissingUnconfirmed'])
    }
    await world.clock.advance(SECOND)
    expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['Missing'])
  })

  test('of which one was still found beside the first 404 of the other, are not believed to be missing', async () => {
    const world = await settled(2)
    await hide(world, 'Pipe/p0')
    await reasonsOf(world, 'Pipe/p0')
    await hide(world, 'Pipe/p1')
    for (let look = 0; look < 5; look += 1) {
      await world.clock.advance(34 * SECOND)
      expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['MissingUnconfirmed'])
    }
    expect(world.platform.posts).toHaveLength(2)
  })

  test('three of ten are too many to believe, however long it lasts', async () => {
    const world = await settled(10)
    await vanish(world, ...keys(3))
    for (let round = 0; round < 5; round += 1) {
      await reasonsOf(world, ...keys(10))
      await world.clock.advance(MINUTE)
    }
    expect(await reasonsOf(world, ...keys(3))).toEqual(['MassMissing', 'MassMissing', 'MassMissing'])
    expect(world.platform.posts).toHaveLength(10)
  })

  test('a query endpoint of the service does not count as a pipe that is there', async () => {
    const world = await settled(10)
    world.write('endpoint.yaml', endpoint('analytics'))
    await vanish(world, ...keys(3))
    for (let round = 0; round < 5; round += 1) {
      await reasonsOf(world, ...keys(10))
      await world.clock.advance(SECOND)
      await world.go('QueryEndpoint/analytics')
      await world.clock.advance(MINUTE)
    }
    expect(await reasonsOf(world, ...keys(3))).toEqual(['MassMissing', 'MassMissing', 'MassMissing'])
    expect(world.platform.posts).toHaveLength(10)
  })

  test('two of ten are deletions', async () => {
    const world = await settled(10)
    await vanish(world, ...keys(2))
    for (let round = 0; round < 4; round += 1) {
      await reasonsOf(world, ...keys(10))
      await world.clock.advance(MINUTE)
    }
    expect(world.platform.posts).toHaveLength(12)
  })

  test('are still too many after a restart, for the very first reconcile as well', async () => {
    const world = await settled(5)
    await vanish(world, ...keys(5))
    for (let round = 0; round < 5; round += 1) {
      await reasonsOf(world, ...keys(5))
      await world.clock.advance(MINUTE)
    }
    for (const first of keys(5)) {
      const again = await given({}, { around: world.around })
      expect(await reasonsOf(again, first)).toEqual(['MissingUnconfirmed'])
      expect(again.board.get(first)).toMatchObject({ reason: 'MassMissing' })
    }
    expect(world.platform.posts).toHaveLength(5)
  })

  test('are still too many for one pass after another, each in a process of its own', async () => {
    const world = await settled(5)
    await vanish(world, ...keys(5))
    for (let run = 0; run < 6; run += 1) {
      const process = await given({}, { around: world.around })
      for (const key of keys(5)) await process.go(key)
      await world.clock.advance(MINUTE)
    }
    expect(world.platform.posts).toHaveLength(5)
  })

  test('orphans that were missed once do not make the rest too many', async () => {
    const world = await settled(8)
    await vanish(world, ...keys(3))
    await reasonsOf(world, ...keys(3))
    for (const name of names(3)) world.remove(`${name}.yaml`)
    world.readAgain()
    await reasonsOf(world, ...keys(8))
    const again = await given({}, { around: world.around })
    await vanish(again, 'Pipe/p7')
    for (let round = 0; round < 4; round += 1) {
      await reasonsOf(again, ...keys(8))
      await again.clock.advance(MINUTE)
    }
    expect(world.platform.posts).toHaveLength(9)
  })

  test('are counted also when the clock was set back by an hour', async () => {
    const world = await settled(10)
    await reasonsOf(world, ...keys(10))
    world.clock.jump(-HOUR)
    await vanish(world, ...keys(10))
    for (let look = 0; look < 3; look += 1) {
      await reasonsOf(world, 'Pipe/p0')
      await world.clock.advance(35 * SECOND)
    }
    expect(await reasonsOf(world, 'Pipe/p0')).toEqual(['MassMissing'])
    expect(world.platform.posts).toHaveLength(10)
  })
})

describe('the create limit, when pipes are missing', () => {
  test('more than it lets pass are all refused, the first as well', async () => {
    const world = await settled(14, { maxCreates: 3 })
    await vanish(world, ...keys(4))
    for (let round = 0; round < 3; round += 1) {
      await reasonsOf(world, ...keys(14))
      await world.clock.advance(MINUTE)
    }
    expect(await reasonsOf(world, ...keys(4))).toEqual(Array.from({ length: 4 }, () => 'CreateLimit'))
    expect(world.platform.posts).toHaveLength(14)
  })

  test('as many as it lets pass are created', async () => {
    const world = await settled(14, { maxCreates: 3 })
    await vanish(world, ...keys(3))
    for (let round = 0; round < 4; round += 1) {
      await reasonsOf(world, ...keys(14))
      await world.clock.advance(MINUTE)
    }
    expect(world.platform.posts).toHaveLength(17)
  })

  test('a service that is out of sight does not limit the creations of another', async () => {
    const world = await settled(6, { maxCreates: 3 })
    await vanish(world, ...keys(6))
    for (let round = 0; round < 4; round += 1) {
      await reasonsOf(world, ...keys(6))
      await world.clock.advance(MINUTE)
    }
    world.write('new.yaml', pipe('new'))
    expect((await world.go('Pipe/new')).action).toMatchObject({ type: 'create', reason: 'New' })
  })
})
