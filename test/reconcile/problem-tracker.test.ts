import { describe, expect, test } from 'vitest'
import { reasonOf } from '../../src/contract/view.ts'
import type { Event } from '../../src/contract/events.ts'
import type { Key } from '../../src/kinds/key.ts'
import { statusOf } from '../../src/plan/conditions.ts'
import type { Condition, Conditions } from '../../src/plan/condition.ts'
import type { Reason } from '../../src/plan/reason.ts'
import { createProblemTracker } from '../../src/reconcile/state/problem-tracker.ts'
import { createBoard } from '../../src/reconcile/state/status-board.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { resource } from '../telemetry/sample.ts'

/*
 * One cause is one line when it begins, when it grows tenfold, and when it ends. A line is `+` (found), `^` (grew) or `-` (over), its
 * reason, and the number of resources if there are several.
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
  return { status: 'True', reason, since: 0 }
}

function setUp() {
  const clock = createFakeClock()
  const board = createBoard()
  const events: Event[] = []
  const start = () => createProblemTracker({ clock, emit: (event) => events.push(event) }, board)
  let problems = start()

  function conditionsOf(shown: Shown, facts: Condition['facts']): Conditions {
    const conditions = { Valid: well('Valid'), Synced: well('InSync'), Ready: well('Healthy') }
    for (const reason of shown)
      conditions[CONDITION_OF[reason] ?? 'Synced'] = {
        status: UNSEEN.has(reason) ? 'Unknown' : 'False',
        reason,
        since: clock.now(),
        facts,
      }
    if (shown.some((reason) => READY_TOO.has(reason))) conditions.Ready = conditions.Synced
    if (shown.includes('Orphaned')) conditions.Valid = { ...conditions.Synced, status: 'Unknown' }
    return conditions
  }

  return {
    clock,
    events,
    board,
    show: (name: string, shown: Shown, facts?: Condition['facts']) => {
      const key: Key = `Pipe/${name}`
      const conditions = conditionsOf(shown, facts)
      const [status, reason] = [statusOf(conditions), reasonOf(conditions)]
      problems.begin()
      board.set(resource(key, { status, reason, conditions, service: 'analytics', file: `${name}.yaml` }))
    },
    drop: (name: string) => board.remove(`Pipe/${name}`),
    /** @param remembered whether a webhook remembers the problems */
    restart: (remembered = false, meanwhile = () => undefined as unknown) => {
      problems.flush()
      const before = problems.reported() ?? []
      meanwhile()
      problems = start()
      if (remembered) problems.remember(before)
      problems.begin()
    },
    list: () => problems.reported() ?? [],
    problemOf: (name: string) => problems.of(`Pipe/${name}`),
    flush: () => problems.flush(),
    said: () => {
      problems.flush()
      return events.splice(0).flatMap(lineOf)
    },
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
    ['a limit of the platform', ['RateLimited'], ['+RateLimited']],
    ['a ledger that fails', ['LedgerFailed'], ['+LedgerFailed']],
    ['a manifest that is invalid', ['InvalidManifest', 'Drifted'], ['+InvalidManifest']],
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

  test('is known to the next process with what it hides, where the ledger says both', () => {
    const { show, said, restart } = setUp()
    show('a', ['Drifted'])
    show('a', ['InvalidManifest', 'Drifted'])
    show('b', ['Drifted', 'UnhealthyState'])
    said()
    restart()
    show('a', ['Drifted'])
    show('b', ['UnhealthyState'])
    show('a', [])
    expect(said()).toEqual(['-InvalidManifest', '-Drifted', '-Drifted'])
  })

  test('a resource that goes away takes all of it along', () => {
    const { show, said, drop } = setUp()
    show('a', ['Drifted'])
    said()
    show('a', ['Unavailable'])
    said()
    drop('a')
    expect(said()).toEqual(['-Unavailable', '-Drifted'])
  })
})

