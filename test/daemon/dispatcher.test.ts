import { describe, expect, it } from 'vitest'
import { createDispatcher, type Again } from '../../src/daemon/loop.ts'
import { createQueue, type Taken } from '../../src/daemon/queue.ts'
import { type Key, keyOf } from '../../src/kinds/key.ts'
import type { Event } from '../../src/contract/events.ts'
import type { Priority } from '../../src/contract/platform.ts'
import { createFakeClock } from '../support/fake-clock.ts'

const key = (name: string | number) => keyOf('Pipe', String(name))

interface Run {
  readonly taken: Taken
  readonly releaseSlot: () => Promise<void>
  readonly end: (again?: Again) => void
  readonly fail: (error: unknown) => void
}

/** A dispatcher whose runs begin by themselves and end when the test says so. */
function setUp(concurrency: number) {
  const clock = createFakeClock()
  const queue = createQueue()
  const events: Event[] = []
  const running: Run[] = []
  const started: Taken[] = []
  const dispatcher = createDispatcher({
    clock,
    queue,
    concurrency,
    emit: (event) => events.push(event),
    run: async (taken, releaseSlot) => {
      const { promise, resolve, reject } = Promise.withResolvers<Again | undefined>()
      const run: Run = { taken, releaseSlot, end: (again) => resolve(again), fail: reject }
      expect(running.filter((other) => other.taken.key === taken.key)).toEqual([])
      running.push(run)
      started.push(taken)
      try {
        return await promise
      } finally {
        running.splice(running.indexOf(run), 1)
      }
    },
  })

  function ask(name: string | number, priority: Priority, service = 'a', afterMs = 0): void {
    dispatcher.ask(key(name), { priority, afterMs, service })
  }

  function find(name: string | number): Run {
    const run = running.find((one) => one.taken.key === key(name))
    if (run === undefined) throw new Error(`${name} does not run`)
    return run
  }

  const ofService = (service: string) => running.filter((one) => one.taken.service === service).length
  const ofType = <T extends Event['type']>(type: T) =>
    events.filter((event): event is Extract<Event, { type: T }> => event.type === type)

  return { clock, queue, events, running, started, dispatcher, ask, find, ofService, ofType }
}

describe('when a dispatcher starts a run', () => {
  it('at its due time, with one timer for all keys', async () => {
    const { clock, ask, started } = setUp(4)
    for (let n = 0; n < 100; n += 1) ask(n, 2, 'a', 1_000 * (n + 1))
    await clock.settle()
    expect(clock.pending).toBe(1)
    await clock.advance(999)
    expect(started).toEqual([])
    await clock.advance(1)
    expect(started.map((one) => one.key)).toEqual([key(0)])
    expect(clock.pending).toBe(1)
  })

  it('sets the timer anew when something falls due earlier', async () => {
    const { clock, ask, started } = setUp(4)
    ask('later', 2, 'a', 60_000)
    await clock.settle()
    ask('sooner', 1, 'a', 1_000)
    await clock.advance(1_000)
    expect(started.map((one) => one.key)).toEqual([key('sooner')])
    expect(clock.pending).toBe(1)
  })

  it('never twice for one key at a time: an ask during a run waits for its end', async () => {
    const { clock, ask, find, started, queue } = setUp(4)
    ask('x', 2)
    await clock.settle()
    ask('x', 0)
    ask('x', 2)
    await clock.advance(10_000)
    expect(started).toHaveLength(1)
    find('x').end({ priority: 2, afterMs: 300_000, service: 'a' })
    await clock.settle()
    expect(started.map((one) => one.priority)).toEqual([2, 0])
    find('x').end()
    await clock.advance(600_000)
    expect(started).toHaveLength(2)
    expect(queue.waiting).toBe(0)
  })

  it('in the place that a run leaves, before anything else comes in', async () => {
    const { clock, ask, find, started } = setUp(1)
    for (const name of ['a', 'b', 'c']) ask(name, 2)
    await clock.settle()
    let others = 0
    setImmediate(() => {
      others = started.length
    })
    find('a').end()
    await clock.settle()
    expect(others).toBe(2)
    expect(started.map((one) => one.key)).toEqual([key('a'), key('b')])
  })

  it('and lets others run in a row of quick runs', async () => {
    const clock = createFakeClock()
    const queue = createQueue()
    let runs = 0
    const dispatcher = createDispatcher({
      clock,
      queue,
      concurrency: 2,
      emit: () => undefined,
      run: async () => {
        runs += 1
        return undefined
      },
    })
    for (let n = 0; n < 100; n += 1) dispatcher.ask(key(n), { priority: 2, afterMs: 0, service: 'a' })
    const seen: number[] = []
    for (let hop = 0; hop < 50; hop += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(runs)
    }
    expect(runs).toBe(100)
    // From one turn of the event loop to the next: those that run at a time, and as many that follow at once.
    const steps = seen.map((count, hop) => count - (seen[hop - 1] ?? 0))
    expect(Math.max(...steps)).toBeLessThanOrEqual(6)
  })
})

