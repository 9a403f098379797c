import { masked } from '../support/masked.ts'
import { describe, expect, it } from 'vitest'
import { unknownFacts } from '../../src/plan/outcome-unknown.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { REASONS, type Because, type Reason } from '../../src/plan/reason.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import { causeOfView, nextSteps } from '../../src/server/shown-resource.ts'
import { intent } from '../plan/inputs.ts'
import { condition, conditions, resource, type Over } from './fake-parts.ts'

const HERE = { manifestsDir: 'manifests' }
const PLACE = 'manifests/pipes/orders.yaml:3'

function stuck(reason: Reason, over: Over = {}): ResourceView {
  return resource('Pipe/orders', { reason, status: 'Failed', ...over })
}

/** Stuck for a reason whose facts are known. */
function told(because: Because, over: Over = {}): ResourceView {
  const { reason, facts } = because
  const Synced = condition('Unknown', { reason, facts })
  return stuck(reason, { because, conditions: conditions({ Synced, Ready: condition('Unknown') }), ...over })
}

function drifted(...differences: ResourceView['differences']): ResourceView {
  return stuck('Drifted', { pipeId: 'p-1', differences })
}

function copies(
  status: ResourceView,
  context: Parameters<typeof nextSteps>[1] = HERE,
): readonly (string | undefined)[] {
  return nextSteps(status, context, []).map(({ copy }) => copy)
}

const INTENT = intent('unknown', { openedAt: -5_000, sendBy: 0, endBy: 0 })

const UNKNOWN = {
  reason: 'OutcomeUnknown',
  facts: unknownFacts(blankRecord('Pipe/orders'), INTENT, []),
} as const

const WAYS_OUT = [
  'pipewright resolve Pipe/orders --adopt PIPE_ID',
  'pipewright resolve Pipe/orders --retry',
  'adopt: PIPE_ID',
  `retryCreate: ${INTENT.id}`,
]

const DRIFTED = { reason: 'Drifted', facts: { fields: ['scaling.replicas'], from: 'manifest' } } as const

const REPLICAS = { field: 'scaling.replicas', desired: '2', observed: '3' }

const ROWS: readonly (readonly [string, ResourceView, readonly (string | undefined)[]])[] = [
  ['an outcome that nobody knows: each way out, as the message words it', told(UNKNOWN), WAYS_OUT],
  ['drift of one plain value: the id, and the line that keeps it', drifted(REPLICAS), ['p-1', 'replicas: 3']],
  ['drift of several: the place to edit', drifted(REPLICAS, REPLICAS), ['p-1', PLACE]],
  [
    'drift to a value that is no plain word: never into a manifest as it stands',
    drifted({ ...REPLICAS, observed: '3}\nevil: {' }),
    ['p-1', PLACE],
  ],
  [
    'missing secrets: their paths, whatever is the matter with them',
    told({
      reason: 'SecretUnavailable',
      facts: {
        missing: [
          { file: 'secrets/a/b', why: 'absent' },
          { file: 'secrets/c/d', why: 'empty' },
          { file: 'secrets/e/f', why: 'absent' },
        ],
      },
    }),
    ['secrets/a/b, secrets/e/f', 'secrets/c/d', PLACE],
  ],
  [
    'a rename: the two answers with the other key',
    told({
      reason: 'Ambiguous',
      facts: { how: 'unclaimed', key: 'Pipe/orders', other: 'Pipe/old.name', isCreated: false },
    }),
    ['renamedFrom: Pipe/old.name', 'replaces: Pipe/old.name'],
  ],
  [
    'a state that plainly says that it failed: nobody is told to call it healthy',
    told({ reason: 'UnhealthyState', facts: { state: masked('ProvisioningFailed') } }, { pipeId: 'p-1' }),
    ['p-1'],
  ],
  [
    'a state that only sounds bad: the manifest, and not a line that would take the place of those that are fine',
    told({ reason: 'UnhealthyState', facts: { state: masked('Paused') } }, { pipeId: 'p-1' }),
    ['p-1', PLACE],
  ],
  ['an orphan', stuck('Orphaned'), [PLACE, 'pipewright forget Pipe/orders']],
  ['refused credentials', stuck('AuthFailed'), [undefined]],
]

