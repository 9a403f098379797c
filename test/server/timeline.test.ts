import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { SourceEntry } from '../../src/server/recent-events.ts'
import { timelineOf, together } from '../../src/server/api/timeline.ts'
import { actionEntry, conditionEntry, loaded } from '../support/events.ts'
import { fakeParts, NOW } from './fake-parts.ts'
import { ask, running } from './running.ts'

function changed(at: number, revision: string): HistoryEntry {
  return conditionEntry({ at, revision })
}

function created(at: number, revision: string): HistoryEntry {
  return actionEntry({ at, revision })
}

function read(at: number, revision: string): SourceEntry {
  return {
    type: 'revision',
    at,
    revision,
    from: 'git',
    keys: [],
    changed: 0,
    removed: 0,
    errors: 0,
    warnings: 0,
  }
}

function told(entries: ReturnType<typeof timelineOf>): readonly string[] {
  return entries.map((entry) => `${entry.at} ${entry.type}${'earlier' in entry ? ' earlier' : ''}`)
}

describe('the story', () => {
  it('is history and readings, newest first; what came of a revision stands above it', () => {
    const entries = timelineOf([changed(3, 'b'), created(2, 'b')], [read(2, 'b'), read(1, 'a')], {
      whole: true,
    })
    expect(told(entries)).toEqual(['3 condition', '2 action', '2 revision', '1 revision'])
  })

  it('knows the revisions of earlier processes from what came of them', () => {
    const history = [changed(9, 'b'), changed(5, 'a'), created(4, 'a')]
    expect(told(timelineOf(history, [read(8, 'b')], { whole: true }))).toEqual([
      '9 condition',
      '8 revision',
      '5 condition',
      '4 action',
      '4 revision earlier',
    ])
  })

  it('says nothing of what may have begun before the part of history that was read', () => {
    const history = [changed(9, 'b'), changed(5, 'a')]
    expect(told(timelineOf(history, [read(1, 'c')], { whole: false }))).toEqual([
      '9 condition',
      '9 revision earlier',
      '5 condition',
    ])
  })
})

function of(entry: HistoryEntry, name: number): HistoryEntry {
  return { ...entry, key: `Pipe/p${name}` }
}

function asText(entries: readonly HistoryEntry[], whole = true): readonly string[] {
  return together(entries, { whole }).map((item) => {
    if (item.type !== 'alike') return `${item.at} ${item.type}`
    const types = item.entries.map(({ type }) => type).join('+')
    return `${item.at} ${types} of ${item.keys.length}${item.more ? ' or more' : ''}`
  })
}

describe('what happened alike to many', () => {
  const names = [0, 1, 2, 3]

  it('is one item, whatever of each resource stands between', () => {
    const entries = names.flatMap((name) => [
      of(changed(900 - name, 'a'), name),
      of({ ...changed(900 - name, 'a'), condition: 'Ready' } as HistoryEntry, name),
      of(created(800 - name, 'a'), name),
    ])
    expect(asText(entries)).toEqual(['900 condition+condition of 4', '800 action of 4'])
    expect(together(entries, { whole: true })[1]).toMatchObject({
      revision: 'a',
      keys: ['Pipe/p0', 'Pipe/p1', 'Pipe/p2', 'Pipe/p3'],
      entries: [{ key: 'Pipe/p0', action: 'create' }],
    })
  })

  const four = names.map((name) => of(created(900_000 - name, 'a'), name))
  it.each<[string, readonly HistoryEntry[]]>([
    ['three are named one by one', four.slice(1)],
    ['one resource four times is one', names.map((at) => created(900 - at, 'a'))],
    ['of another commit', four.map((entry, index) => (index < 2 ? { ...entry, revision: 'b' } : entry))],
    [
      'with another result',
      four.map((entry, index) => ({ ...entry, result: index < 2 ? 'done' : 'failed' }) as HistoryEntry),
    ],
    ['for another reason', four.map((entry, index) => ({ ...entry, reason: index < 2 ? 'New' : 'Missing' }))],
    ['at another time', four.map((entry, index) => ({ ...entry, at: entry.at - (index < 2 ? 0 : 120_000) }))],
  ])('is not: %s', (_why, entries) => {
    expect(together(entries, { whole: true })).toEqual(entries)
  })

  it('a row may be long, if nothing in it is far from the next', () => {
    expect(asText(four.map((entry, index) => ({ ...entry, at: 900_000 - index * 50_000 })))).toEqual([
      '900000 action of 4',
    ])
  })

  it('says when there may be more, in history that was not read', () => {
    expect(asText([...four, created(899_000, 'a')], false)[0]).toBe('900000 action of 5 or more')
    expect(asText([...four, changed(800_000, 'a')], false)[0]).toBe('900000 action of 4')
  })

  it('the commit that it came of is shown, however much came of it', () => {
    const history = four.map((entry) => ({ ...entry, revision: 'c' }))
    expect(told(timelineOf(history, [read(1, 'c'), read(2, 'd')], { whole: false })).at(-1)).toBe(
      '1 revision',
    )
  })
})

describe('/api/v1/timeline', () => {
  const history = [changed(NOW + 2, 'a'), created(NOW + 1, 'a')]

  it.each([
    ['everything', '', ['condition', 'action', 'revision', 'source'], false],
    ['of one type', '?type=action', ['action'], false],
    ['of several types', '?type=source,condition', ['condition', 'source'], false],
    ['the newest', '?limit=1', ['condition'], true],
  ])('%s', async (_, query, types, more) => {
    const parts = fakeParts({}, [], history)
    parts.tell(loaded({ revision: { id: 'a', from: 'git' }, changed: ['Pipe/x'] }))
    parts.tell({ type: 'WatchModeChanged', mode: 'polling', message: 'ENOSPC' })
    const { url } = await running(parts)
    const { body } = await ask(`${url}/api/v1/timeline${query}`)
    const shown = (body['items'] as readonly { readonly type: string }[]).map(({ type }) => type) // of entries
    expect(shown.toSorted()).toEqual(types.toSorted())
    expect(body['more']).toBe(more)
  })

  it('goes back as far as more items ask for, past what is one of them', async () => {
    const many = Array.from({ length: 400 }, (_, index) => of(created(NOW - index, 'a'), index))
    const { url } = await running(fakeParts({}, [], [...many, changed(NOW - 900_000, 'a')]))
    const asked = async (limit: number) => {
      const { body } = await ask(`${url}/api/v1/timeline?limit=${limit}`)
      const items = body['items'] as readonly { readonly type: string; readonly keys?: readonly string[] }[] // of entries
      return [items.map(({ type, keys }) => `${type} ${keys?.length ?? ''}`.trim()), body['more']]
    }
    expect(await asked(2)).toEqual([['alike 250'], true])
    expect(await asked(4)).toEqual([['alike 400', 'condition', 'revision'], false])
  })

  it('refuses what it does not know', async () => {
    const { url } = await running(fakeParts())
    expect((await ask(`${url}/api/v1/timeline?type=creations`)).status).toBe(400)
    expect((await ask(`${url}/api/v1/timeline?limit=1001`)).status).toBe(400)
  })
})