describe('how many runs a dispatcher allows', () => {
  it('as many as its concurrency for drift checks and retries together, and as many again for changes', async () => {
    const { clock, ask, running } = setUp(3)
    for (let n = 0; n < 10; n += 1) ask(`drift-${n}`, 2)
    for (let n = 0; n < 10; n += 1) ask(`retry-${n}`, 1)
    await clock.settle()
    expect(running.map((one) => one.taken.priority)).toEqual([1, 1, 1])
    for (let n = 0; n < 10; n += 1) ask(`changed-${n}`, 0)
    await clock.settle()
    expect(running.map((one) => one.taken.priority)).toEqual([1, 1, 1, 0, 0, 0])
  })

  it.each(
    Object.entries({
      'a service alone gets all places': { services: 1, perService: [8] },
      'two services share': { services: 2, perService: [4, 4] },
      'three services share, rounded up, within the whole': { services: 3, perService: [3, 3, 2] },
      'eight services get one each': { services: 8, perService: [1, 1, 1, 1, 1, 1, 1, 1] },
      'more services than places: some wait': { services: 10, perService: [1, 1, 1, 1, 1, 1, 1, 1, 0, 0] },
    }),
  )('%s', async (_why, { services, perService }) => {
    const { clock, ask, ofService } = setUp(8)
    for (let n = 0; n < 20; n += 1) {
      for (let service = 0; service < services; service += 1) ask(`${service}-${n}`, 2, `service-${service}`)
    }
    await clock.settle()
    expect(Array.from({ length: services }, (_, service) => ofService(`service-${service}`))).toEqual(
      perService,
    )
  })

  it('a service that hangs does not stop the others, which go on one after the other', async () => {
    const { clock, ask, find, started, ofService } = setUp(4)
    for (let n = 0; n < 20; n += 1) ask(`hangs-${n}`, 2, 'hangs')
    for (let n = 0; n < 30; n += 1) ask(`fine-${n}`, 2, 'fine')
    await clock.settle()
    for (let n = 0; n < 20; n += 1) {
      find(`fine-${n}`).end()
      await clock.settle()
      expect(ofService('hangs')).toBe(2)
    }
    expect(started.filter((one) => one.service === 'fine')).toHaveLength(22)
  })
})

