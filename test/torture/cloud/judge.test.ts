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
const ADDS = { source: { postgres: { tableMappingsToAdd: [tableOf('t1')] } } }

function tableOf(name: string) {
  return { sourceSchemaName: 'public', sourceTable: name, targetTable: name }
}

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
  readonly breaks: readonly string[]
}

const ROWS: Readonly<Record<string, Row>> = {
  'sizes as the manifest has them': {
    sent: [['scalePipe', { replicas: 1, replicaMemoryGb: 1 }]],
    breaks: [],
  },
  'one of its sizes': { sent: [['scalePipe', { replicas: 1 }]], breaks: [] },
  'a size that no manifest says': {
    sent: [['scalePipe', { replicas: 2, replicaMemoryGb: 1 }]],
    breaks: ['wrong-change'],
  },
  'a setting that no manifest says': {
    sent: [['putPipeSettings', { streaming_max_insert_wait_ms: 501 }]],
    breaks: ['wrong-change'],
  },
  'something is deleted': { sent: [['deletePipe', undefined]], breaks: ['deleted'] },
  'a stop that no manifest asks for': {
    sent: [['setPipeState', { command: 'stop' }]],
    breaks: ['wrong-change'],
  },
  'a start that nobody asks for': {
    sent: [['setPipeState', { command: 'start' }]],
    breaks: ['wrong-change'],
  },
  'a start that the manifest asks for': {
    wish: { ...STREAM, paused: false },
    sent: [['setPipeState', { command: 'start' }]],
    breaks: [],
  },
  'left stopped': { sent: [], state: 'Stopped', breaks: ['left-stopped'] },
  'stopped as asked for': { wish: { ...STREAM, paused: true }, sent: [], state: 'Stopped', breaks: [] },
  'a table that no manifest says': {
    wish: { ...DATABASE, tables: { t0: false } },
    sent: [['updatePipe', ADDS]],
    breaks: ['wrong-change'],
  },
  'a table is added again after an answer': {
    wish: DATABASE,
    sent: [
      ['updatePipe', ADDS],
      ['updatePipe', ADDS, undefined, 400],
    ],
    breaks: ['wrong-change'],
  },
  'a table is added again after a lost reply': {
    wish: DATABASE,
    sent: [
      ['updatePipe', ADDS, 'cut-after'],
      ['updatePipe', ADDS, undefined, 400],
    ],
    breaks: [],
  },
  'more requests than the budget has': {
    sent: Array.from({ length: 201 }, (): Sent => ['getPipe', undefined]),
    breaks: ['budget'],
  },
}

test.each(Object.entries(ROWS))(
  'the judge: %s',
  (_why, { wish = STREAM, sent, state = 'Running', breaks }) => {
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
    expect(journal.violations.map(({ law }) => law)).toEqual(breaks)
  },
)
