import { describe, test, type ExpectStatic } from 'vitest'
import { until } from '../support/until.ts'
import { gateways, nameIn, ownError, type FakeRequest, type Reply } from './support/fake-platform.ts'
import type { Live } from '../support/live.ts'
import { createStory, keyIdOf, type StartOptions, type Story } from './support/story.ts'
import { ANALYTICS } from '../support/manifests.ts'

/*
 * Rows 1, 5 and 6: what is believed to be missing. The clocks of the program run five times as fast where only its own
 * minutes matter; the times here are those of the machine.
 */

const FAST: StartOptions = { speed: 5 }
const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)

/** So many pipes, made an hour ago and seen just now. */
async function settled(story: Story, count: number, options: StartOptions = FAST): Promise<Live> {
  for (const name of names(count)) story.writePipe(name)
  await story.created(names(count))
  const live = await story.start(['--interval', '2s'], options)
  await until('each to be seen', () =>
    story.platform.world.pipes.every(({ id }) => story.platform.gets(id).length > 0),
  )
  for (const name of names(count)) await live.says(`Pipe/${name}`, 'Ready')
  return live
}

/** Times of the 404s for a pipe. */
function misses({ platform }: Story, id: string): readonly number[] {
  return platform.gets(id).flatMap(({ status, at }) => (status === 404 ? [at] : []))
}

/** Whether a pipe was not found over so long, in times of the machine. */
function missedFor(story: Story, id: string, ms: number): boolean {
  const times = misses(story, id)
  return (times.at(-1) ?? 0) - (times[0] ?? Infinity) >= ms
}

/** Creates that came after the first ones. */
function replacements({ platform }: Story, count: number): readonly FakeRequest[] {
  return platform.posts().slice(count)
}

/** The names in them. */
function replaced(story: Story, count: number): readonly string[] {
  return replacements(story, count).map((request) => nameIn(request) ?? '')
}

async function expectAsBefore(story: Story, live: Live, count: number, expect: ExpectStatic): Promise<void> {
  const { pipes } = story.platform.world
  expect(pipes.map(({ name }) => name).toSorted()).toEqual(names(count).toSorted())
  // At once, and not when a failed look is due again.
  live.program.signal('SIGHUP')
  for (const { name, id } of pipes) {
    expect(await live.says(`Pipe/${name}`, 'Ready')).toMatchObject({ pipeId: id })
  }
}

