import { describe, expect, it } from 'vitest'
import { createNudges, type NudgeCause } from '../../src/daemon/watch-nudges.ts'
import { createFakeClock } from '../support/fake-clock.ts'

async function setUp() {
  const clock = createFakeClock()
  const disk = { look: async () => disk.state, state: 'one', looks: 0 }
  const nudged: (readonly [number, NudgeCause])[] = []
  const nudges = createNudges({
    clock,
    quietMs: 250,
    noisyLimitMs: 5_000,
    pollMs: 2_000,
    fullMs: 300_000,
    pollingFullMs: 10_000,
    cheapLook: () => {
      disk.looks += 1
      return disk.look()
    },
    onNudge: (cause) => nudged.push([clock.monotonic(), cause]),
  })
  await nudges.start()
  return { clock, disk, nudged, nudges }
}

describe('events', () => {
  it('become one nudge when it has been quiet for 250 ms', async () => {
    const { clock, nudged, nudges } = await setUp()
    for (let n = 0; n < 1_000; n += 1) nudges.event()
    await clock.advance(100)
    nudges.event()
    await clock.advance(249)
    expect(nudged).toEqual([])
    await clock.advance(1)
    expect(nudged).toEqual([[350, 'event']])
    await clock.advance(10_000)
    expect(nudged).toHaveLength(1)
  })

  it('nudge every 5 s at the latest when it is never quiet', async () => {
    const { clock, nudged, nudges } = await setUp()
    for (let n = 0; n < 120; n += 1) {
      nudges.event()
      await clock.advance(100)
    }
    expect(nudged).toEqual([
      [5_000, 'event'],
      [10_000, 'event'],
    ])
  })

  it('need one timer, however many there are', async () => {
    const { clock, nudges } = await setUp()
    const before = clock.pending
    for (let n = 0; n < 1_000; n += 1) nudges.event()
    expect(clock.pending).toBe(before + 1)
  })
})

describe('a poll that sees a change', () => {
  it('gives the event one poll period, and then nudges itself: nobody else noticed', async () => {
    const { clock, disk, nudged } = await setUp()
    await clock.advance(1_000)
    disk.state = 'two'
    await clock.advance(2_999)
    expect(nudged).toEqual([])
    await clock.advance(1)
    expect(nudged).toEqual([[4_000, 'poll']])
    await clock.advance(60_000)
    expect(nudged).toHaveLength(1)
  })

  it('says nothing when the event comes late, within that period', async () => {
    const { clock, disk, nudged, nudges } = await setUp()
    disk.state = 'two'
    await clock.advance(3_900)
    nudges.event()
    await clock.advance(60_000)
    expect(nudged).toEqual([[4_150, 'event']])
  })

  it('says nothing when an event is waiting for quiet', async () => {
    const { clock, disk, nudged, nudges } = await setUp()
    await clock.advance(1_900)
    disk.state = 'two'
    nudges.event()
    await clock.advance(60_000)
    expect(nudged).toEqual([[2_150, 'event']])
  })

  it('says nothing when the event was delivered since the last poll', async () => {
    const { clock, disk, nudged, nudges } = await setUp()
    await clock.advance(100)
    disk.state = 'two'
    nudges.event()
    await clock.advance(60_000)
    expect(nudged).toEqual([[350, 'event']])
  })

  it('still finds a change that came after the delivered event, in the same poll period', async () => {
    const { clock, disk, nudged, nudges } = await setUp()
    disk.state = 'two'
    nudges.event()
    await clock.advance(1_000)
    disk.state = 'three' // and no event
    await clock.advance(60_000)
    expect(nudged).toEqual([
      [250, 'event'],
      [4_000, 'poll'],
    ])
  })

  it('says nothing when the change was taken back', async () => {
    const { clock, disk, nudged } = await setUp()
    disk.state = 'two'
    await clock.advance(2_500)
    disk.state = 'one'
    await clock.advance(60_000)
    expect(nudged).toEqual([])
  })

  it('takes a root that cannot be looked at for a change, and its return for another', async () => {
    const { clock, disk, nudged } = await setUp()
    const fine = disk.look
    disk.look = () => Promise.reject(new Error('EIO'))
    await clock.advance(4_000)
    disk.look = fine
    await clock.advance(4_000)
    expect(nudged.map(([, cause]) => cause)).toEqual(['poll', 'poll'])
  })

  it('does not look again while a look hangs; events and full readings go on', async () => {
    const { clock, disk, nudged, nudges } = await setUp()
    disk.look = () => new Promise(() => undefined)
    await clock.advance(60_000)
    expect(disk.looks).toBe(2)
    nudges.event()
    await clock.advance(240_000)
    expect(nudged.map(([, cause]) => cause)).toEqual(['event', 'full'])
  })
})

describe('full readings', () => {
  it('come every five minutes in any case', async () => {
    const { clock, nudged } = await setUp()
    await clock.advance(900_000)
    expect(nudged).toEqual([
      [300_000, 'full'],
      [600_000, 'full'],
      [900_000, 'full'],
    ])
  })

  it('let an event go first that is waiting for quiet', async () => {
    const { clock, nudged, nudges } = await setUp()
    await clock.advance(299_900)
    nudges.event()
    await clock.advance(3_000)
    expect(nudged).toEqual([
      [300_150, 'event'],
      [302_000, 'full'],
    ])
  })
})

describe('nudges without events', () => {
  it('come from the first poll that sees a change, after the quiet time, and full readings are frequent', async () => {
    const { clock, disk, nudged, nudges } = await setUp()
    nudges.rely('polls')
    disk.state = 'two'
    await clock.advance(10_000)
    expect(nudged).toEqual([
      [2_250, 'poll'],
      [10_000, 'full'],
    ])
  })
})

describe('closing', () => {
  it('ends all nudges and timers, also what a hanging look would have started', async () => {
    const { clock, disk, nudged, nudges } = await setUp()
    const { promise, resolve } = Promise.withResolvers<string>()
    disk.look = () => promise
    await clock.advance(2_000)
    nudges.event()
    nudges.close()
    nudges.event()
    nudges.rely('polls')
    resolve('two')
    await clock.advance(900_000)
    expect(nudged).toEqual([])
    expect(clock.pending).toBe(0)
  })
})