describe('the next step', () => {
  it.each(ROWS)('%s', (_, status, expected) => {
    expect(copies(status)).toEqual(expected)
  })

  it.each([
    [['scaling.replicas'], 'replicas: 3'],
    [['destination.roles'], PLACE],
    [['destination.roles', 'scaling.replicas'], PLACE],
  ])('of an edit of %j, while scaling.replicas differs, undoes that edit', (fields, undo) => {
    const facts = { key: 'Pipe/orders', fields, pipeId: 'p-1' } as const
    expect(copies(told({ reason: 'NotUpdatable', facts }, { differences: [REPLICAS] }))[1]).toBe(undo)
  })

  it('of an invalid manifest begins at its first finding', () => {
    const invalid = stuck('InvalidManifest', { conditions: conditions({ Valid: condition('False') }) })
    const steps = nextSteps(invalid, HERE, [{ file: 'pipes/orders.yaml', line: 35 }])
    expect(steps.map(({ copy }) => copy)).toEqual(['manifests/pipes/orders.yaml:35', 'pipewright validate'])
  })

  it('of an invalid manifest goes on with the outcome that nobody knows', () => {
    const both = stuck('InvalidManifest', {
      status: 'OutcomeUnknown',
      conditions: { ...told(UNKNOWN).conditions, Valid: condition('False') },
    })
    expect(copies(both).slice(1)).toEqual(['pipewright validate', ...WAYS_OUT])
  })

  it('of words in Git that came too early is to take them back, and to say them again later', () => {
    const early = told({
      ...UNKNOWN,
      facts: {
        ...UNKNOWN.facts,
        retryFrom: Date.UTC(2026, 10, 24, 8, 5),
        saidEarlyAt: Date.UTC(2026, 10, 24, 8),
      },
    })
    const steps = nextSteps(early, HERE, [])
    expect(steps.at(-1)).toEqual({
      text:
        'policy.retryCreate has no effect: it was already set at 2026-11-24T08:00:00Z, when the create could still arrive. ' +
        'Remove it and commit. If the pipe is still not in the console after 2026-11-24T08:05:00Z, write in manifests/pipes/orders.yaml, under `policy`:',
      copy: `retryCreate: ${INTENT.id}`,
    })
  })

  it('holds a name from elsewhere together on a command line, and copies nothing that cannot be seen', () => {
    expect(copies(stuck('MassMissing', { service: `x'; rm -rf ~` }))[1]).toBe(
      String.raw`pipewright status Service/'x'\''; rm -rf ~'`,
    )
    expect(copies(stuck('MassMissing', { service: 'a\nrm' })).slice(0, 2)).toEqual([undefined, undefined])
    expect(copies(stuck('Rejected', { file: 'a\u202E.yaml' }))[0]).toBe(undefined)
  })

  it.each(Object.keys(REASONS) as Reason[])(
    'of %s is a sentence; one that announces something to copy has it',
    (reason) => {
      for (const { text, copy } of nextSteps(stuck(reason), HERE, [])) {
        expect(text).toMatch(copy === undefined ? /^[A-Z].{10,}\.$/ : /^[A-Z].{10,}:$/)
      }
    },
  )
})

describe('the cause', () => {
  it.each([
    ['OutcomeUnknown', told(UNKNOWN), 'because it might make a second pipe.'],
    ['Drifted', told(DRIFTED), 'The platform reports other values than the manifest for scaling.replicas.'],
    [
      'Rejected',
      told({ reason: 'Rejected', facts: { said: 'creating the pipe failed: no' } }),
      'Creating the pipe failed: no.',
    ],
  ] as const)('of %s leaves out what the steps say', (_which, shown, end) => {
    expect(causeOfView(shown).endsWith(end)).toBe(true)
  })

  it('of an alert says what the alert says of itself', () => {
    const facts = { state: masked('ALERT'), isDocumented: true } as const
    const because = { reason: 'UnhealthyState', facts } as const
    const Ready = condition('False', because)
    const alert = resource('Alert/lag', {
      reason: 'UnhealthyState',
      because,
      conditions: conditions({ Ready }),
      observed: { name: 'Ingest lag', message: 'Ingestion lags behind' },
    })
    expect(causeOfView(alert)).toBe(
      'Its state is ALERT, which is not a healthy one. On the platform it is "Ingest lag": Ingestion lags behind.',
    )
  })
})

describe('drift of an alert', () => {
  const drift = { field: 'threshold', desired: '10', observed: '11' }
  it.each([
    [
      'that is watched: where it is defined, and what is expected',
      undefined,
      'where the alert is defined',
      'spec.expect',
    ],
    ['that is created: in the console, and what is asked for', true, 'in the console', 'spec`'],
  ] as const)('%s', (_why, isWritten, where, place) => {
    const over = { reason: 'Drifted', status: 'Drifted', pipeId: 'a-1', differences: [drift] } as const
    const alert = resource('Alert/lag', { ...over, ...(isWritten && { isWritten }) })
    const [console, edit] = nextSteps(alert, HERE, [])
    expect(console?.text).toContain(`Change threshold back to 10 ${where}`)
    expect(edit?.text).toContain(place)
    expect(edit?.copy).toBe('threshold: 11')
  })
})

it('an outcome that nobody knows: from when on it may be sent again', () => {
  const texts = nextSteps(told(UNKNOWN), HERE, []).map(({ text }) => text)
  expect(texts).toContain('If it is not there after 1970-01-01T00:02:00Z, create it again:')
  expect(texts).toContain(
    'Or in Git, if it is not there after 1970-01-01T00:02:00Z, write in manifests/pipes/orders.yaml, under `policy`:',
  )
})
