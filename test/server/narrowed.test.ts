import { describe, expect, it } from 'vitest'
import { conditionEntry, loaded } from '../support/events.ts'
import { condition, conditions, fakeParts, finding, overview, resource } from './fake-parts.ts'
import { ask, running } from './running.ts'

/** What narrows the list narrows everything else on the page. */

const RESOURCES = [
  resource('Pipe/clicks', { status: 'Drifted', reason: 'Drifted', labels: { team: 'web' }, service: 'web' }),
  resource('Pipe/orders', {
    status: 'Missing',
    reason: 'Missing',
    conditions: conditions({ Synced: condition('False', { reason: 'Missing' }) }),
  }),
  resource('Pipe/users', { labels: { team: 'web' } }),
]

async function keysAt(path: string): Promise<readonly unknown[]> {
  const source = 'it is empty'
  const findings = [
    finding({ file: 'team/a.yaml', message: 'No name.' }),
    finding({ file: 'b.yaml', line: 9, message: 'No kind.' }),
  ]
  const parts = fakeParts({ overview: () => overview({ findings, sourceProblem: source }) }, RESOURCES, [
    // Another condition, so that no four are alike.
    conditionEntry({ key: 'Pipe/gone', condition: 'Ready' }),
    ...RESOURCES.map(({ key }) => conditionEntry({ key })),
  ])
  const { url } = await running(parts)
  const { status, body } = await ask(`${url}/api/v1/${path}`)
  expect(status).toBe(200)
  const items = body['items'] as readonly Readonly<Record<string, unknown>>[]
  return items.map(({ key, keys, file, id }) => key ?? [keys].flat()[0] ?? file ?? id)
}

describe('what needs attention', () => {
  it.each([
    ['', ['source', 'team/a.yaml', 'b.yaml', 'Pipe/orders', 'Pipe/clicks']],
    ['?label=team%3Dweb', ['source', 'Pipe/clicks']],
    ['?service=web', ['source', 'Pipe/clicks']],
    ['?status=Missing', ['source', 'Pipe/orders']],
    ['?q=orders', ['source', 'Pipe/orders']],
    ['?file=team', ['source', 'team/a.yaml']],
    ['?q=no+kind', ['source', 'b.yaml']],
    ['?q=nothing+like+it', ['source']],
  ])('%s', async (query, keys) => {
    expect(new Set(await keysAt(`attention${query}`))).toEqual(new Set(keys))
  })
})

describe('what changed', () => {
  it.each([
    ['', ['Pipe/gone', 'Pipe/clicks', 'Pipe/orders', 'Pipe/users']],
    ['?label=team%3Dweb', ['Pipe/clicks', 'Pipe/users']],
    ['?q=gone', ['Pipe/gone']],
    ['?kind=Alert', []],
    ['?status=Drifted&type=condition', ['Pipe/clicks']],
  ])('%s', async (query, keys) => {
    const shown = await keysAt(`timeline${query}`)
    expect(shown.filter((key) => typeof key === 'string')).toEqual(keys)
  })

  it('keeps a commit that changed one of those, and one whose name is asked for', async () => {
    const parts = fakeParts({}, RESOURCES)
    for (const [id, key] of [
      ['aaaa', 'Pipe/clicks'],
      ['bbbb', 'Pipe/orders'],
    ] as const)
      parts.tell(loaded({ revision: { id, from: 'git' }, changed: [key] }))
    const { url } = await running(parts)
    const revisions = async (query: string) =>
      ((await ask(`${url}/api/v1/timeline${query}`)).body['items'] as readonly { revision: string }[]).map(
        ({ revision }) => revision,
      )
    expect(await revisions('?service=web')).toEqual(['aaaa'])
    expect(await revisions('?q=bbbb')).toEqual(['bbbb'])
    expect(await revisions('?q=users')).toEqual([])
  })
})

describe('findings', () => {
  it.each([
    ['', ['Pipe/clicks', 'team/a.yaml']],
    ['?label=team%3Dweb', ['Pipe/clicks']],
    ['?service=analytics', []],
    ['?q=team', ['Pipe/clicks', 'team/a.yaml']],
    ['?file=team', ['team/a.yaml']],
  ])('narrowed to %s', async (query, expected) => {
    const findings = [finding({ key: 'Pipe/clicks' }), finding({ file: 'team/a.yaml' })]
    const { url } = await running(fakeParts({ overview: () => overview({ findings }) }, RESOURCES))
    const { body } = await ask(`${url}/api/v1/findings${query}`)
    const items = body['items'] as readonly Readonly<Record<string, unknown>>[]
    expect(items.map(({ key, file }) => key ?? file)).toEqual(expected)
    expect(body['total']).toBe(expected.length)
  })
})
