import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, test } from 'vitest'
import { reasonOf } from '../../src/contract/status.ts'
import type { Event } from '../../src/contract/events.ts'
import type { Key } from '../../src/kinds/key.ts'
import { statusOf } from '../../src/plan/conditions.ts'
import type { Condition, Conditions } from '../../src/plan/condition.ts'
import type { Reason } from '../../src/plan/reason.ts'
import { createStandingProblems } from '../../src/reconcile/state/standing-problems.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { createStateStore } from '../../src/reconcile/state/store.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { resource } from '../telemetry/sample.ts'

/*
 * One cause, one line: what is said of problems that come and go, trickle, flap and hide each other. A line is `+` (found), `^` (grew)
 * or `-` (over), its reason, and its number where it is of more than one.
 */

/** What a resource says, worst condition first: none, and it is ready. */
type Shown = readonly Reason[]

const CONDITION_OF: Partial<Record<Reason, keyof Conditions>> = {
  InvalidManifest: 'Valid',
  UnhealthyState: 'Ready',
}

/** Nobody could look. */
const UNSEEN: ReadonlySet<Reason> = new Set(['Unavailable', 'RateLimited', 'LedgerFailed'])

/** Then it is not ready, for the same reason. */
const READY_TOO: ReadonlySet<Reason> = new Set(['SecretUnavailable'])

function well(reason: Reason): Condition {
  return { status: 'True', reason, message: '', since: 0 }
}

function setUp() {
  const clock = createFakeClock()
  const board = createBoard()
  const store = createStateStore({ profile: DEFAULT, hashKey: new Uint8Array(32), clock })
  const events: Event[] = []
  const start = () => createStandingProblems({ store, clock, emit: (event) => events.push(event) }, board)
  let problems = start()

  function conditionsOf(shown: Shown, words: string): Conditions {
    const conditions = { Valid: well('Valid'), Synced: well('InSync'), Ready: well('Healthy') }
    for (const reason of shown)
      conditions[CONDITION_OF[reason] ?? 'Synced'] = {
        status: UNSEEN.has(reason) ? 'Unknown' : 'False',
        reason,
        message: words,
        since: clock.now(),
      }
    if (shown.some((reason) => READY_TOO.has(reason))) conditions.Ready = conditions.Synced
    return conditions
  }

  return {
    clock,
    events,
    show: (name: string, shown: Shown, words = `of ${name}`) => {
      const key: Key = `Pipe/${name}`
      const conditions = conditionsOf(shown, words)
      const [status, reason] = [statusOf(conditions), reasonOf(conditions)]
      problems.begin()
      board.set(
        resource(key, {
          status,
          reason,
          conditions,
          service: 'analytics',
          message: words,
          file: `${name}.yaml`,
        }),
      )
      problems.note(key, false)
    },
    drop: (name: string) => {
      board.remove(`Pipe/${name}`)
      problems.note(`Pipe/${name}`, false)
    },
    restart: () => {
      problems.flush()
      problems = start()
    },
    /** What was said since this was asked last. */
    said: () => events.splice(0).flatMap(lineOf),
  }
}

const SIGNS = { ProblemFound: '+', ProblemGrew: '^', ProblemOver: '-' } as const

function lineOf(event: Event): readonly string[] {
  if (event.type !== 'ProblemFound' && event.type !== 'ProblemGrew' && event.type !== 'ProblemOver') return []
  return [`${SIGNS[event.type]}${event.reason}${event.resources === 1 ? '' : ` ${event.resources}`}`]
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `p${index}`)
}

