import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createReplyCache, eachInSteps, type Steps } from '../../src/server/api/reply-cache.ts'

/** Work that says how often it was begun. */
function counted(text: string) {
  const counts = { begun: 0 }
  function* work(): Steps<string> {
    counts.begun += 1
    yield
    return text
  }
  return { counts, work }
}

function* failing(): Steps<string> {
  yield
  throw new Error('it failed')
}

/** Something that takes about as many ms. */
function spin(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

function* long(): Steps<string> {
  for (let step = 0; step < 100; step += 1) {
    spin(1)
    yield
  }
  return 'long'
}

describe('a reply', () => {
  it('is worked out once for all who ask at one version', async () => {
    const cache = createReplyCache()
    const { counts, work } = counted('text')
    const asked = Array.from({ length: 8 }, () => cache.get('q', '1', work))
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['text']))
    await cache.get('q', '1', work)
    expect(counts.begun).toBe(1)
    await cache.get('q', '2', work)
    await cache.get('another', '2', work)
    expect(counts.begun).toBe(3)
  })

  it('is worked out in pieces, and what else there is to do goes on between them', async () => {
    let turns = 0
    const progress = { done: false }
    const reply = createReplyCache()
      .get('q', '1', long)
      .finally(() => void (progress.done = true))
    while (!progress.done) {
      await setImmediate()
      turns += 1
    }
    expect(await reply).toBe('long')
    // 100 ms of work, of which 2 ms are done at a time
    expect(turns).toBeGreaterThan(25)
  })

  it('is worked out after the one before it', async () => {
    const cache = createReplyCache()
    const order: string[] = []
    const first = cache.get('a', '1', long).then((text) => order.push(text))
    const second = cache.get('b', '1', counted('short').work).then((text) => order.push(text))
    await Promise.all([first, second])
    expect(order).toEqual(['long', 'short'])
  })

  it('that failed is not kept, and keeps nobody waiting', async () => {
    const cache = createReplyCache()
    await expect(cache.get('q', '1', failing)).rejects.toThrow('it failed')
    expect(await cache.get('q', '1', counted('text').work)).toBe('text')
  })

  it('is refused when 64 others wait', async () => {
    const cache = createReplyCache()
    const { counts, work } = counted('text')
    const asked = Array.from({ length: 100 }, (_, index) => cache.get(`q${index}`, '1', work))
    const ended = await Promise.allSettled(asked)
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(64)
    expect(ended.at(-1)).toMatchObject({ reason: { statusCode: 429, hint: expect.stringContaining('64') } })
    expect(counts.begun).toBe(64)
    expect(await cache.get('q99', '1', work)).toBe('text')
  })
})

describe('what is kept', () => {
  it('is 32 replies, of which the one that was asked for longest ago goes first', async () => {
    const cache = createReplyCache()
    const first = counted('first')
    const second = counted('second')
    await cache.get('first', '1', first.work)
    await cache.get('second', '1', second.work)
    for (let index = 0; index < 31; index += 1) {
      await cache.get('first', '1', first.work)
      await cache.get(`q${index}`, '1', counted('').work)
    }
    await cache.get('first', '1', first.work)
    await cache.get('second', '1', second.work)
    expect([first.counts.begun, second.counts.begun]).toEqual([1, 2])
  })

  it('is 16 million letters', async () => {
    const cache = createReplyCache()
    const { counts, work } = counted('x'.repeat(6_000_000))
    for (const question of ['a', 'b', 'c']) await cache.get(question, '1', work)
    await cache.get('c', '1', work)
    await cache.get('b', '1', work)
    expect(counts.begun).toBe(3)
    await cache.get('a', '1', work)
    expect(counts.begun).toBe(4)
  })
})

it('steps over a list come often enough', () => {
  let seen = 0
  const steps = eachInSteps(Array.from({ length: 1_000 }), () => (seen += 1))
  let pauses = 0
  while (steps.next().done !== true) pauses += 1
  expect([seen, pauses]).toEqual([1_000, 10])
})