describe.concurrent('row 1: a permission that is lost and given back', () => {
  test('eight services of two pipes each on one key, in real time: no create goes out, and no id is given up', async ({
    expect,
  }) => {
    const services = names(8).map((name, index) => ({
      name: `service-${name}`,
      serviceId: ANALYTICS.serviceId.replace(/^......../, `0000000${index}`),
      secret: ANALYTICS.secret,
    }))
    await using story = await createStory(services)
    const { world } = story.platform
    const all = names(16)
    all.forEach((name, index) => story.writePipe(name, { service: `service-p${index % 8}` }))
    await story.created(all)
    const live = await story.start(['--interval', '2s'])
    await until('each to be seen', () => world.pipes.every(({ id }) => story.platform.gets(id).length > 0))
    for (const name of all) await live.says(`Pipe/${name}`, 'Ready')

    world.forbidden.add(keyIdOf(ANALYTICS.secret))
    await until(
      'each to be missed for more than a minute, or replaced',
      () =>
        all.every(
          (name) => missedFor(story, world.pipe(name).id, 65_000) || replaced(story, 16).includes(name),
        ),
      170_000,
    )
    const reasons = await Promise.all(all.map(async (name) => (await live.resource(`Pipe/${name}`))?.reason))
    world.forbidden.clear()
    for (const name of all) await live.says(`Pipe/${name}`, 'Ready')
    expect(all.filter((name) => world.named(name).length > 1)).toEqual([])
    await expectAsBefore(story, live, 16, expect)
    expect(replaced(story, 16)).toEqual([])
    expect(new Set(reasons)).toEqual(new Set(['MassMissing']))
  })

  const REFUSALS: readonly { readonly what: string; readonly reply: Reply }[] = [
    { what: '403', reply: ownError(403) },
    { what: '401', reply: ownError(401) },
    { what: '404', reply: ownError(404) },
    { what: '400', reply: ownError(400) },
    { what: '429', reply: ownError(429, { 'Retry-After': '5' }) },
  ]
  test.for(REFUSALS)(
    'a replacement that is refused with $what gives the id back',
    async ({ reply }, { expect }) => {
      await using story = await createStory()
      const { platform } = story
      const live = await settled(story, 4)
      const { id } = platform.world.pipe('p0')
      platform.world.hidden.add(id)
      platform.decide = ({ operation }) =>
        operation === 'createPipe' && replacements(story, 4).length === 1
          ? { ...reply, before: () => platform.world.hidden.clear() }
          : undefined
      const held = await live.says('Pipe/p0', 'MissingUnconfirmed')
      expect(held.pipeId).toBe(id)
      await until('the replacement to be refused', () => replacements(story, 4).length === 1)
      await expectAsBefore(story, live, 4, expect)
      const history = await live.history('Pipe/p0')
      await live.stop()
      const again = await story.start(['--interval', '1s'])
      await expectAsBefore(story, again, 4, expect)
      expect((await again.history('Pipe/p0')).length).toBeGreaterThanOrEqual(history.length)
      expect(replacements(story, 4)).toHaveLength(1)
    },
  )

  test('a replacement that goes out is preceded by one more look at the old pipe, right before it', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await settled(story, 4)
    const old = platform.world.pipe('p0')
    platform.world.hidden.add(old.id)
    await until('the replacement', () => replacements(story, 4).length === 1)
    const [create] = replacements(story, 4)
    const before = platform.requests.filter(
      ({ id, serviceId }) => id === old.id && serviceId === old.serviceId,
    )
    const last = before.findLast(({ at }) => at < (create?.at ?? 0))
    expect(last?.status).toBe(404)
    // Between the two lies the intent on its disk, and nothing else.
    expect((create?.at ?? 0) - (last?.at ?? 0)).toBeLessThan(3_000)
    expect(misses(story, old.id).length).toBeGreaterThanOrEqual(4)
    const made = platform.world.named('p0').at(-1)
    const ready = await live.says('Pipe/p0', 'Ready')
    expect(ready.pipeId).toBe(made?.id)
    expect(platform.world.pipes).toHaveLength(5)
  })

  test('a pipe that comes back for that last look is kept', async ({ expect }) => {
    await using story = await createStory()
    const { platform } = story
    const live = await settled(story, 4)
    const { id } = platform.world.pipe('p0')
    platform.world.hidden.add(id)
    // The fourth look is the one before the create, however the first three were spaced.
    platform.decide = (request) => {
      if (request.id === id && misses(story, id).length >= 3) platform.world.hidden.clear()
      return undefined
    }
    await until('three misses', () => misses(story, id).length >= 3)
    const looks = platform.gets(id).length
    await until('three more looks', () => platform.gets(id).length >= looks + 3)
    await expectAsBefore(story, live, 4, expect)
    expect(replaced(story, 4)).toEqual([])
  })
})

