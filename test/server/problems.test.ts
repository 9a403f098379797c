import { describe, expect, it } from 'vitest'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Overview, ServerParts } from '../../src/server/parts.ts'
import { narrowingOf } from '../../src/server/api/selection.ts'
import { attentionOf } from '../../src/server/problems.ts'
import {
  condition,
  conditions,
  fakeParts,
  finding,
  limited,
  NOW,
  overview,
  resource,
  type Over,
} from './fake-parts.ts'
import { ask, running } from './running.ts'

function problems(
  resources: readonly ResourceView[],
  over: Partial<Overview> = {},
  parts: Partial<Omit<ServerParts, 'clock'>> = {},
) {
  const all = { narrowing: narrowingOf({}), part: { offset: 0, limit: 1_000 }, query: {} }
  return attentionOf(fakeParts({ overview: () => overview(over), ...parts }, resources), all).items
}

function invalid(name: string): ResourceView {
  const over = { conditions: conditions({ Valid: condition('False') }) }
  return resource(`Pipe/${name}`, { status: 'Invalid', reason: 'InvalidManifest', ...over })
}

function refused(index: number, over: Over = {}): ResourceView {
  return resource(`Pipe/p${index}`, { status: 'Failed', reason: 'AuthFailed', message: 'refused', ...over })
}

function driftedSince(since: number): ResourceView['conditions'] {
  return conditions({ Synced: condition('False', { reason: 'Drifted', since }) })
}

describe('what is not well', () => {
  it('is nothing when all is well', () => {
    expect(problems([resource('Pipe/a'), resource('Pipe/b', { status: 'Suspended' })])).toEqual([])
  })

  it('comes worst first, the whole before resources, and of equal ones the oldest', () => {
    const found = problems(
      [
        resource('Pipe/a', { status: 'Drifted', reason: 'Drifted', conditions: driftedSince(NOW) }),
        resource('Pipe/b', { status: 'Drifted', reason: 'Drifted', conditions: driftedSince(NOW - 9) }),
        resource('Pipe/c', { status: 'OutcomeUnknown', reason: 'OutcomeUnknown' }),
        invalid('d'),
      ],
      { sourceProblem: 'it is empty', createLimit: limited('analytics') },
      { ready: () => ({ ok: false, detail: 'the ledger is locked' }) },
    )
    const shown = found.map(({ id, keys: [key = id] }) => key)
    expect(shown).toEqual(['source', 'ready', 'Pipe/c', 'Pipe/d', 'Pipe/b', 'Pipe/a'])
    expect(found[0]).toMatchObject({ message: 'it is empty', next: [{ copy: 'manifests' }] })
  })

  it('says how to accept a directory that shrank, and of no other', () => {
    const shrunk = problems([], { sourceProblem: 'it lost 3 of 5', sourceReason: 'SourceShrunk' })
    expect(shrunk[0]?.next.map(({ copy }) => copy)).toEqual(['manifests', 'pipewright reconcile --accept'])
    const empty = problems([], { sourceProblem: 'it is empty', sourceReason: 'SourceEmpty' })
    expect(empty[0]?.next.map(({ copy }) => copy)).toEqual(['manifests'])
  })

  it('has each what a person needs at night', () => {
    const [found] = problems([
      resource('Pipe/x', {
        status: 'Drifted',
        reason: 'Drifted',
        because: { reason: 'Drifted', facts: { fields: ['scaling.replicas'], from: 'manifest' } },
        differences: [{ field: 'scaling.replicas', desired: '1', observed: '2' }],
        pipeId: 'p-1',
      }),
    ])
    expect(found).toMatchObject({
      status: 'Drifted',
      reason: 'Drifted',
      what: 'the platform reports other values, though the manifest did not change',
      message: 'The platform reports other values than the manifest for scaling.replicas.',
      since: NOW - 60_000,
      keys: ['Pipe/x'],
      count: 1,
      service: 'analytics',
      file: 'pipes/x.yaml',
      line: 3,
      differences: [{ field: 'scaling.replicas' }],
      next: [{ copy: 'p-1' }, { copy: 'replicas: 2' }],
    })
  })

  it('shows an invalid manifest with its findings, and a document that is no resource by itself', () => {
    const found = problems([invalid('x')], {
      findings: [
        finding({ key: 'Pipe/x', line: 35 }),
        finding({ key: undefined, line: 9 }),
        finding({ severity: 'warning' }),
      ],
    })
    expect(found.map(({ keys, findings, next }) => [keys, findings.length, next[0]?.copy])).toEqual([
      [[], 1, 'manifests/pipes/orders.yaml:9'],
      [['Pipe/x'], 1, 'manifests/pipes/orders.yaml:35'],
    ])
  })

  it('tells many of one cause as one, and few each for itself', () => {
    const many = Array.from({ length: 300 }, (_, index) => refused(index))
    const [found, ...rest] = problems(many)
    expect(rest).toEqual([])
    expect(found).toMatchObject({
      count: 300,
      keys: { length: 12 },
      service: 'analytics',
      message: 'Refused.',
    })
    // Of three that drifted in one service nobody knows that they have one cause.
    const drifted = many.map((one) => ({ ...one, status: 'Drifted', reason: 'Drifted' }) as const)
    expect(problems(drifted.slice(0, 3))).toHaveLength(3)
    expect(problems(drifted.slice(0, 4))).toHaveLength(1)
    expect(problems(many.slice(0, 2))).toHaveLength(1)
    expect(problems(many.map((one, index) => ({ ...one, service: `s${index % 2}` })))).toHaveLength(2)
    const [unlike] = problems(
      many.map((one, index) => ({
        ...one,
        because: { reason: 'Rejected', facts: { said: `no ${index}.` } } as const,
      })),
    )
    expect(unlike?.message).toBe('For example Pipe/p0: No 0.')
  })

  it('never tells several unknown outcomes as one: each is another pipe to look for', () => {
    const unknown = Array.from({ length: 6 }, (_, index) =>
      resource(`Pipe/p${index}`, { status: 'OutcomeUnknown', reason: 'OutcomeUnknown' }),
    )
    expect(problems(unknown)).toHaveLength(6)
  })
})

