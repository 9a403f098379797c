import { isLockable } from '../../src/kinds/lookup.ts'
import { describe, expect, test } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { given, HOUR, type Given, type ProcessOptions } from './given.ts'
import { endpoint, pipe } from './manifests.ts'
import { play, times } from './story.ts'

/* Which 404s are believed is told in test/explore/stories.test.ts. */

const names = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`)
const keys = (count: number) => names(count).map((name): Key => `Pipe/${name}`)
const each = (step: string, count: number) =>
  names(count)
    .map((name) => `${step} ${name}`)
    .join('; ')
/** A turn of each, and of those that it asks for; then a minute. */
const round = (count: number) => `${each('visit', count)}; 1 min`

interface Options extends ProcessOptions {
  readonly policy?: JsonObject
}

/** So many pipes, made an hour ago, and seen since; then the story, in another process. */
async function settled(count: number, text: string, options: Options = {}): Promise<Given> {
  const { policy = {} } = options
  const files = Object.fromEntries(names(count).map((name) => [`${name}.yaml`, pipe(name, { policy })]))
  const before = await given(files, { maxCreates: 1_000 })
  await play(before, `${each('look', count)}; 1 h; ${each('look', count)}`)
  return play(await given({}, { ...options, around: before.around }), text)
}

/** As {@link settled}. @param sent creates in all */
async function expectSent(count: number, text: string, sent: number, options: Options = {}): Promise<void> {
  expect((await settled(count, text, options)).platform.posts).toHaveLength(sent)
}

describe('a pipe that is not found', () => {
  test('is looked for again soon, and the new one is recorded under a new intent', async () => {
    const world = await settled(2, '')
    const before = await world.record('Pipe/p0')
    await play(world, 'delete p0')
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

  test('is not replaced on words that stood there while it was found, but on those that are said anew', () =>
    expectSent(
      2,
      `write p0 recreate=#1; visit p0: InSync; delete p0; visit p0: MissingUnconfirmed;
      tells p0: Remove it and commit. After the next check, set it again; write p0; visit p0: MissingUnconfirmed;
      write p0 recreate=#1; visit p0: New gone`,
      3,
    ))

  test('is only reported, when the policy says so, and then nothing more is written', async () => {
    const reported = 'shown p0: Missing'
    const text = `delete p0; ${times(3, 'visit p0; 1 min')}; ${reported}`
    const world = await settled(2, text, { policy: { onMissing: 'report' } })
    const written = world.writes.length
    await play(world, `look p0; restart; ${times(5, 'visit p0; 1 min')}; ${reported}`)
    expect(world.writes).toHaveLength(written)
    expect(world.platform.posts).toHaveLength(2)
  })

  test('whose create is refused is retried later each time, while 404s are counted again', async () => {
    const cycle = `${times(3, 'visit p0; 40 s')}; 5 min; visit p0: MissingUnconfirmed`
    const world = await settled(2, `delete p0; create: refused for ever; ${times(7, cycle)}`)
    expect((await world.record('Pipe/p0')).backoff?.failures).toBeGreaterThan(3)
  })

  test('is not created from an invalid manifest, but held', () =>
    expectSent(1, `delete p0; write p0 invalid; ${times(4, 'look p0; 1 min')}; shown p0: Invalid`, 1))
})

describe('many pipes that are not found', () => {
  const THREE = each('look', 3).replaceAll('look', 'visit')

  test('the first one asks for a look at eight of its service', async () => {
    const world = await settled(12, 'delete p0')
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

  test('of which one comes back a second before the other, are not believed to be missing', () => {
    const unconfirmed = 'visit p0: MissingUnconfirmed'
    const waits = [1, 31, 27].map((wait) => `${wait} s; ${unconfirmed}`).join('; ')
    return expectSent(
      2,
      `hide p0; hide p1; ${times(4, `${unconfirmed}; 35 s`)}; show p1; visit p1: InSync; ${waits}; 1 s; visit p0: Missing`,
      3,
    )
  })

  test('of which one was still found beside the first 404 of the other, are not believed to be missing', () =>
    expectSent(2, `hide p0; visit p0; hide p1; ${times(5, '34 s; visit p0: MissingUnconfirmed')}`, 2))

  const MASS = each('visit', 3).replaceAll(/p\d/g, '$&: MassMissing')

  test('three of ten are too many to believe, however long it lasts, unless a person says so', () =>
    expectSent(
      10,
      `${each('delete', 3)}; ${times(5, round(10))}; ${MASS}; write p0 recreate=#1; visit p0: New gone`,
      11,
    ))

  test('a query endpoint of the service does not count as a pipe that is there', async () => {
    const world = await settled(10, '')
    world.write('endpoint.yaml', endpoint('analytics'))
    const looks = `${each('visit', 10)}; 1 s; look QueryEndpoint/analytics; 1 min`
    await play(world, `${each('delete', 3)}; ${times(5, looks)}; ${MASS}`)
    expect(world.platform.posts).toHaveLength(10)
  })

  test('two of ten are deletions', () => expectSent(10, `${each('delete', 2)}; ${times(4, round(10))}`, 12))

  test('are still too many after a restart, for the very first reconcile as well', () => {
    const first = names(5).map(
      (name) => `restart; visit ${name}: MissingUnconfirmed; shown ${name}: MassMissing`,
    )
    return expectSent(5, `${each('delete', 5)}; ${times(5, round(5))}; ${first.join('; ')}`, 5)
  })

  test('are still too many for one pass after another, each in a process of its own', () =>
    expectSent(5, `${each('delete', 5)}; ${times(6, `restart; ${each('look', 5)}; 1 min`)}`, 5))

  test('orphans that were missed once do not make the rest too many', () =>
    expectSent(
      8,
      `${each('delete', 3)}; ${THREE}; ${each('remove', 3)}; read again; ${each('visit', 8)}; restart; delete p7;
      ${times(4, round(8))}`,
      9,
    ))

  test.each([
    ['orphans', `${each('remove', 3)}; read again`],
    ['suspended', each('write', 3).replaceAll(/p\d/g, '$& suspended')],
  ])('that are %s since do not make the rest too many', (_, left) =>
    expectSent(8, `${each('delete', 3)}; ${THREE}; ${left}; 1 min; delete p7; ${times(4, round(8))}`, 9),
  )

  test('are counted also when the clock was set back by an hour', async () => {
    const world = await settled(10, each('visit', 10))
    world.clock.jump(-HOUR)
    await play(world, `${each('delete', 10)}; ${times(3, 'visit p0; 35 s')}; visit p0: MassMissing`)
    expect(world.platform.posts).toHaveLength(10)
  })
})

describe('the create limit, when pipes are missing', () => {
  const FEW = { maxCreates: 3 }

  test('more than it lets pass are all refused, the first as well', () => {
    const refused = each('visit', 4).replaceAll(/p\d/g, '$&: CreateLimit')
    return expectSent(14, `${each('delete', 4)}; ${times(3, round(14))}; ${refused}`, 14, FEW)
  })

  test('as many as it lets pass are created', () =>
    expectSent(14, `${each('delete', 3)}; ${times(4, round(14))}`, 17, FEW))

  test('a service that is out of sight does not limit the creations of another', () =>
    expectSent(6, `${each('delete', 6)}; ${times(4, round(6))}; write new; look new: create New`, 7, FEW))
})