describe('many', () => {
  test.each([
    ['within a minute', 600, 100],
    ['within an hour', 36_000, 100],
    ['ten thousand within a minute', 6, 10_000],
  ])('that drift one after another, %s, cost few lines', async (_, everyMs, count) => {
    const { show, clock, said } = setUp()
    for (const name of names(count)) {
      show(name, ['Drifted'])
      await clock.advance(everyMs)
    }
    expect(said().length).toBeLessThanOrEqual(7)
  })

  test('three have a problem each; with a fourth they are one, which is told and ends once', () => {
    const { show, said, list, problemOf, restart } = setUp()
    const lines = names(4).map((name) => {
      show(name, ['Drifted'])
      return said()
    })
    expect(lines).toEqual([['+Drifted'], ['+Drifted'], ['+Drifted'], ['+Drifted 4']])
    const [all, ...others] = list()
    expect([all?.keys.length, others]).toEqual([4, []])
    expect(new Set(names(4).map((name) => problemOf(name)?.id))).toEqual(new Set([all?.id]))
    for (const name of names(2)) show(name, [])
    restart(true)
    show('p9', ['Drifted'])
    expect(list()).toMatchObject([{ id: all?.id, keys: ['Pipe/p2', 'Pipe/p3', 'Pipe/p9'] }])
    for (const name of ['p2', 'p3', 'p9']) show(name, [])
    expect(said()).toEqual(['-Drifted 3'])
  })

  test('are shown before they are reported, and are reported two seconds later', async () => {
    const { show, clock, list, problemOf } = setUp()
    show('a', [])
    expect([problemOf('a'), clock.pending]).toEqual([undefined, 0])
    show('a', ['Drifted'])
    show('b', ['Drifted', 'UnhealthyState'])
    expect(list()).toEqual([])
    expect(problemOf('b')).toMatchObject({ reason: 'Drifted', since: clock.now() })
    await clock.advance(2_000)
    expect(list()).toHaveLength(3)
  })

  test('of an outage: one line, one at ten times as many, one at the end', async () => {
    const { show, said, events, clock } = setUp()
    const all = names(100)
    for (const name of all.slice(0, 9)) show(name, ['Unavailable'])
    expect(said()).toEqual(['+Unavailable 9'])
    for (const name of all.slice(0, 89)) show(name, ['Unavailable'])
    expect(said()).toEqual([])
    for (const name of all) show(name, ['Unavailable'])
    expect(said()).toEqual(['^Unavailable 100'])
    await clock.advance(60_000)
    for (const name of all) show(name, [])
    await clock.advance(2_000)
    const over = {
      type: 'ProblemOver',
      resources: 100,
      keys: all.slice(0, 5).map((name) => `Pipe/${name}`),
      durationMs: 60_000,
    }
    expect(events).toMatchObject([over])
  })
})

test.each([
  ['an outage', 'Unavailable'],
  ['health', 'UnhealthyState'],
] as const)('%s that flaps: one line in two seconds at most, and the last one is true', async (_, reason) => {
  const { show, said, clock, events } = setUp()
  for (let round = 0; round < 300; round += 1) {
    show('a', [reason])
    await clock.advance(500)
    show('a', [])
    await clock.advance(500)
  }
  expect(events.length).toBeLessThanOrEqual(151)
  said()
  show('a', [reason])
  expect(said()).toEqual([`+${reason}`])
  show('a', [])
  expect(said()).toEqual([`-${reason}`])
})

test('a problem that two conditions name is one, also to the next process', () => {
  const { show, said, restart } = setUp()
  show('a', ['Orphaned'])
  expect(said()).toEqual(['+Orphaned'])
  show('a', [])
  for (const name of names(3)) show(name, ['SecretUnavailable'])
  restart()
  said()
  for (const name of names(3)) show(name, [])
  expect(said()).toEqual(['-SecretUnavailable 3'])
})

describe('durations', () => {
  test('are those of the resource, not of the first with the same kind of problem', async () => {
    const { show, events, clock } = setUp()
    show('a', ['Drifted'])
    await clock.advance(300_000)
    show('b', ['Drifted'])
    await clock.advance(5_000)
    events.splice(0)
    show('b', [])
    show('a', [])
    await clock.advance(2_000)
    expect(events).toMatchObject([
      { keys: ['Pipe/b'], durationMs: 5_000 },
      { keys: ['Pipe/a'], durationMs: 305_000 },
    ])
  })
})