describe('what hides another problem', () => {
  const HIDING: readonly (readonly [string, Shown, readonly string[]])[] = [
    ['an outage', ['Unavailable'], ['+Unavailable']],
    ['a limit of the platform', ['RateLimited'], []],
    ['a ledger that fails', ['LedgerFailed'], []],
    ['a manifest that is invalid', ['InvalidManifest', 'Drifted'], []],
  ]
  test.each(HIDING)('%s: it is not over, and is not found again', async (_, hiding, expected) => {
    const { show, said, clock } = setUp()
    show('a', ['Drifted'])
    expect(said()).toEqual(['+Drifted'])
    await clock.advance(3_600_000)
    show('a', hiding)
    expect(said()).toEqual(expected)
    show('a', ['Drifted'])
    expect(said()).toEqual(expected.map((line) => line.replace('+', '-')))
    show('a', [])
    expect(said()).toEqual(['-Drifted'])
  })

  test('and it is over when it was over behind it', () => {
    const { show, said } = setUp()
    show('a', ['Drifted'])
    show('a', ['Unavailable'])
    said()
    show('a', [])
    expect(said()).toEqual(['-Unavailable', '-Drifted'])
  })

  test('another that nobody could look behind takes its place', () => {
    const { show, said } = setUp()
    show('a', ['Unavailable'])
    show('a', ['AuthFailed'])
    expect(said()).toEqual(['+Unavailable', '-Unavailable', '+AuthFailed'])
  })

  test('drift before bad health: the health is not found again', () => {
    const { show, said } = setUp()
    show('a', ['UnhealthyState'])
    show('a', ['Drifted', 'UnhealthyState'])
    show('a', ['UnhealthyState'])
    show('a', [])
    expect(said()).toEqual(['+UnhealthyState', '+Drifted', '-Drifted', '-UnhealthyState'])
  })

  test('is known to the next process with what it hides, where the ledger says both', () => {
    const { show, said, restart } = setUp()
    show('a', ['Drifted'])
    show('a', ['InvalidManifest', 'Drifted'])
    show('b', ['Drifted', 'UnhealthyState'])
    said()
    restart()
    show('a', ['Drifted'])
    show('b', ['UnhealthyState'])
    expect(said()).toEqual(['-Drifted'])
  })

  test('a resource that goes away takes all of it along', () => {
    const { show, said, drop } = setUp()
    show('a', ['Drifted'])
    show('a', ['Unavailable'])
    said()
    drop('a')
    expect(said()).toEqual(['-Unavailable', '-Drifted'])
  })
})

describe('many', () => {
  test.each([
    ['within a minute', 1_000, 100, 8],
    ['within an hour', 36_000, 100, 26],
  ])('that drift one after another %s cost few lines, and each is told', async (_, everyMs, count, most) => {
    const { show, clock, events } = setUp()
    for (const name of names(count)) {
      show(name, ['Drifted'])
      await clock.advance(everyMs)
    }
    await clock.advance(200_000)
    const told = events.splice(0)
    expect(told.length).toBeLessThanOrEqual(most)
    const found = told.reduce((sum, event) => sum + (event.type === 'ProblemFound' ? event.resources : 0), 0)
    expect(found).toBe(count)
  })

  test('that drift at once: three by themselves, the others in one line, which is about the first that it names', async () => {
    const { show, said, events, clock } = setUp()
    for (const name of names(10)) show(name, ['Drifted'])
    expect(said()).toEqual(['+Drifted', '+Drifted', '+Drifted'])
    await clock.advance(10_000)
    expect(events).toMatchObject([
      {
        type: 'ProblemFound',
        resources: 7,
        keys: ['Pipe/p3', 'Pipe/p4', 'Pipe/p5', 'Pipe/p6', 'Pipe/p7'],
        message: 'of p3',
      },
    ])
  })

  test('that came and went while it was held back are not told', async () => {
    const { show, said, clock } = setUp()
    for (const name of names(10)) show(name, ['Drifted'])
    said()
    for (const name of names(10).slice(3)) show(name, [])
    await clock.advance(200_000)
    expect(said()).toEqual([])
  })

  test('of an outage: one line, one with their number, one again at ten times as many, one at the end', async () => {
    const { show, said, events, clock } = setUp()
    const all = names(100)
    for (const name of all.slice(0, 9)) show(name, ['Unavailable'])
    await clock.advance(10_000)
    expect(said()).toEqual(['+Unavailable', '^Unavailable 9'])
    for (const name of all) show(name, ['Unavailable'])
    expect(said()).toEqual(['^Unavailable 90'])
    await clock.advance(50_000)
    for (const name of all) show(name, [])
    const over = {
      type: 'ProblemOver',
      resources: 100,
      keys: all.slice(0, 5).map((name) => `Pipe/${name}`),
      durationMs: 60_000,
    }
    expect(events).toMatchObject([over])
  })

  test('of which half is well again: nothing is said before all are', async () => {
    const { show, said, clock } = setUp()
    for (const name of names(10)) show(name, ['Unavailable'])
    await clock.advance(10_000)
    said()
    for (const name of names(5)) show(name, [])
    await clock.advance(200_000)
    expect(said()).toEqual([])
    for (const name of names(10)) show(name, [])
    expect(said()).toEqual(['-Unavailable 10'])
  })
})

