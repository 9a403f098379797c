import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { describe, expect, it } from 'vitest'
import { comparisonOf, sideBySide } from '../../src/server/api/side-by-side.ts'
import { condition, conditions, NOW, resource } from './fake-parts.ts'

describe('desired against observed', () => {
  it('tells of each field what was asked for and what is there, what differs first', () => {
    const asked = {
      name: 'x',
      scaling: { replicas: 2 },
      source: { kafka: { topics: 'a,b', credentials: { password: '[secret kafka/password]' } } },
      destination: {
        table: 't',
        columns: [
          { name: 'id', type: 'UInt64' },
          { name: 'at', type: 'DateTime' },
        ],
      },
    }
    const pipe = resource('Pipe/x', {
      observed: {
        id: '1',
        name: 'x',
        state: 'Running',
        scaling: { replicas: 3 },
        source: { kafka: { topics: 'b,a' } },
        destination: {
          table: 't',
          columns: [
            { name: 'at', type: 'Date' },
            { name: 'id', type: 'UInt64' },
          ],
        },
      },
      differences: [
        { field: 'destination.columns[at].type', desired: 'DateTime', observed: 'Date' },
        { field: 'scaling.replicas', desired: '2', observed: '3' },
      ],
    })
    expect(
      sideBySide(DEFAULT, pipe, asked).map(({ field, desired, observed, verdict }) => [
        field,
        desired,
        observed,
        verdict,
      ]),
    ).toEqual([
      ['destination.columns[at].type', 'DateTime', 'Date', 'differs'],
      ['scaling.replicas', '2', '3', 'differs'],
      ['name', 'x', 'x', 'same'],
      ['source.kafka.topics', 'a,b', 'b,a', 'same'],
      ['source.kafka.credentials.password', '[secret kafka/password]', undefined, 'never-returned'],
      ['destination.table', 't', 't', 'same'],
      ['destination.columns[id].name', 'id', 'id', 'same'],
      ['destination.columns[id].type', 'UInt64', 'UInt64', 'same'],
      ['destination.columns[at].name', 'at', 'at', 'same'],
      ['id', undefined, '1', 'not-asked-for'],
      ['state', undefined, 'Running', 'not-asked-for'],
    ])
  })

  it('shows a whole item that only one side has once', () => {
    const pipe = resource('Pipe/x', {
      observed: { destination: { columns: [] } },
      differences: [{ field: 'destination.columns[id]', desired: 'UInt64', observed: '(not set)' }],
    })
    expect(sideBySide(DEFAULT, pipe, { destination: { columns: [{ name: 'id', type: 'UInt64' }] } })).toEqual(
      [{ field: 'destination.columns[id]', desired: 'UInt64', observed: '(not set)', verdict: 'differs' }],
    )
  })

  it('is not seen before the platform was asked, and is nothing for a service', () => {
    expect(sideBySide(DEFAULT, resource('Alert/x'), { threshold: 1 })).toEqual([
      { field: 'threshold', desired: '1', observed: undefined, verdict: 'not-seen' },
    ])
    expect(sideBySide(DEFAULT, resource('Service/x'), undefined)).toEqual([])
  })

  it('is bounded', () => {
    const columns = Array.from({ length: 5_000 }, (_, index) => ({
      name: `c${index}`,
      type: 'x'.repeat(1_000),
    }))
    const fields = sideBySide(DEFAULT, resource('Pipe/x'), { destination: { columns } })
    expect(fields).toHaveLength(1_000)
    expect(Math.max(...fields.map(({ desired }) => desired?.length ?? 0))).toBe(500)
  })

  const away = condition('Unknown', { reason: 'Unavailable' })
  const OUTAGE = conditions({ Synced: away, Ready: away })
  const seen = {
    name: 'x',
    scaling: { replicas: 2 },
    source: { kafka: { brokers: 'a:1', caCertificate: '[sensitive]' } },
  }
  const kept = { field: 'scaling.replicas', desired: '2', observed: '3' }

  const ROWS: readonly (readonly [string, Parameters<typeof resource>[1], object | undefined, object])[] = [
    [
      'an edit since the last reading is compared with what was read',
      { observed: seen, conditions: OUTAGE },
      { ...seen, scaling: { replicas: 5 } },
      { 'scaling.replicas': 'differs', name: 'same' },
    ],
    [
      'an edit that takes a difference back is no difference',
      { observed: { ...seen, scaling: { replicas: 3 } }, conditions: OUTAGE, differences: [kept] },
      { ...seen, scaling: { replicas: 3 } },
      { 'scaling.replicas': 'same' },
    ],
    [
      'a hidden value that the last check did not compare is not said to be the same',
      { observed: seen, conditions: OUTAGE },
      seen,
      { 'source.kafka.caCertificate': 'not-compared', 'source.kafka.brokers': 'same' },
    ],
    [
      'a hidden value that the last check found equal is',
      { observed: seen },
      seen,
      { 'source.kafka.caCertificate': 'same' },
    ],
    [
      'what an earlier process found out stands while the manifest asks for the same',
      { differences: [kept] },
      seen,
      { 'scaling.replicas': 'differs', name: 'not-seen' },
    ],
    [
      'and not when it asks for something else',
      { differences: [kept] },
      { ...seen, scaling: { replicas: 3 } },
      { 'scaling.replicas': 'not-seen' },
    ],
    [
      'without a valid manifest nothing is compared',
      { observed: seen, differences: [kept] },
      undefined,
      { 'scaling.replicas': 'not-compared', name: 'not-compared' },
    ],
  ]
  it.each(ROWS)('%s', (_, over, body, verdicts) => {
    const fields = sideBySide(DEFAULT, resource('Pipe/x', over), body as Parameters<typeof sideBySide>[2])
    expect(Object.fromEntries(fields.map(({ field, verdict }) => [field, verdict]))).toMatchObject(verdicts)
  })
})

describe('what there is to compare', () => {
  const STARTED = NOW
  const ROWS: readonly (readonly [string, Parameters<typeof resource>[1], object | undefined, string])[] = [
    ['a reading of this process', { observed: { name: 'x' }, checkedAt: NOW + 1 }, {}, 'read'],
    ['a reading of an earlier process', { checkedAt: NOW - 1 }, {}, 'read-before-start'],
    ['a reading that found nothing', { checkedAt: NOW + 1 }, {}, 'not-found'],
    ['it was missing before the start too', { status: 'Missing', checkedAt: NOW - 1 }, {}, 'not-found'],
    ['no reading at all', {}, {}, 'never-read'],
    ['no valid manifest', { observed: { name: 'x' }, checkedAt: NOW + 1 }, undefined, 'no-manifest'],
  ]
  it.each(ROWS)('%s', (_, over, body, expected) => {
    const found = comparisonOf(resource('Pipe/x', over), body as Parameters<typeof comparisonOf>[1], STARTED)
    expect(found).toBe(expected)
  })
})