describe.concurrent('row 5: siblings that cannot be read are no witnesses', () => {
  test('2 of 10 pipes answer 404 while 8 answer 503: nothing is created, until a sibling is seen', async ({
    expect,
  }) => {
    await using story = await createStory()
    const { platform } = story
    const { world } = platform
    const live = await settled(story, 10)
    const gone = new Set(['p0', 'p1'].map((name) => world.pipe(name).id))
    for (const id of gone) world.hidden.add(id)
    platform.decide = ({ operation, id }) =>
      operation === 'getPipe' && !gone.has(id ?? '') ? ownError(503) : undefined
    await until(
      'both to be missed for two minutes of the program, or replaced',
      () => replacements(story, 10).length > 0 || [...gone].every((id) => missedFor(story, id, 120_000 / 5)),
    )
    expect(replaced(story, 10)).toEqual([])
    for (const name of ['p0', 'p1']) {
      const held = await live.says(`Pipe/${name}`, 'MissingUnconfirmed')
      expect(gone).toContain(held.pipeId)
    }
    // One sibling that is seen shows that the key still sees the service: now they are gone indeed.
    const { id: witness } = world.pipe('p2')
    const others = new Set(world.pipes.map((pipe) => pipe.id).filter((id) => !gone.has(id) && id !== witness))
    platform.decide = ({ id }) => (others.has(id ?? '') ? ownError(503) : undefined)
    for (const name of ['p0', 'p1']) {
      await until(`${name} to be replaced`, () => world.named(name).length === 2)
      const ready = await live.says(`Pipe/${name}`, 'Ready')
      expect(ready.pipeId).toBe(world.named(name)[1]?.id)
    }
    expect(replacements(story, 10)).toHaveLength(2)
  })

  test('a sibling of another service, or on another key, is no witness', async ({ expect }) => {
    const billing = {
      name: 'billing',
      serviceId: '3d0e6f51-9b7c-4a25-8d13-5c2f7a9e0b66',
      secret: 'billing-api',
    }
    const reports = {
      name: 'reports',
      serviceId: '8a4b2c60-1f3e-4d97-b5a8-60c1d2e3f477',
      secret: ANALYTICS.secret,
    }
    await using story = await createStory([ANALYTICS, billing, reports])
    const { platform } = story
    for (const name of ['p0', 'p1']) story.writePipe(name)
    for (const name of ['b0', 'b1', 'b2', 'b3']) story.writePipe(name, { service: 'billing' })
    for (const name of ['r0', 'r1', 'r2', 'r3']) story.writePipe(name, { service: 'reports' })
    const all = ['p0', 'p1', 'b0', 'b1', 'b2', 'b3', 'r0', 'r1', 'r2', 'r3']
    await story.created(all)
    const live = await story.start(['--interval', '2s'], FAST)
    for (const name of all) await live.says(`Pipe/${name}`, 'Ready')
    await until('each to be seen', () => platform.world.pipes.every(({ id }) => platform.gets(id).length > 0))
    const { id } = platform.world.pipe('p0')
    const { id: sibling } = platform.world.pipe('p1')
    platform.world.hidden.add(id)
    platform.decide = (request) => (request.id === sibling ? ownError(503) : undefined)
    await until(
      'it to be missed for two minutes of the program, or replaced',
      () => replacements(story, 10).length > 0 || missedFor(story, id, 120_000 / 5),
    )
    expect(replaced(story, 10)).toEqual([])
    expect(await live.resource('Pipe/p0')).toMatchObject({ reason: 'MissingUnconfirmed', pipeId: id })
  })
})

/** 404s of which none is the platform's own. */
const GATEWAYS: Readonly<Record<string, Reply>> = {
  p0: gateways(404, JSON.stringify({ status: 404, requestId: 'gw-7f3a', error: 'no route' })),
  p1: gateways(404, JSON.stringify({ requestId: 'c1a5e6f0-7b42-4d19-9e83-0a6d2f4b8c57', error: 'no route' })),
  p2: gateways(404, JSON.stringify({ status: 502, requestId: 'c1a5e6f0-7b42-4d19-9e83-0a6d2f4b8c57' })),
  p3: gateways(404, JSON.stringify({ status: 404, error: 'no route' })),
  p4: gateways(404, JSON.stringify({ status: '404', requestId: 'c1a5e6f0-7b42-4d19-9e83-0a6d2f4b8c57' })),
  p5: gateways(404),
  p6: gateways(404, ''),
}

describe.concurrent('row 6: a 404 that is not the platform’s own', () => {
  test.for([
    { what: 'few among many', count: 25 },
    { what: 'all there are', count: 7 },
  ])('says nothing about the pipe, whatever it looks like: $what', async ({ count }, { expect }) => {
    await using story = await createStory()
    const { platform } = story
    const { world } = platform
    const live = await settled(story, count, { speed: 10 })
    const replies = new Map(Object.entries(GATEWAYS).map(([name, reply]) => [world.pipe(name).id, reply]))
    platform.decide = ({ id }) => replies.get(id ?? '')
    await until(
      'all to be missed for a minute and a half of the program, or one replaced',
      () =>
        replacements(story, count).length > 0 ||
        [...replies.keys()].every((id) => missedFor(story, id, 90_000 / 10)),
    )
    expect(replaced(story, count)).toEqual([])
    for (const name of Object.keys(GATEWAYS)) {
      expect((await live.resource(`Pipe/${name}`))?.reason).toBe('Unavailable')
    }
    platform.decide = () => undefined
    await expectAsBefore(story, live, count, expect)
  })
})