describe('a run that leaves its place', () => {
  it('lets another key start, once, and its own not before it ends', async () => {
    const { clock, ask, find, started } = setUp(1)
    for (const name of ['a', 'b', 'c']) ask(name, 2)
    await clock.settle()
    ask('a', 2)
    void find('a').releaseSlot()
    void find('a').releaseSlot()
    await clock.settle()
    expect(started.map((one) => one.key)).toEqual([key('a'), key('b')])
    find('a').end()
    await clock.settle()
    expect(started).toHaveLength(2)
    find('b').end()
    await clock.settle()
    expect(started.map((one) => one.key)).toEqual([key('a'), key('b'), key('c')])
  })

  it('goes on behind what is there already', async () => {
    const { clock, ask, find } = setUp(1)
    ask('a', 2)
    await clock.settle()
    const order: string[] = []
    setImmediate(() => order.push('a reply'))
    void find('a')
      .releaseSlot()
      .then(() => order.push('the run'))
    await clock.settle()
    expect(order).toEqual(['a reply', 'the run'])
  })

  it('keeps it when as many as may run have left theirs', async () => {
    const { clock, ask, find, started } = setUp(2)
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) ask(name, 2)
    await clock.settle()
    for (const name of ['a', 'b', 'c', 'd']) {
      void find(name).releaseSlot()
      await clock.settle()
    }
    expect(started.map((one) => one.key)).toEqual(['a', 'b', 'c', 'd'].map(key))
    find('a').end()
    await clock.settle()
    void find('c').releaseSlot()
    await clock.settle()
    expect(started.map((one) => one.key)).toEqual(['a', 'b', 'c', 'd', 'e'].map(key))
  })

  it('is waited for by a stop, and comes back when it wants to', async () => {
    const { clock, ask, find, started, dispatcher } = setUp(1)
    ask('a', 2)
    await clock.settle()
    void find('a').releaseSlot()
    find('a').end({ priority: 2, afterMs: 1_000, service: 'a' })
    await clock.advance(1_000)
    expect(started).toHaveLength(2)
    void find('a').releaseSlot()
    const stopped = dispatcher.stop(AbortSignal.abort())
    expect(await stopped).toEqual({ unfinished: 1 })
  })
})

describe('a run that throws', () => {
  it('is reported as a bug and comes back after a minute', async () => {
    const { clock, ask, find, started, ofType } = setUp(2)
    ask('x', 0)
    await clock.settle()
    find('x').fail(new Error('boom'))
    await clock.settle()
    expect(ofType('Bug')).toMatchObject([
      { message: 'the reconcile of Pipe/x threw', error: { message: 'boom' } },
    ])
    await clock.advance(59_999)
    expect(started).toHaveLength(1)
    await clock.advance(1)
    expect(started[1]).toMatchObject({ key: key('x'), priority: 1 })
  })

  it('is reported with an error also when it threw something else', async () => {
    const { clock, ask, find, ofType } = setUp(2)
    ask('x', 0)
    await clock.settle()
    find('x').fail('words')
    await clock.settle()
    expect(ofType('Bug')[0]?.error).toMatchObject({ message: 'a reconcile threw no error', cause: 'words' })
  })
})

describe('what a dispatcher tells', () => {
  it('the depth of the queue once per look, and only when it changed', async () => {
    const { clock, ask, find, ofType } = setUp(1)
    for (let n = 0; n < 500; n += 1) ask(n, 2)
    await clock.settle()
    expect(ofType('QueueChanged').map((event) => event.depth[2])).toEqual([499])
    ask(499, 2)
    await clock.settle()
    expect(ofType('QueueChanged')).toHaveLength(1)
    find(0).end()
    await clock.settle()
    expect(ofType('QueueChanged').map((event) => event.depth[2])).toEqual([499, 498])
  })

  it('how long each key waited', async () => {
    const { clock, ask, find, ofType } = setUp(1)
    ask('x', 2)
    ask('y', 2)
    await clock.advance(3_000)
    find('x').end()
    await clock.settle()
    expect(ofType('QueueWaited')).toEqual([
      { type: 'QueueWaited', priority: 2, waitMs: 0 },
      { type: 'QueueWaited', priority: 2, waitMs: 3_000 },
    ])
  })
})

