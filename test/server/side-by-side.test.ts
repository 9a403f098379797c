import { describe, expect, it } from 'vitest'
import { sideBySide } from '../../src/server/api/side-by-side.ts'
import { resource } from './fake-parts.ts'

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
      sideBySide(pipe, asked).map(({ field, desired, observed, verdict }) => [
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
      ['destination.table', 't', undefined, 'not-seen'],
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
    expect(sideBySide(pipe, { destination: { columns: [{ name: 'id', type: 'UInt64' }] } })).toEqual([
      { field: 'destination.columns[id]', desired: 'UInt64', observed: '(not set)', verdict: 'differs' },
    ])
  })

  it('is not seen before the platform was asked, and is nothing for a service', () => {
    expect(sideBySide(resource('Alert/x'), { threshold: 1 })).toEqual([
      { field: 'threshold', desired: '1', observed: undefined, verdict: 'not-seen' },
    ])
    expect(sideBySide(resource('Service/x'), undefined)).toEqual([])
  })

  it('is bounded', () => {
    const columns = Array.from({ length: 5_000 }, (_, index) => ({
      name: `c${index}`,
      type: 'x'.repeat(1_000),
    }))
    const fields = sideBySide(resource('Pipe/x'), { destination: { columns } })
    expect(fields).toHaveLength(1_000)
    expect(Math.max(...fields.map(({ desired }) => desired?.length ?? 0))).toBe(500)
  })
})
