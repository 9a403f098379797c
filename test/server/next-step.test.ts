import { describe, expect, it } from 'vitest'
import { driftWords } from '../../src/plan/drift-words.ts'
import { outcomeUnknownWords } from '../../src/plan/outcome-unknown.ts'
import { blankRecord } from '../../src/plan/record.ts'
import { REASONS, type Reason } from '../../src/plan/reason.ts'
import type { ResourceStatus } from '../../src/reconcile/status.ts'
import { causeOf } from '../../src/server/cause.ts'
import { nextSteps, placeOf } from '../../src/server/next-step.ts'
import { condition, resource, type Over } from './fake-parts.ts'

const HERE = { sandbox: false, manifestsDir: 'manifests' } as const

function stuck(reason: Reason, over: Over = {}): ResourceStatus {
  return resource('Pipe/orders', { reason, status: 'Failed', ...over })
}

function copies(
  status: ResourceStatus,
  context: Parameters<typeof nextSteps>[1] = HERE,
): readonly (string | undefined)[] {
  return nextSteps(status, context, []).map(({ copy }) => copy)
}

const INTENT = {
  id: '7d1a5c3e-48b0-4f96-b2d7-e90c6a1f8b44',
  attempt: 1,
  reason: 'New',
  requestDigest: '',
  revision: '',
  openedAt: 0,
  sendBy: 0,
  endBy: 0,
  state: 'unknown',
  seen: undefined,
  saidEarlyAt: undefined,
} as const

const UNKNOWN = outcomeUnknownWords({
  key: 'Pipe/orders',
  record: blankRecord('Pipe/orders'),
  intent: INTENT,
  knownIds: [],
})

const REPLICAS = { field: 'scaling.replicas', desired: '2', observed: '3' }

const ROWS: readonly (readonly [string, ResourceStatus, readonly (string | undefined)[]])[] = [
  [
    'an outcome that nobody knows: each way out, as the message words it',
    stuck('OutcomeUnknown', { message: UNKNOWN }),
    [
      'pipewright resolve Pipe/orders --adopt PIPE_ID',
      'pipewright resolve Pipe/orders --retry',
      `policy: {retryCreate: ${INTENT.id}}`,
    ],
  ],
  [
    'drift of one plain value: the id, and the line that keeps it',
    stuck('Drifted', { pipeId: 'p-1', differences: [REPLICAS] }),
    ['p-1', 'scaling: {replicas: 3}'],
  ],
  [
    'drift of several: the place to edit',
    stuck('Drifted', { pipeId: 'p-1', differences: [REPLICAS, REPLICAS] }),
    ['p-1', 'manifests/pipes/orders.yaml:3'],
  ],
  [
    'drift to a value that is no plain word: never into a manifest as it stands',
    stuck('Drifted', { pipeId: 'p-1', differences: [{ ...REPLICAS, observed: '3}\nevil: {' }] }),
    ['p-1', 'manifests/pipes/orders.yaml:3'],
  ],
  [
    'a missing secret: the path, out of the message',
    stuck('SecretUnavailable', {
      message:
        'No secret at secrets/a/b, secrets/c/d. Mount the secret there or correct the secretRef; it goes on by itself then.',
    }),
    ['secrets/a/b', 'secrets/c/d', 'manifests/pipes/orders.yaml:3'],
  ],
  [
    'a rename: the two answers with the other key',
    stuck('RenameSuspected', {
      message: 'Pipe/old.name is recorded, has no manifest any more, and looks like Pipe/orders.',
    }),
    ['policy: {renamedFrom: Pipe/old.name}', 'policy: {replaces: Pipe/old.name}'],
  ],
  ['an orphan', stuck('Orphaned'), ['manifests/pipes/orders.yaml:3', 'pipewright forget Pipe/orders']],
  ['refused credentials', stuck('AuthFailed'), ['pipewright status Service/analytics']],
]

describe('the next step', () => {
  it.each(ROWS)('%s', (_, status, expected) => {
    expect(copies(status)).toEqual(expected)
  })

  it('of an invalid manifest begins at its first finding', () => {
    const invalid = stuck('InvalidManifest', {
      conditions: { Valid: condition('False'), Synced: condition('True'), Ready: condition('True') },
    })
    const steps = nextSteps(invalid, HERE, [{ file: 'pipes/orders.yaml', line: 35 }])
    expect(steps.map(({ copy }) => copy)).toEqual([
      'manifests/pipes/orders.yaml:35',
      'pipewright validate manifests',
    ])
  })

  it('of an invalid manifest goes on with the outcome that nobody knows', () => {
    const both = stuck('InvalidManifest', {
      status: 'OutcomeUnknown',
      conditions: { Valid: condition('False'), Synced: condition('Unknown'), Ready: condition('Unknown') },
      message: UNKNOWN,
    })
    expect(copies(both).slice(1)).toEqual([
      'pipewright validate manifests',
      'pipewright resolve Pipe/orders --adopt PIPE_ID',
      'pipewright resolve Pipe/orders --retry',
      `policy: {retryCreate: ${INTENT.id}}`,
    ])
  })

  it('is typed as it works in the sandbox, which has no command of its own', () => {
    expect(copies(stuck('Orphaned'), { ...HERE, sandbox: true })[1]).toBe(
      'npm run pipewright -- forget Pipe/orders --sandbox',
    )
  })

  it('holds a name from elsewhere together on a command line, and copies nothing that cannot be seen', () => {
    expect(copies(stuck('AuthFailed', { service: `x'; rm -rf ~` }))).toEqual([
      String.raw`pipewright status Service/'x'\''; rm -rf ~'`,
    ])
    expect(copies(stuck('AuthFailed', { service: 'a\nrm' }))).toEqual([undefined])
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
    ['OutcomeUnknown', UNKNOWN, 'created after 1969-12-31T23:59:00Z.'],
    [
      'Drifted',
      driftWords([REPLICAS]),
      'The platform reports other values than the manifest for scaling.replicas.',
    ],
    ['Rejected', 'creating the pipe failed: no', 'creating the pipe failed: no'],
  ] as const)('of %s leaves out what the steps say', (reason, message, end) => {
    expect(causeOf(stuck(reason, { message })).endsWith(end)).toBe(true)
  })

  it('of an alert says what the alert says of itself', () => {
    const alert = resource('Alert/lag', {
      reason: 'UnhealthyState',
      message: 'Its state is ALERT.',
      observed: { name: 'Ingest lag', message: 'Ingestion lags behind' },
    })
    expect(causeOf(alert)).toBe(
      'Its state is ALERT. On the platform it is "Ingest lag": Ingestion lags behind.',
    )
  })
})

describe('a place', () => {
  it.each([
    ['manifests', 'a/b.yaml', 3, 'manifests/a/b.yaml:3'],
    ['./m/', 'b.yaml', undefined, './m/b.yaml'],
    ['.', 'b.yaml', 1, 'b.yaml:1'],
  ])('%s, %s', (dir, file, line, expected) => {
    expect(placeOf(dir, file, line)).toBe(expected)
  })
})

it('an outcome that nobody knows: from when on it may be sent again', () => {
  const texts = nextSteps(stuck('OutcomeUnknown', { message: UNKNOWN }), HERE, []).map(({ text }) => text)
  expect(texts).toContain('If it is not there after 1970-01-01T00:02:00Z, have it created again:')
  expect(texts).toContain('The same from Git, and no earlier:')
})