test('a stop reports the gathered changes, and the next process does not repeat them', () => {
  const { show, said, restart, events } = setUp()
  for (const name of names(10)) show(name, ['Drifted'])
  for (const name of names(10)) show(`x${name}`, ['Unavailable'])
  restart()
  expect(events.splice(0).flatMap(lineOf)).toEqual(['+Drifted 10', '+Unavailable 10'])
  for (const name of names(10)) show(name, ['Drifted'])
  expect(said()).toEqual([])
})

test('another field that drifts is reported, and the end once', () => {
  const { show, flush, events } = setUp()
  const lines = [['replicas'], ['replicas'], ['columns'], []].map((fields) => {
    show('a', fields.length > 0 ? ['Drifted'] : [], { fields, from: 'manifest' })
    flush()
    return events.splice(0).map((event) => [lineOf(event), 'because' in event && event.because.facts])
  })
  const [first, second] = ['replicas', 'columns'].map((field) => ({ fields: [field], from: 'manifest' }))
  expect(lines).toEqual([[[['+Drifted'], first]], [], [[['+Drifted'], second]], [[['-Drifted'], false]]])
})

test('what is told of several is what the first said, once it says more than its reason', () => {
  const { show, flush, events } = setUp()
  show('a', ['Unavailable'])
  for (const [name, field] of [
    ['b', 'first'],
    ['c', 'second'],
  ] as const)
    show(name, ['Unavailable'], { fields: [field], from: 'manifest' })
  flush()
  expect(events).toMatchObject([{ resources: 3, because: { facts: { fields: ['first'] } } }])
})

test('the order of facts is no news: the ledger returns another one', () => {
  const { show, said } = setUp()
  show('a', ['Drifted'], { fields: ['replicas'], from: 'manifest' })
  said()
  show('a', ['Drifted'], { from: 'manifest', fields: ['replicas'] })
  expect(said()).toEqual([])
})

describe('a problem that is remembered', () => {
  test('keeps its id, its keys and its begin over a restart', () => {
    const { show, said, restart, list } = setUp()
    show('a', ['Drifted'])
    said()
    show('b', ['Drifted'])
    said()
    for (const name of names(3)) show(name, ['Unavailable'])
    said()
    const before = list()
    expect(before.map(({ keys }) => keys.length)).toEqual([1, 1, 3])
    restart(true)
    expect(list().toReversed()).toEqual(before)
  })

  test('is no news if the board has fewer facts at first, as after a takeover', () => {
    const facts = { fields: ['replicas'], from: 'manifest' } as const
    const { show, said, restart, list, board } = setUp()
    show('a', ['Drifted'], facts)
    said()
    const before = list()
    const shown = board.get('Pipe/a')
    if (shown === undefined) throw new Error('it is not shown')
    const { Synced } = shown.conditions
    board.listen(() => undefined) // the process is gone
    board.set({ ...shown, conditions: { ...shown.conditions, Synced: { ...Synced, facts: undefined } } })
    restart(true)
    expect(list()).toEqual(before)
    show('a', ['Drifted'], facts)
    expect([said(), list()]).toEqual([[], before])
    show('a', ['Drifted'], { ...facts, fields: ['topics'] })
    expect(said()).toHaveLength(1)
  })

  test('that ended while no process ran is not the next one of its cause', async () => {
    const { show, said, restart, list, board, clock } = setUp()
    const outage = () => {
      for (const name of names(2)) show(name, ['Unavailable'])
      expect(said()).toEqual(['+Unavailable 2'])
      return list()[0]?.id
    }
    const before = outage()
    restart(true, () => {
      board.listen(() => undefined) // the process is gone
      for (const name of names(2)) show(name, [])
    })
    expect(list()).toEqual([])
    await clock.advance(1)
    expect(outage()).not.toBe(before)
  })

  test('is not there if its resource is gone, and takes new resources', () => {
    const { show, said, restart, list, drop } = setUp()
    show('a', ['Drifted'])
    said()
    for (const name of names(2)) show(name, ['Unavailable'])
    said()
    restart(true)
    drop('a')
    show('b', ['Unavailable'])
    expect(said()).toEqual(['-Drifted'])
    expect(list().map(({ keys }) => keys)).toEqual([['Pipe/p0', 'Pipe/p1', 'Pipe/b']])
  })
})