describe('stopping a dispatcher', () => {
  it('takes nothing new and waits for what runs', async () => {
    const { clock, ask, find, started, dispatcher } = setUp(1)
    ask('x', 0)
    ask('y', 0)
    await clock.settle()
    const stopped = dispatcher.stop(new AbortController().signal)
    ask('z', 0)
    find('x').end({ priority: 0, afterMs: 0, service: 'a' })
    expect(await stopped).toEqual({ unfinished: 0 })
    await clock.advance(60_000)
    expect(started).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('ends at the deadline, and says how many did not end', async () => {
    const { clock, ask, find, dispatcher, ofType } = setUp(2)
    ask('x', 0)
    ask('y', 0)
    await clock.settle()
    const deadline = new AbortController()
    const stopped = dispatcher.stop(deadline.signal)
    find('x').end()
    await clock.settle()
    deadline.abort(new Error('too late'))
    expect(await stopped).toEqual({ unfinished: 1 })
    find('y').fail(deadline.signal.reason)
    await clock.settle()
    expect(ofType('Bug')).toEqual([])
  })

  it('takes nothing new even when a look was already due', async () => {
    const { clock, ask, started, dispatcher } = setUp(1)
    ask('x', 0)
    expect(await dispatcher.stop(new AbortController().signal)).toEqual({ unfinished: 0 })
    await clock.settle()
    expect(started).toEqual([])
  })

  it('ends at once when the deadline has passed', async () => {
    const { clock, ask, dispatcher } = setUp(2)
    ask('x', 0)
    await clock.settle()
    expect(await dispatcher.stop(AbortSignal.abort())).toEqual({ unfinished: 1 })
  })
})

describe('the health of a dispatcher', () => {
  it('is fine while all places hang: that is the fault of the other side', async () => {
    const { clock, ask, dispatcher } = setUp(1)
    ask('x', 2)
    ask('y', 2)
    await clock.advance(3_600_000)
    expect(dispatcher.health()).toEqual({ ok: true, detail: '1 running, 1 waiting' })
  })

  it('is not fine when something could run for over a minute and nothing moves', async () => {
    const { clock, queue, ask, dispatcher } = setUp(1)
    await clock.advance(100_000)
    queue.add(key('x'), { priority: 0, dueAt: clock.monotonic(), service: 'a' }) // and nobody wakes it
    await clock.advance(60_000)
    expect(dispatcher.health().ok).toBe(true)
    await clock.advance(1)
    expect(dispatcher.health()).toEqual({
      ok: false,
      detail: 'no reconcile started or ended for 160 s; 0 running, 1 waiting',
    })
    ask('x', 0)
    await clock.settle()
    expect(dispatcher.health().ok).toBe(true)
  })

  it('is fine while it stops', async () => {
    const { dispatcher } = setUp(1)
    await dispatcher.stop(AbortSignal.abort())
    expect(dispatcher.health()).toEqual({ ok: true, detail: 'stopping' })
  })
})

describe('a dispatcher under load', () => {
  it('keeps its limits and loses no key, with runs that end in any order and ask again', async () => {
    const clock = createFakeClock()
    const queue = createQueue()
    const counts = new Map<Key, number>()
    const busy = { urgent: 0, patient: 0, most: 0 }
    const dispatcher = createDispatcher({
      clock,
      queue,
      concurrency: 5,
      emit: () => undefined,
      run: async ({ key: taken, priority, service }) => {
        const pool = priority === 0 ? 'urgent' : 'patient'
        busy[pool] += 1
        busy.most = Math.max(busy.most, busy[pool])
        const count = (counts.get(taken) ?? 0) + 1
        counts.set(taken, count)
        await new Promise<void>((resolve) => {
          clock.after((count * 37 + taken.length * 11) % 90, resolve)
        })
        busy[pool] -= 1
        return count < 3 ? { priority: count === 1 ? 1 : 2, afterMs: (count * 53) % 70, service } : undefined
      },
    })
    for (let n = 0; n < 200; n += 1) {
      dispatcher.ask(key(n), { priority: n % 2 === 0 ? 0 : 2, afterMs: 0, service: `service-${n % 7}` })
    }
    await clock.advance(60_000)
    expect([...counts.values()].every((count) => count === 3)).toBe(true)
    expect(counts.size).toBe(200)
    expect(busy).toEqual({ urgent: 0, patient: 0, most: 5 })
    expect({ waiting: queue.waiting, running: queue.running }).toEqual({ waiting: 0, running: 0 })
  })
})
