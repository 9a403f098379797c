import { expect, test } from 'vitest'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Reason } from '../../src/plan/reason.ts'
import { resource, telemetry } from './sample.ts'

/* What alerts name, and whom they are for: `pipewright_resource_info`. */

/** The series after each of the boards, one scrape a board. */
async function infos(boards: readonly (readonly ResourceView[])[], namedResources = 10) {
  let board: readonly ResourceView[] = []
  const made = await telemetry({ board: () => board, namedResources, log: { level: 'silent' } })
  const scrapes: (readonly string[])[] = []
  for (const next of boards) {
    board = next
    const { text } = await made.metrics.render()
    scrapes.push(text.split('\n').filter((shown) => shown.startsWith('pipewright_resource_info{')))
  }
  return scrapes
}

function series(name: string, rest: string, value = 1): string {
  return `pipewright_resource_info{kind="Pipe",name="${name}",${rest}} ${value}`
}

const drifted = { status: 'Drifted', reason: 'NotUpdatable' } as const
const WELL = 'status="Ready",reason="InSync"'
const BAD = 'status="Drifted",reason="NotUpdatable"'

test('each resource has one, with its service and its team; a team that no manifest gives is empty', async () => {
  const board = [
    resource('Pipe/orders', { ...drifted, service: 'shop', labels: { team: 'sales', tier: '1' } }),
    resource('Pipe/refunds'),
  ]
  expect(await infos([board])).toEqual([
    [
      series('orders', `service_name="shop",team="sales",${BAD}`),
      series('refunds', `service_name="",team="",${WELL}`),
    ],
  ])
})

test('it changes with the resource, and is gone with it', async () => {
  const before = [resource('Pipe/orders', drifted), resource('Pipe/refunds')]
  const after = [resource('Pipe/orders')]
  expect(await infos([before, after, []])).toEqual([
    [
      series('orders', `service_name="",team="",${BAD}`),
      series('refunds', `service_name="",team="",${WELL}`),
    ],
    [series('orders', `service_name="",team="",${WELL}`)],
    [],
  ])
})

test('where not all are named, those that are not well are; the others are counted, with their team', async () => {
  const board = [
    resource('Pipe/a', { labels: { team: 'sales' } }),
    resource('Pipe/b', { labels: { team: 'sales' } }),
    resource('Pipe/c', { ...drifted, service: 'shop', labels: { team: 'ops' } }),
    resource('Pipe/d', { ...drifted, service: 'shop', labels: { team: 'ops' } }),
    resource('Pipe/e', { ...drifted, service: 'shop', labels: { team: 'ops' } }),
  ]
  expect(await infos([board], 2)).toEqual([
    [
      series('_other', `service_name="",team="sales",${WELL}`, 2),
      series('c', `service_name="shop",team="ops",${BAD}`),
      series('d', `service_name="shop",team="ops",${BAD}`),
      series('_other', `service_name="shop",team="ops",${BAD}`),
    ],
  ])
})

/** A thousand pipes, each of a team of its own. */
function crowd(first: number): readonly ResourceView[] {
  return Array.from({ length: 1_000 }, (_, n) =>
    resource(`Pipe/${n}`, { labels: { team: `team-${first + n}` } }),
  )
}

test('a thousand teams do not make a thousand series, and a team that left makes room', async () => {
  const [before = [], after = []] = await infos([crowd(0), crowd(1_000)], 0)
  expect(before).toHaveLength(101)
  expect(before.at(-1)).toBe(series('_other', `service_name="",team="_other",${WELL}`, 900))
  expect(after).toHaveLength(101)
  expect(after.join()).toContain('team="team-1000"')
})

const fine = { status: 'True', reason: 'InSync', message: '', since: 0 } as const

function claim(status: 'False' | 'Unknown', reason: Reason) {
  return { ...fine, status, reason }
}

const unavailable = claim('Unknown', 'Unavailable')
const AWAY = {
  status: 'Failed',
  reason: 'Unavailable',
  conditions: { Valid: fine, Synced: unavailable, Ready: unavailable },
} as const
const DRIFT = {
  status: 'Drifted',
  reason: 'Drifted',
  conditions: { Valid: fine, Synced: claim('False', 'Drifted'), Ready: fine },
} as const

const ALSO: readonly (readonly [string, Partial<ResourceView>, readonly string[]])[] = [
  [
    'an orphan whose outcome nobody knows',
    {
      status: 'Orphaned',
      reason: 'Orphaned',
      conditions: {
        Valid: claim('Unknown', 'Orphaned'),
        Synced: claim('Unknown', 'Orphaned'),
        Ready: claim('Unknown', 'OutcomeUnknown'),
      },
    },
    ['Orphaned Orphaned', 'OutcomeUnknown OutcomeUnknown'],
  ],
  [
    'a state that is not healthy, behind drift',
    { ...DRIFT, conditions: { ...DRIFT.conditions, Ready: claim('False', 'UnhealthyState') } },
    ['Drifted Drifted', 'NotReady UnhealthyState'],
  ],
  [
    'drift behind an invalid manifest',
    {
      status: 'Invalid',
      reason: 'InvalidManifest',
      conditions: { ...DRIFT.conditions, Valid: claim('False', 'InvalidManifest') },
    },
    ['Drifted Drifted', 'Invalid InvalidManifest'],
  ],
  [
    'a status that differs from the one of its reason',
    { status: 'NotReady', reason: 'Unavailable', conditions: { ...AWAY.conditions, Synced: fine } },
    ['NotReady Unavailable'],
  ],
  [
    'nothing but itself, when it is suspended',
    { ...DRIFT, status: 'Suspended', reason: 'Suspended' },
    ['Suspended Suspended'],
  ],
]

/** Status and reason of each series. */
function said(scrape: readonly string[] = []): readonly string[] {
  return scrape.map((line) => line.replace(/.*status="(\w+)",reason="(\w+)".*/, '$1 $2')).toSorted()
}

test.each(ALSO)('what hides another problem does not end it: %s', async (_, over, expected) => {
  const [scrape] = await infos([[resource('Pipe/orders', over)]])
  expect(said(scrape)).toEqual(expected)
})

test('drift lasts while nobody can look, and ends when somebody could', async () => {
  const boards = [DRIFT, AWAY, AWAY, {}, AWAY].map((over) => [resource('Pipe/orders', over)])
  expect((await infos(boards)).map(said)).toEqual([
    ['Drifted Drifted'],
    ['Drifted Drifted', 'Failed Unavailable'],
    ['Drifted Drifted', 'Failed Unavailable'],
    ['Ready InSync'],
    ['Failed Unavailable'],
  ])
})
