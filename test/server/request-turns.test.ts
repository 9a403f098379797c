import { expect, it } from 'vitest'
import { createFakeClock } from '../support/fake-clock.ts'
import { fakeParts } from './fake-parts.ts'
import { ask, running } from './running.ts'

/** Of an overview, and so of the rest after it: ms. */
const WORK_MS = 2

/** A server that rests after its first overview. */
async function resting() {
  const clock = createFakeClock()
  const parts = fakeParts()
  const counts = { overviews: 0 }
  const { url } = await running({
    ...parts,
    clock: { ...clock, monotonic: () => clock.monotonic() + counts.overviews * WORK_MS },
    overview() {
      counts.overviews += 1
      return parts.overview()
    },
  })
  const overview = (init?: RequestInit) => ask(`${url}/api/v1/overview`, init)
  await overview()
  return {
    clock,
    counts,
    overview,
    probe: async (path: string) => (await fetch(`${url}/${path}`)).ok,
    /** What was sent before has arrived. */
    arrived: async () => {
      for (let count = 0; count < 5; count += 1) await fetch(`${url}/healthz`)
    },
  }
}

it('half of the time is for other work, however many requests wait', async () => {
  const { clock, counts, overview, arrived } = await resting()
  const replies = [1, 2, 3].map(() => overview())
  await arrived()
  for (let count = 1; count <= 3; count += 1) {
    await clock.advance(WORK_MS - 1)
    await arrived()
    expect(counts.overviews).toBe(count)
    await clock.advance(1)
  }
  await Promise.all(replies)
  expect(counts.overviews).toBe(4)
})

it.each(['healthz', 'metrics'])('/%s waits for no request of the API', async (path) => {
  const { clock, counts, overview, probe, arrived } = await resting()
  const waiting = overview()
  await arrived()
  expect(await probe(path)).toBe(true)
  expect(counts.overviews).toBe(1)
  await clock.advance(WORK_MS)
  await waiting
})

it('a request is not answered if its client is gone', async () => {
  const { clock, counts, overview, arrived } = await resting()
  const leaving = new AbortController()
  const gone = [1, 2, 3].map(() => overview({ signal: leaving.signal }).catch(() => 'gone'))
  await arrived()
  leaving.abort()
  expect(await Promise.all(gone)).toEqual(['gone', 'gone', 'gone'])
  await arrived()
  const last = overview()
  await arrived()
  await clock.advance(10 * WORK_MS)
  expect(counts.overviews).toBe(2)
  expect((await last).status).toBe(200)
})
