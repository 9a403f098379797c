import { describe, expect, it } from 'vitest'
import type { Key } from '../../src/kinds/key.ts'
import type { ResourceView } from '../../src/contract/view.ts'
import type { Health, Overview } from '../../src/server/parts.ts'
import { countStatuses, countUnjudged, judge } from '../../src/server/api/overview.ts'
import { condition, finding, limited, overview, resource } from './fake-parts.ts'

const READY: Health = { ok: true, detail: '' }

interface Given {
  /** One that is fine, unless given. */
  readonly resources?: readonly ResourceView[]
  readonly overview?: Partial<Overview>
  readonly ready?: Health
}

const fine = resource('Pipe/a')
const unjudged = (key: Key) =>
  resource(key, { conditions: { ...fine.conditions, Ready: condition('True', { reason: 'NotJudged' }) } })
const drifted = resource('Pipe/b', { status: 'Drifted' })

const suspended = resource('Pipe/c', { status: 'Suspended' })
const progressing = resource('Pipe/c', { status: 'Progressing' })
const WELL = 'No problems: 1 resource.'
const unconfirmed = 'The API of the cluster cannot be reached'

const ROWS: readonly (readonly [why: string, says: string, given: Given])[] = [
  ['nothing is wrong', WELL, {}],
  [
    'a suspended resource is well, and said',
    'No problems: 2 resources, 1 of them suspended.',
    { resources: [fine, suspended] },
  ],
  [
    'a state that nobody judged is no state that is healthy',
    'No problems: 3 resources, 1 of them in a state of unknown health.',
    { resources: [fine, unjudged('Pipe/c'), unjudged('QueryEndpoint/c')] },
  ],
  ['one is not well', '1 of 2 resources needs attention.', { resources: [fine, drifted] }],
  ['an error in a manifest', '1 error in manifests.', { overview: { findings: [finding()] } }],
  ['a warning is no error', WELL, { overview: { findings: [finding({ severity: 'warning' })] } }],
  [
    'a directory that cannot be read, though all resources are well',
    'The manifests directory is missing; keeping the last state.',
    { overview: { sourceProblem: 'The manifests directory is missing.' } },
  ],
  [
    'one that cannot be believed, for a longer reason, which is told below',
    'Manifests not accepted; keeping the last state.',
    { overview: { sourceProblem: `This reading ${'lost many manifests '.repeat(5)}.` } },
  ],
  [
    'nobody is sure to act',
    'No resource is created or changed: The API of the cluster cannot be reached.',
    { overview: { unconfirmed } },
  ],
  [
    'a standby that is cut off',
    'This standby might be out of date: The API of the cluster cannot be reached.',
    { overview: { standsBy: true, unconfirmed } },
  ],
  [
    'a ledger that was rolled back',
    'The ledger was rolled back.',
    { overview: { ledgerRollback: 'the ledger was rolled back' } },
  ],
  [
    'the create limit comes before resources',
    'Create limit reached in service analytics: 30 creates pending. 1 of 1 resource needs attention.',
    { resources: [drifted], overview: { createLimit: limited('analytics') } },
  ],
  [
    'of several services that it holds back it says how many they are',
    'Create limit reached in 2 services: 60 creates pending. 1 of 1 resource needs attention.',
    { resources: [drifted], overview: { createLimit: limited('a', 'b') } },
  ],
  [
    'not read yet',
    'Starting: the manifests were not read yet.',
    { resources: [], overview: { lastLoadAt: undefined } },
  ],
  [
    'checks that are overdue since the start are waited for',
    '1 of 1 resource not checked since the daemon started.',
    { overview: { overdue: 1 } },
  ],
  ['not ready', 'Not ready: the ledger is locked.', { ready: { ok: false, detail: 'the ledger is locked' } }],
  ['no resources', 'There are no resources yet.', { resources: [] }],
  [
    'something is going on',
    '1 of 2 resources in progress, and no resource needs attention.',
    { resources: [fine, progressing] },
  ],
  [
    'something is going on beside a state that nobody judged',
    '1 of 2 resources in progress; 1 with unknown health.',
    { resources: [unjudged('Pipe/b'), progressing] },
  ],
]

describe('the first sentence', () => {
  it.each(ROWS)('%s', (_, says, { resources = [fine], overview: over, ready }) => {
    const known = { overview: overview(over), ready: ready ?? READY, unjudged: countUnjudged(resources) }
    expect(judge(countStatuses(resources), known).sentence).toBe(says)
  })
})