describe('one that flaps', () => {
  test.each([
    ['an outage', 'Unavailable'],
    ['health', 'UnhealthyState'],
  ] as const)('%s: few lines in an hour, and the last one is true', async (_, reason) => {
    const { show, said, clock } = setUp()
    for (let round = 0; round < 1_800; round += 1) {
      show('a', [reason])
      await clock.advance(1_000)
      show('a', [])
      await clock.advance(1_000)
    }
    expect(said().length).toBeLessThanOrEqual(40)
    show('a', [reason])
    await clock.advance(200_000)
    const last = said()
    expect(['-', '+'].map((sign) => last.filter((line) => line.startsWith(sign)).length)).toEqual([
      0,
      last.length,
    ])
    show('a', [])
    await clock.advance(200_000)
    expect(said()).toEqual([`-${reason}`])
  })

  test('is told at once again after a while of quiet', async () => {
    const { show, said, clock } = setUp()
    for (let round = 0; round < 20; round += 1) {
      show('a', ['Unavailable'])
      show('a', [])
    }
    await clock.advance(1_000_000)
    said()
    show('a', ['Unavailable'])
    expect(said()).toEqual(['+Unavailable'])
  })
})

test('a problem that two conditions name is one, also to the next process', () => {
  const { show, said, restart } = setUp()
  for (const name of names(3)) show(name, ['SecretUnavailable'])
  restart()
  said()
  for (const name of names(3)) show(name, [])
  expect(said()).toEqual(['-SecretUnavailable 3'])
})

describe('durations', () => {
  test('are those of the resource, not of the first that had the same kind of problem', async () => {
    const { show, events, clock } = setUp()
    show('a', ['Drifted'])
    await clock.advance(300_000)
    show('b', ['Drifted'])
    await clock.advance(5_000)
    events.splice(0)
    show('b', [])
    show('a', [])
    expect(events).toMatchObject([
      { keys: ['Pipe/b'], durationMs: 5_000 },
      { keys: ['Pipe/a'], durationMs: 305_000 },
    ])
  })

  test('go on over a restart, from the first of them', async () => {
    const { show, events, clock, restart } = setUp()
    show('b', ['Unavailable'])
    await clock.advance(60_000)
    show('a', ['Unavailable'])
    await clock.advance(60_000)
    restart()
    events.splice(0)
    show('a', [])
    show('b', [])
    expect(events).toMatchObject([{ type: 'ProblemOver', resources: 2, durationMs: 120_000 }])
  })
})

test('a stop in the middle says what was held back, and the next process does not repeat it', async () => {
  const { show, said, restart, clock } = setUp()
  for (const name of names(10)) show(name, ['Drifted'])
  for (const name of names(10)) show(`x${name}`, ['Unavailable'])
  said()
  restart()
  expect(said().toSorted()).toEqual(['+Drifted 7', '^Unavailable 10'])
  for (const name of names(10)) show(name, ['Drifted'])
  await clock.advance(200_000)
  expect(said()).toEqual([])
})

test('another field that drifts is told, and its end once', () => {
  const { show, said } = setUp()
  show('a', ['Drifted'], 'replicas differ')
  show('a', ['Drifted'], 'replicas differ')
  show('a', ['Drifted'], 'columns differ')
  show('a', [])
  expect(said()).toEqual(['+Drifted', '+Drifted', '-Drifted'])
})
