import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/reconcile/events.ts'
import { createChronicle } from '../../src/server/chronicle.ts'
import { finding } from './fake-parts.ts'

/** A chronicle whose clock goes on by one with every event. */
function ticking() {
  let now = 0
  const chronicle = createChronicle(() => now)
  return {
    chronicle,
    take: (event: Event) => {
      now += 1
      return chronicle.take(event)
    },
  }
}

function reading(id: string, over: Partial<Extract<Event, { type: 'SourceLoaded' }>> = {}): Event {
  return {
    type: 'SourceLoaded',
    revision: { id, from: 'git' },
    durationMs: 12,
    changed: [],
    manifests: { Service: 0, Pipe: 0, QueryEndpoint: 0, Alert: 0, Lock: 0 },
    findings: [],
    problem: undefined,
    missedByWatcher: false,
    ...over,
  }
}

function observed(state: string | undefined): Event {
  return { type: 'Observed', key: 'Pipe/x', state, differences: [] }
}

describe('readings', () => {
  it('are told when they bring another revision or other manifests, newest first', () => {
    const { chronicle, take } = ticking()
    take(reading('a', { changed: ['Pipe/x'] }))
    take(reading('a'))
    take(reading('a', { changed: ['Pipe/y'], findings: [finding(), finding({ severity: 'warning' })] }))
    take(reading('b'))
    expect(chronicle.source()).toMatchObject([
      { at: 4, type: 'revision', revision: 'b', changed: 0 },
      { at: 3, type: 'revision', revision: 'a', keys: ['Pipe/y'], errors: 1, warnings: 1 },
      { at: 1, type: 'revision', revision: 'a', keys: ['Pipe/x'], changed: 1 },
    ])
    expect(chronicle.lastReading).toEqual({ at: 4, durationMs: 12, ok: true })
  })

  it('name only the first of many keys', () => {
    const { chronicle, take } = ticking()
    take(reading('a', { changed: Array.from({ length: 500 }, (_, index) => `Pipe/p${index}` as const) }))
    expect(chronicle.source()[0]).toMatchObject({ changed: 500, keys: { length: 20 } })
  })

  it('that cannot be believed are told once, and again when it is over', () => {
    const { chronicle, take } = ticking()
    take(reading('a', { changed: ['Pipe/x'] }))
    take(reading('a', { problem: 'it is empty' }))
    take(reading('a', { problem: 'it is empty' }))
    expect(chronicle.lastReading?.ok).toBe(false)
    take({ type: 'SourceFailed', reason: 'SourceUnreadable', message: 'it is gone', durationMs: 1 })
    take(reading('a'))
    expect(chronicle.source().map((entry) => ('what' in entry ? entry.what : entry.type))).toEqual([
      'recovered',
      'problem',
      'problem',
      'revision',
    ])
  })

  it('that the watcher missed are counted', () => {
    const { chronicle, take } = ticking()
    take(reading('a', { missedByWatcher: true }))
    take(reading('b'))
    expect(chronicle.missedChanges).toBe(1)
  })

  it('are bounded', () => {
    const { chronicle, take } = ticking()
    for (let index = 0; index < 1_000; index += 1) take(reading(`r${index}`))
    expect(chronicle.source()).toHaveLength(200)
    expect(chronicle.source()[0]).toMatchObject({ revision: 'r999' })
  })
})

describe('the watch mode and the brake', () => {
  it('are told', () => {
    const { chronicle, take } = ticking()
    take({ type: 'WatchModeChanged', mode: 'polling', message: 'no inotify watches are left' })
    take({ type: 'BrakeChanged', on: true, wanted: 30, limit: 25 })
    expect(chronicle.watch).toEqual({ mode: 'polling', message: 'no inotify watches are left' })
    expect(chronicle.source()).toMatchObject([
      { type: 'brake', on: true, message: '30 creations are wanted at once, and at most 25 may pass.' },
      { type: 'source', what: 'watch', message: 'no inotify watches are left' },
    ])
  })
})

describe('states', () => {
  it('are spans; only another one is news', () => {
    const { chronicle, take } = ticking()
    expect(take(observed('Provisioning'))).toEqual([])
    expect(take(observed('Provisioning'))).toEqual([])
    expect(take(observed('Running'))).toEqual([{ type: 'resources', keys: ['Pipe/x'] }])
    expect(take(observed(undefined))).toHaveLength(1)
    expect(chronicle.states('Pipe/x')).toEqual([
      { state: 'Provisioning', from: 1, until: 2 },
      { state: 'Running', from: 3, until: 3 },
      { state: undefined, from: 4, until: 4 },
    ])
    expect(chronicle.states('Pipe/y')).toEqual([])
  })

  it('are bounded, and forgotten with their resource', () => {
    const { chronicle, take } = ticking()
    for (let index = 0; index < 200; index += 1) take(observed(`s${index}`))
    expect(chronicle.states('Pipe/x')).toHaveLength(50)
    expect(chronicle.states('Pipe/x').at(-1)?.state).toBe('s199')
    take({ type: 'Forgotten', key: 'Pipe/x' })
    expect(chronicle.states('Pipe/x')).toEqual([])
  })
})
