import { expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Event } from '../../src/contract/events.ts'
import type { Health, Overview } from '../../src/server/parts.ts'
import { createRecentEvents } from '../../src/server/recent-events.ts'
import { conditionEntry } from '../support/events.ts'
import { condition, conditions, fakeParts, finding, limited, NOW, overview, resource } from './fake-parts.ts'
import { ask, running } from './running.ts'

/* Replies are kept for as long as nothing that they are made of changes (law 11): each of it is changed alone. */

interface World {
  readonly resources: readonly ResourceView[]
  readonly version: number
  readonly overview: Overview
  readonly ready: Health
  readonly history: readonly HistoryEntry[]
  readonly events: readonly Event[]
}

const HELD = resource('Pipe/held', {
  status: 'Refused',
  reason: 'CreateLimit',
  conditions: conditions({
    Synced: condition('False', {
      reason: 'CreateLimit',
      facts: { service: 'analytics', wanted: 40, made: 0, limit: 25 },
    }),
  }),
})
const HELD_BACK = [HELD, { ...HELD, key: 'Pipe/held-too', name: 'held-too' } as const]

const MISSING = resource('Pipe/missing', {
  status: 'Missing',
  reason: 'Missing',
  pipeId: 'p-1',
  message: 'Say "pipewright resolve Pipe/missing".',
})

function entry(message: string): HistoryEntry {
  return conditionEntry({ key: 'Pipe/missing', message })
}

const FIRST: World = {
  resources: [...HELD_BACK, MISSING],
  version: 1,
  overview: overview({ createLimit: limited('analytics'), findings: [finding()], sourceProblem: 'a' }),
  ready: { ok: true, detail: 'ready' },
  // With fewer, the reader cannot tell that they are the same.
  history: ['fourth', 'third', 'second', 'first'].map(entry),
  events: [],
}

function partsOf(world: () => World) {
  const parts = fakeParts({}, FIRST.resources)
  const recentEvents = () => {
    const events = createRecentEvents(() => NOW)
    for (const event of world().events) events.add(event)
    return events
  }
  return {
    ...parts,
    board: {
      get: (key: string) => world().resources.find((one) => one.key === key),
      list: () => world().resources,
      get version() {
        return world().version
      },
    },
    overview: () => world().overview,
    ready: () => world().ready,
    history: async ({ limit }: { readonly limit: number }) => world().history.slice(0, limit),
    recentEvents: { ...parts.recentEvents, source: () => recentEvents().source() },
  }
}

type Change = (world: World) => World
const known =
  (over: Partial<Overview>): Change =>
  (world) => ({ ...world, overview: { ...world.overview, ...over } })

const PROBLEM: Event = { type: 'SourceFailed', reason: 'gone', durationMs: 1, message: 'it is gone' }

it.each<readonly [string, string, Change]>([
  [
    'resources',
    'a resource',
    (world) => ({ ...world, version: 2, resources: [resource('Pipe/other', { message: 'new' })] }),
  ],
  ['page', 'a resource', (world) => ({ ...world, version: 2, resources: [resource('Pipe/other')] })],
  ['attention', 'a resource', (world) => ({ ...world, version: 2, resources: [] })],
  [
    'timeline?status=Missing',
    'which resources there are',
    (world) => ({ ...world, version: 2, resources: [] }),
  ],
  ['attention', 'the problem of the source', known({ sourceProblem: 'another' })],
  ['attention', 'the reason of it', known({ sourceReason: 'SourceShrunk' })],
  ['attention', 'the directory', known({ manifestsDir: 'elsewhere' })],
  ['attention', 'whether it is ready', (world) => ({ ...world, ready: { ok: false, detail: 'no ledger' } })],
  ['attention', 'findings', known({ findings: [finding({ message: 'another' })] })],
  ['findings', 'findings', known({ findings: [finding({ message: 'another' })] })],
  ['timeline', 'the history', (world) => ({ ...world, history: [entry('fifth'), ...world.history] })],
  ['timeline', 'the source', (world) => ({ ...world, events: [PROBLEM] })],
])('%s is other than before when there is a change of %s', async (path, _, change) => {
  let world = FIRST
  const { url } = await running(partsOf(() => world))
  const target = (at: string) => `${at}/api/v1/${path}`
  const before = await ask(target(url))
  expect((await ask(target(url))).body).toEqual(before.body)
  world = change(FIRST)
  const after = await ask(target(url))
  const fresh = await running(partsOf(() => world))
  expect(after.body).toEqual((await ask(target(fresh.url))).body)
  expect(after.body).not.toEqual(before.body)
})

it.each(['resources', 'attention', 'findings', 'timeline'])(
  '%s answers each question by itself, one after the other on one server',
  async (path) => {
    const questions = ['', 'limit=1', 'limit=1&offset=1', 'q=held', 'q=missing', 'kind=Alert', 'service=x']
    const { url } = await running(partsOf(() => FIRST))
    const together = await Promise.all(questions.map((query) => ask(`${url}/api/v1/${path}?${query}`)))
    for (const [index, query] of questions.entries()) {
      const alone = await running(partsOf(() => FIRST))
      expect([query, together[index]?.body]).toEqual([
        query,
        (await ask(`${alone.url}/api/v1/${path}?${query}`)).body,
      ])
    }
  },
)
