import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHeap } from '../../src/daemon/service-queue.ts'
import { createQueue, type MayTake, type Queue, type Taken } from '../../src/daemon/queue.ts'
import { keyOf } from '../../src/kinds/key.ts'
import type { Priority } from '../../src/contract/platform.ts'
import { createModel } from '../support/queue-model.ts'

const key = (name: string | number) => keyOf('Pipe', String(name))
const any: MayTake = () => true

function drain(queue: Queue, now: number, mayTake: MayTake = any): Taken[] {
  const taken: Taken[] = []
  for (let next = queue.take(now, mayTake); next !== undefined; next = queue.take(now, mayTake)) {
    taken.push(next)
  }
  return taken
}

const names = (taken: readonly Taken[]) => taken.map((one) => one.key.slice('Pipe/'.length)).join(' ')

type Row = readonly [name: string, priority: Priority, dueAt: number, service: string]

function queueOf(rows: readonly Row[]): Queue {
  const queue = createQueue()
  for (const [name, priority, dueAt, service] of rows) queue.add(key(name), { priority, dueAt, service })
  return queue
}

describe('the order of a queue', () => {
  it('passes over a service that may not be taken from, and comes back to it', () => {
    const queue = queueOf([
      ['a1', 0, 1, 'a'],
      ['b1', 0, 2, 'b'],
      ['a2', 2, 3, 'a'],
    ])
    expect(names(drain(queue, 10, (service) => service === 'b'))).toBe('b1')
    expect(names(drain(queue, 10, (service, priority) => service === 'a' && priority === 2))).toBe('a2')
    expect(names(drain(queue, 10))).toBe('a1')
  })

  it('asks once per service, not once per entry, whether it may take', () => {
    const queue = createQueue()
    for (let n = 0; n < 1_000; n += 1)
      queue.add(key(n), { priority: 2, dueAt: n, service: `service-${n % 4}` })
    let questions = 0
    queue.take(5_000, () => {
      questions += 1
      return false
    })
    expect(questions).toBe(4)
  })
})

describe('a queue of ten thousand keys', () => {
  it('costs no more than linear time', () => {
    const queue = createQueue()
    const before = process.cpuUsage()
    for (let round = 0; round < 5; round += 1) {
      for (let n = 0; n < 10_000; n += 1) {
        queue.add(key(n), {
          priority: 2,
          dueAt: round * 10_000 + ((n * 7_919) % 10_000),
          service: `service-${n % 20}`,
        })
      }
      const taken = drain(queue, round * 10_000 + 9_999)
      expect(taken).toHaveLength(10_000)
      for (const one of taken) queue.done(one.key)
    }
    expect(process.cpuUsage(before).user).toBeLessThan(10_000_000)
  })
})

describe('a heap', () => {
  it('gives back in order what was pushed, less what was taken out of the middle', () => {
    const Item = fc.record({ rank: fc.nat(50), stays: fc.boolean() })
    fc.assert(
      fc.property(fc.array(Item, { maxLength: 60 }), (plan) => {
        const items = plan.map(({ rank, stays }) => ({ rank, stays, place: -1 }))
        const heap = createHeap<(typeof items)[number]>((a, b) => a.rank < b.rank)
        for (const item of items) heap.push(item)
        for (const item of items.filter(({ stays }) => !stays)) {
          heap.remove(item)
          heap.remove(item)
        }
        const left: number[] = []
        for (let first = heap.peek(); first !== undefined; first = heap.peek()) {
          left.push(first.rank)
          heap.remove(first)
        }
        const stay = items.filter(({ stays }) => stays).map(({ rank }) => rank)
        expect(left).toEqual(stay.toSorted((a, b) => a - b))
        expect(items.every(({ place }) => place === -1)).toBe(true)
      }),
      { numRuns: 150 },
    )
  })
})

const Step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('add' as const),
      name: fc.nat(11),
      priority: fc.constantFrom<Priority>(0, 1, 2),
      inMs: fc.integer({ min: -20, max: 60 }),
      service: fc.constantFrom('a', 'b', 'c'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('take' as const),
      closed: fc.subarray(['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'c0', 'c1', 'c2']),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('done' as const), name: fc.nat(11) }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('wait' as const), ms: fc.nat(30) }) },
)

describe('a queue against a naive model', () => {
  it('does the same, whatever is asked of it in whatever order', () => {
    fc.assert(
      fc.property(fc.array(Step, { maxLength: 120 }), (steps) => {
        const queue = createQueue()
        const model = createModel()
        let now = 0
        for (const step of steps) {
          if (step.type === 'wait') now += step.ms
          if (step.type === 'done') queue.done(key(step.name))
          if (step.type === 'done') model.done(key(step.name))
          if (step.type === 'add') {
            const ask = { priority: step.priority, dueAt: now + step.inMs, service: step.service }
            queue.add(key(step.name), ask)
            model.add(key(step.name), ask)
          }
          if (step.type === 'take') {
            const mayTake: MayTake = (service, priority) => !step.closed.includes(`${service}${priority}`)
            model.taken(queue.take(now, mayTake), now, mayTake)
          }
          const oldest = queue.oldestReadyAgeMs(now)
          expect({
            depth: queue.depth(),
            waiting: queue.waiting,
            running: queue.running,
            services: queue.services,
            nextDueAt: queue.nextDueAt(),
            oldest,
          }).toEqual(model.facts(now))
        }
      }),
      { numRuns: 150 },
    )
  })
})

describe('a key that runs', () => {
  it('is not handed out again before it is done, and comes back then', () => {
    const queue = queueOf([['x', 2, 0, 'a']])
    queue.take(0, any)
    queue.add(key('x'), { priority: 1, dueAt: 500, service: 'a' })
    queue.add(key('x'), { priority: 0, dueAt: 900, service: 'b' })
    expect(drain(queue, 1_000)).toEqual([])
    queue.done(key('x'))
    expect(drain(queue, 1_000)).toEqual([{ key: 'Pipe/x', priority: 0, service: 'b', waitedMs: 500 }])
  })

  it('does not come back when nobody asked', () => {
    const queue = queueOf([['x', 2, 0, 'a']])
    drain(queue, 0)
    queue.done(key('x'))
    expect({ waiting: queue.waiting, running: queue.running, services: queue.services }).toEqual({
      waiting: 0,
      running: 0,
      services: 0,
    })
  })
})

describe('what a queue tells', () => {
  it('counts the time since a key was due at its priority, not since it was due for something less urgent', () => {
    const queue = queueOf([
      ['drift', 2, 0, 'a'],
      ['edited', 2, 0, 'a'],
      ['edited', 0, 99_000, 'a'],
    ])
    expect(drain(queue, 100_000).map((one) => one.waitedMs)).toEqual([1_000, 100_000])
  })
})