describe('/api/v1/attention', () => {
  it('gives the worst ones, and how many there are', async () => {
    const { url } = await running(fakeParts({}, [invalid('a'), invalid('b'), refused(1)]))
    const { body } = await ask(`${url}/api/v1/attention?limit=2`)
    expect(body).toMatchObject({ items: [{ keys: ['Pipe/a'] }, { keys: ['Pipe/b'] }], total: 3 })
    expect((await ask(`${url}/api/v1/attention?limit=0`)).status).toBe(400)
  })
})

function down(name: string, service: string): ResourceView {
  const shown = condition('False', { reason: 'Unavailable', since: NOW })
  const over = { service, conditions: conditions({ Synced: shown, Ready: shown }) }
  return resource(`Pipe/${name}`, { status: 'Failed', reason: 'Unavailable', ...over })
}

it('a cause of several services is not said to be of one', () => {
  expect(problems([down('a', 'one'), down('b', 'two')])).toMatchObject([{ count: 2, service: undefined }])
  expect(problems([down('a', 'one'), down('b', 'one')])).toMatchObject([{ count: 2, service: 'one' }])
  const from = (name: string, manifestRevision: string) => ({ ...down(name, 'one'), manifestRevision })
  expect(problems([from('a', 'c1'), from('b', 'c1')])).toMatchObject([{ revision: 'c1' }])
  expect(problems([from('a', 'c1'), from('b', 'c2')])).toMatchObject([{ revision: undefined }])
})

describe('what an alert says of itself', () => {
  const observed = { id: 'a1', name: 'Ingest lag', message: 'Ingestion is more than five minutes behind.' }
  const alert = (synced: ReturnType<typeof condition>, ready: ReturnType<typeof condition>) =>
    resource('Alert/lag', {
      status: 'Failed',
      reason: synced.reason,
      observed,
      message: 'x',
      conditions: conditions({ Synced: synced, Ready: ready }),
    })

  it.each([
    ['it fires', condition('True'), condition('False', { reason: 'UnhealthyState' }), true],
    ['nobody can read it now', condition('Unknown', { reason: 'Unavailable' }), condition('Unknown'), false],
    [
      'it fired when it was last read',
      condition('Unknown', { reason: 'Unavailable' }),
      condition('False'),
      false,
    ],
    ['it drifted and does not fire', condition('False', { reason: 'Drifted' }), condition('True'), false],
  ])('is told only while it fires: %s', (_, synced, ready, isTold) => {
    const [problem] = problems([alert(synced, ready)])
    expect(problem?.message.includes('five minutes behind')).toBe(isTold)
  })
})

it('steps of several name whose id they say', () => {
  const many = Array.from({ length: 5 }, (_, index) =>
    resource(`Pipe/p${index}`, {
      status: 'NotReady',
      reason: 'UnhealthyState',
      pipeId: `id-${index}`,
      conditions: conditions({ Ready: condition('False', { reason: 'UnhealthyState' }) }),
    }),
  )
  const [problem] = problems(many)
  expect(problem?.count).toBe(5)
  expect(problem?.next[0]).toEqual({
    text: 'For example Pipe/p0: Find out in the console why the pipe is in this state. Resource id:',
    copy: 'id-0',
  })
})

it('without a last state nothing is said to be kept', () => {
  const [problem] = problems([], { sourceProblem: 'The manifests directory is missing.' })
  expect(problem?.what).toBe('manifests not accepted')
})
