import { expect, test } from 'vitest'
import type { RecordedRequest } from '../../../src/sandbox/stored.ts'
import { createJournal } from '../journal.ts'
import { sceneOf } from '../scene.ts'
import { judgeChanges, type ChangeEvidence } from './judge.ts'
import { createVersions } from './versions.ts'
import { firstWish, type Wish } from './wish.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const STREAM: Wish = firstWish('kinesis')
const DATABASE: Wish = { ...firstWish('postgres'), tables: { t0: false, t1: false } }
const TABLE = { sourceSchemaName: 'public', sourceTable: 't1', targetTable: 't1' }
const ADDS = { source: { postgres: { tableMappingsToAdd: [TABLE] } } }

type Sent = readonly [
  operation: NonNullable<RecordedRequest['operation']>,
  body: unknown,
  fault?: string | undefined,
  status?: number,
]

interface Row {
  readonly wish?: Wish
  readonly sent: readonly Sent[]
  readonly state?: string
}

/** Each ends with the laws that are broken. */
const ROWS: Readonly<Record<string, Row>> = {
  'sizes as the manifest has them: nothing': { sent: [['scalePipe', { replicas: 1, replicaMemoryGb: 1 }]] },
  'one of its sizes: nothing': { sent: [['scalePipe', { replicas: 1 }]] },
  'a size that no manifest says: wrong-change': {
    sent: [['scalePipe', { replicas: 2, replicaMemoryGb: 1 }]],
  },
  'a setting that no manifest says: wrong-change': {
    sent: [['putPipeSettings', { streaming_max_insert_wait_ms: 501 }]],
  },
  'something is deleted: deleted': { sent: [['deletePipe', undefined]] },
  'a stop that no manifest asks for: wrong-change': { sent: [['setPipeState', { command: 'stop' }]] },
  'a start that nobody asks for: wrong-change': { sent: [['setPipeState', { command: 'start' }]] },
  'a start that the manifest asks for: nothing': {
    wish: { ...STREAM, paused: false },
    sent: [['setPipeState', { command: 'start' }]],
  },
  'left stopped: left-stopped': { sent: [], state: 'Stopped' },
  'stopped as asked for: nothing': { wish: { ...STREAM, paused: true }, sent: [], state: 'Stopped' },
  'a table that no manifest says: wrong-change': {
    wish: { ...DATABASE, tables: { t0: false } },
    sent: [['updatePipe', ADDS]],
  },
  'a table is added again after an answer: wrong-change': {
    wish: DATABASE,
    sent: [
      ['updatePipe', ADDS],
      ['updatePipe', ADDS, undefined, 400],
    ],
  },
  'a table is added again after a lost reply: nothing': {
    wish: DATABASE,
    sent: [
      ['updatePipe', ADDS, 'cut-after'],
      ['updatePipe', ADDS, undefined, 400],
    ],
  },
  'more requests than the budget has: budget': {
    sent: Array.from({ length: 201 }, (): Sent => ['getPipe', undefined]),
  },
}

test.each(Object.entries(ROWS))('the judge: %s', (title, { wish = STREAM, sent, state = 'Running' }) => {
  const journal = createJournal()
  const versions = createVersions()
  versions.note('one', wish)
  const at = Date.now()
  const log = sent.map(([operation, body, fault, status = 200], index) => ({
    seq: index + 1,
    at,
    operation,
    path: `/clickpipes/${ID}/x`,
    body,
    credential: 'key',
    answer: { status, fault, done: true },
  }))
  const evidence = {
    platform: {
      log,
      names: new Map([[ID, 'one']]),
      alive: () => new Map([['one', [{ id: ID, state }]]]),
    },
    runner: { runs: [{ number: 1, startedAt: at - 1, endedAt: undefined }], commands: [] },
    model: { lineages: [{ platformName: 'one', wish }], versions },
    journal,
    scene: sceneOf('clickhouse-cloud'),
  }
  judgeChanges(evidence as unknown as ChangeEvidence) // what the judge looks at
  const broken = journal.violations.map(({ law }) => law).join(', ') || 'nothing'
  expect(broken).toBe(title.split(': ').at(-1))
})
