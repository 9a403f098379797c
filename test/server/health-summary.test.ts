import { describe, expect, it } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Health, Overview } from '../../src/server/parts.ts'
import { countStatuses, countUnjudged, judge } from '../../src/server/api/overview.ts'
import { condition, finding, limited, overview, resource } from './fake-parts.ts'

const READY: Health = { ok: true, detail: '' }

interface Row {
  /** One that is fine, unless given. */
  readonly resources?: readonly ResourceView[]
  readonly overview?: Partial<Overview>
  readonly ready?: Health
  readonly says: string
}

const fine = resource('Pipe/a')
const unjudged = (key: Key) =>
  resource(key, { conditions: { ...fine.conditions, Ready: condition('True', { reason: 'NotJudged' }) } })
const drifted = resource('Pipe/b', { status: 'Drifted' })

const ROWS: readonly (readonly [string, Row])[] = [
  ['nothing is wrong', { says: 'No problems: 1 resource.' }],
  [
    'a suspended resource is well, and said',
    {
      resources: [fine, resource('Pipe/c', { status: 'Suspended' })],
      says: 'No problems: 2 resources, 1 of them suspended.',
    },
  ],
  [
    'a state that nobody judged is no state that is healthy',
    {
      resources: [fine, unjudged('Pipe/c'), unjudged('QueryEndpoint/c')],
      says: 'No problems: 3 resources, 1 of them in a state of unknown health.',
    },
  ],
  ['one is not well', { resources: [fine, drifted], says: '1 of 2 resources needs attention.' }],
  ['an error in a manifest', { overview: { findings: [finding()] }, says: '1 error in manifests.' }],
  [
    'a warning is no error',
    { overview: { findings: [finding({ severity: 'warning' })] }, says: 'No problems: 1 resource.' },
  ],
  [
    'a directory that cannot be read, though all resources are well',
    {
      overview: { sourceProblem: 'The manifests directory is missing.' },
      says: 'The manifests directory is missing; keeping the last state.',
    },
  ],
  [
    'one that cannot be believed, for a longer reason, which is told below',
    {
      overview: { sourceProblem: `This reading ${'lost many manifests '.repeat(5)}.` },
      says: 'Manifests not accepted; keeping the last state.',
    },
  ],
  [
    'nobody is sure to act',
    {
      overview: { unconfirmed: 'The API of the cluster cannot be reached' },
      says: 'No resource is created or changed: The API of the cluster cannot be reached.',
    },
  ],
  [
    'a standby need not be sure to act',
    {
      overview: { standsBy: true, unconfirmed: 'The API of the cluster cannot be reached' },
      says: 'No problems: 1 resource.',
    },
  ],
  [
    'a ledger that was rolled back',
    { overview: { ledgerRollback: 'the ledger was rolled back' }, says: 'The ledger was rolled back.' },
  ],
  [
    'the create limit comes before resources',
    {
      resources: [drifted],
      overview: { createLimit: limited('analytics') },
      says: 'Create limit reached in service analytics: 30 creates pending. 1 of 1 resource needs attention.',
    },
  ],
  [
    'of several services that it holds back it says how many they are',
    {
      resources: [drifted],
      overview: { createLimit: limited('a', 'b') },
      says: 'Create limit reached in 2 services: 60 creates pending. 1 of 1 resource needs attention.',
    },
  ],
  [
    'not read yet',
    {
      resources: [],
      overview: { lastLoadAt: undefined },
      says: 'Starting: the manifests were not read yet.',
    },
  ],
  [
    'checks that are overdue since the start are waited for',
    { overview: { overdue: 1 }, says: '1 of 1 resource not checked since the daemon started.' },
  ],
  [
    'not ready',
    { ready: { ok: false, detail: 'the ledger is locked' }, says: 'Not ready: the ledger is locked.' },
  ],
  ['no resources', { resources: [], says: 'There are no resources yet.' }],
  [
    'something is going on',
    {
      resources: [fine, resource('Pipe/c', { status: 'Progressing' })],
      says: '1 of 2 resources in progress, and no resource needs attention.',
    },
  ],
  [
    'something is going on beside a state that nobody judged',
    {
      resources: [unjudged('Pipe/b'), resource('Pipe/c', { status: 'Progressing' })],
      says: '1 of 2 resources in progress; 1 with unknown health.',
    },
  ],
]

describe('the first sentence', () => {
  it.each(ROWS)('%s', (_, { resources = [fine], overview: over, ready, says }) => {
    const known = { overview: overview(over), ready: ready ?? READY, unjudged: countUnjudged(resources) }
    expect(judge(countStatuses(resources), known).sentence).toBe(says)
  })
})
