import { masked } from '../support/masked.ts'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import { type PageUpdate, createRecentEvents } from '../../src/server/recent-events.ts'
import { loaded, reconciled } from '../support/events.ts'
import { CHANGE } from '../telemetry/every-event.ts'
import { finding } from './fake-parts.ts'

/** Recent events by a clock that goes on by one with every event, and what subscribers heard. */
function ticking() {
  let now = 0
  const recentEvents = createRecentEvents(() => now)
  return {
    recentEvents,
    take: (event: Event) => {
      now += 1
      const changes: PageUpdate[] = []
      const end = recentEvents.subscribe((change) => changes.push(change))
      recentEvents.add(event)
      end()
      return changes
    },
  }
}

function reading(id: string, over: Parameters<typeof loaded>[0] = {}): Event {
  return loaded({ revision: { id, from: 'git' }, ...over })
}

function observed(state: string | undefined): Event {
  return {
    type: 'Observed',
    key: 'Pipe/x',
    state: state === undefined ? state : masked(state),
    differences: [],
  }
}

describe('readings', () => {
  it('are told when they bring another revision or other manifests, newest first', () => {
    const { recentEvents, take } = ticking()
    take(reading('a', { changed: ['Pipe/x'] }))
    take(reading('a'))
    take(reading('a', { changed: ['Pipe/y'], findings: [finding(), finding({ severity: 'warning' })] }))
    take(reading('b'))
    expect(recentEvents.source()).toMatchObject([
      { at: 4, type: 'revision', revision: 'b', changed: 0 },
      { at: 3, type: 'revision', revision: 'a', keys: ['Pipe/y'], errors: 1, warnings: 1 },
      { at: 1, type: 'revision', revision: 'a', keys: ['Pipe/x'], changed: 1 },
    ])
    expect(recentEvents.lastReading).toEqual({ at: 4, durationMs: 20, ok: true })
  })

  it('of a process that has just started are no news where nothing changed', () => {
    const { recentEvents, take } = ticking()
    take(reading('a'))
    expect(recentEvents.source()).toEqual([])
    take(reading('a'))
    take(reading('b', { changed: ['Pipe/x'], removed: 1 }))
    expect(recentEvents.source()).toMatchObject([{ revision: 'b', changed: 1, removed: 1 }])
  })

  it('name only the first of many keys', () => {
    const { recentEvents, take } = ticking()
    take(reading('a', { changed: Array.from({ length: 500 }, (_, index) => `Pipe/p${index}` as const) }))
    expect(recentEvents.source()[0]).toMatchObject({ changed: 500, keys: { length: 20 } })
  })

  it('that cannot be believed are told once, and again when it is over', () => {
    const { recentEvents, take } = ticking()
    take(reading('a', { changed: ['Pipe/x'] }))
    take(reading('a', { problem: 'it is empty' }))
    take(reading('a', { problem: 'it is empty' }))
    expect(recentEvents.lastReading?.ok).toBe(false)
    take({ type: 'SourceFailed', reason: 'SourceUnreadable', message: 'it is gone', durationMs: 1 })
    take(reading('a'))
    expect(recentEvents.source().map((entry) => ('what' in entry ? entry.what : entry.type))).toEqual([
      'recovered',
      'problem',
      'problem',
      'revision',
    ])
  })

  it('that the watcher missed are counted', () => {
    const { recentEvents, take } = ticking()
    take(reading('a', { missedByWatcher: true }))
    take(reading('b'))
    expect(recentEvents.missedChanges).toBe(1)
  })

  it('are bounded', () => {
    const { recentEvents, take } = ticking()
    for (let index = 0; index < 1_000; index += 1) take(reading(`r${index}`))
    expect(recentEvents.source()).toHaveLength(200)
    expect(recentEvents.source()[0]).toMatchObject({ revision: 'r999' })
  })
})

describe('the watch mode', () => {
  it('is told', () => {
    const { recentEvents, take } = ticking()
    take({ type: 'WatchModeChanged', mode: 'polling', message: 'no inotify watches are left' })
    expect(recentEvents.watch).toEqual({ mode: 'polling', message: 'no inotify watches are left' })
    expect(recentEvents.source()).toMatchObject([
      { type: 'source', what: 'watch', message: 'no inotify watches are left' },
    ])
  })
})

describe('states', () => {
  it('are spans; only another one is news', () => {
    const { recentEvents, take } = ticking()
    expect(take(observed('Provisioning'))).toEqual([])
    expect(take(observed('Provisioning'))).toEqual([])
    expect(take(observed('Running'))).toEqual([{ type: 'resources', keys: ['Pipe/x'] }])
    expect(take(observed(undefined))).toHaveLength(1)
    expect(recentEvents.states('Pipe/x')).toEqual([
      { state: 'Provisioning', from: 1, until: 2 },
      { state: 'Running', from: 3, until: 3 },
      { state: undefined, from: 4, until: 4 },
    ])
    expect(recentEvents.states('Pipe/y')).toEqual([])
  })

  it('are bounded, and forgotten with their resource', () => {
    const { recentEvents, take } = ticking()
    for (let index = 0; index < 200; index += 1) take(observed(`s${index}`))
    expect(recentEvents.states('Pipe/x')).toHaveLength(50)
    expect(recentEvents.states('Pipe/x').at(-1)?.state).toBe('s199')
    take({ type: 'Forgotten', key: 'Pipe/x' })
    expect(recentEvents.states('Pipe/x')).toEqual([])
  })
})

describe('subscribers', () => {
  it.each<[string, Event, readonly string[]]>([
    [
      'a reconcile that changed something',
      reconciled({ key: 'Pipe/x', changed: true }),
      ['resources Pipe/x', 'history Pipe/x'],
    ],
    ['a reconcile that changed nothing', reconciled({ key: 'Pipe/x' }), []],
    ['a new condition', { ...CHANGE, key: 'Pipe/x' }, ['resources Pipe/x']],
    ['a resource that was forgotten', { type: 'Forgotten', key: 'Pipe/x' }, ['resources Pipe/x']],
    ['a reading that brings nothing new', reading('a'), ['source ']],
    ['a reading that does', reading('a', { changed: ['Pipe/x'] }), ['source ', 'resources Pipe/x']],
    [
      'a reading that found what the watcher missed',
      reading('a', { missedByWatcher: true }),
      ['source ', 'resources '],
    ],
    ['a state that is seen for the first time', observed('Running'), []],
  ])('hear of %s', (_, event, heard) => {
    const { take } = ticking()
    expect(take(event).map(({ type, keys }) => `${type} ${keys.join(' ')}`)).toEqual(heard)
  })
})
