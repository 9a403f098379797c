import type { ChangeFailpoint } from '../../../src/contract/failpoint.ts'
import type { FaultRuleInput } from '../../../src/sandbox/fault-schema.ts'
import { ANALYTICS } from '../../support/manifests.ts'

/** What a manifest asks for before and after an edit, and what befalls the requests of it. */
export interface ChangeStory {
  readonly before: string
  readonly after: string
  /** The failpoints that it comes by: at the first, second, … time. */
  readonly reaches: readonly (readonly [at: ChangeFailpoint, nth: number])[]
  readonly faults?: readonly FaultRuleInput[]
  /** What the manifest says once the process is gone; `after` unless told. */
  readonly afterwards?: string
  /** The state in which the pipe has to be in the end. */
  readonly state: 'Running' | 'Stopped'
  /** Tables that are to be added, each by one request that is done. */
  readonly adds?: readonly string[]
}

/** A key of the manifest, and of the pipe there. */
export const VICTIM = 'orders'

function manifest(policy: string, spec: string): string {
  return `apiVersion: pipewright/v1
kind: Pipe
metadata: {name: ${VICTIM}}
${policy === '' ? '' : `policy: {${policy}}\n`}spec:
  service: ${ANALYTICS.name}
${spec}`
}

function tables(...names: readonly string[]): string {
  return tablesAt('db.example', ...names)
}

function tablesAt(host: string, ...names: readonly string[]): string {
  const mappings = names.map(
    (name) => `{sourceSchemaName: public, sourceTable: ${name}, targetTable: ${name}}`,
  )
  return manifest(
    '',
    `  source:
    postgres:
      host: ${host}
      port: 5432
      database: shop
      credentials: {username: reader, password: {secretRef: {name: kafka, key: password}}}
      settings: {replicationMode: cdc}
      tableMappings: [${mappings.join(', ')}]
  destination: {database: shop}
`,
  )
}

function stream(policy: string, replicas: number, waitMs: number, ...columns: readonly string[]): string {
  const fields = columns.map((name) => `{sourceField: ${name}, destinationField: ${name}}`)
  return manifest(
    policy,
    `  source:
    kinesis:
      format: JSONEachRow
      streamName: orders
      region: eu-north-1
      iteratorType: LATEST
      authentication: IAM_ROLE
      iamRole: arn:aws:iam::210987654321:role/orders
  destination:
    database: default
    table: orders
    managedTable: true
    tableDefinition: {engine: {type: MergeTree}, sortingKey: [id]}
    columns: [${columns.map((name) => `{name: ${name}, type: String}`).join(', ')}]
  fieldMappings: [${fields.join(', ')}]
  scaling: {replicas: ${replicas}}
  settings: {streaming_max_insert_wait_ms: ${waitMs}}
`,
  )
}

/** The table is added while the pipe rests, and wakes it. */
const UP_TO_THE_CHANGE = [
  ['before-mark', 1],
  ['after-mark', 1],
  ['before-stop', 1],
  ['after-stop', 1],
  ['before-mark', 2],
  ['after-mark', 2],
  ['before-change', 1],
] as const

export const STORIES = {
  'a table is added': {
    before: tables('one'),
    after: tables('one', 'two'),
    reaches: [...UP_TO_THE_CHANGE, ['after-change', 1]],
    state: 'Running',
    adds: ['two'],
  },
  'a table is added, and taken back meanwhile': {
    before: tables('one'),
    after: tables('one', 'two'),
    reaches: [...UP_TO_THE_CHANGE, ['after-change', 1]],
    afterwards: tables('one'),
    state: 'Running',
  },
  'a table is added, and more is edited meanwhile': {
    before: tables('one'),
    after: tables('one', 'two'),
    reaches: [
      ['after-stop', 1],
      ['before-change', 1],
      ['after-change', 1],
    ],
    afterwards: tablesAt('other.example', 'one', 'two'),
    state: 'Running',
    adds: ['two'],
  },
  'a table is refused, and added later': {
    before: tables('one'),
    after: tables('one', 'two'),
    faults: [
      { operation: 'updatePipe', subject: VICTIM, times: 'always', fault: { type: 'status', status: 400 } },
    ],
    reaches: [
      ['before-start', 1],
      ['after-start', 1],
    ],
    state: 'Running',
    adds: ['two'],
  },
  'a table is refused, and taken back meanwhile': {
    before: tables('one'),
    after: tables('one', 'two'),
    faults: [
      { operation: 'updatePipe', subject: VICTIM, times: 'always', fault: { type: 'status', status: 400 } },
    ],
    reaches: [
      ['before-start', 1],
      ['after-start', 1],
    ],
    afterwards: tables('one'),
    state: 'Running',
  },
  'columns, settings and size are edited': {
    before: stream('', 1, 500, 'id'),
    after: stream('', 2, 700, 'id', 'at'),
    reaches: [
      ['before-mark', 1],
      ['after-mark', 1],
      ...[1, 2, 3].flatMap((nth) => [['before-change', nth] as const, ['after-change', nth] as const]),
    ],
    state: 'Running',
  },
  'columns, settings and size are edited, and taken back meanwhile': {
    before: stream('', 1, 500, 'id'),
    after: stream('', 2, 700, 'id', 'at'),
    reaches: [1, 2, 3].map((nth) => ['after-change', nth] as const),
    afterwards: stream('', 1, 500, 'id'),
    state: 'Running',
  },
  'it is to be paused': {
    before: stream('', 1, 500, 'id'),
    after: stream('paused: true', 1, 500, 'id'),
    reaches: [
      ['before-stop', 1],
      ['after-stop', 1],
    ],
    state: 'Stopped',
  },
  'it is to run again': {
    before: stream('paused: true', 1, 500, 'id'),
    after: stream('paused: false', 1, 500, 'id'),
    reaches: [
      ['before-start', 1],
      ['after-start', 1],
    ],
    state: 'Running',
  },
} as const satisfies Readonly<Record<string, ChangeStory>>

export type StoryName = keyof typeof STORIES

export interface ChangeCell {
  readonly story: StoryName
  readonly at: ChangeFailpoint
  readonly nth: number
  readonly action: 'kill' | 'throw'
}

export function changeCells(action: ChangeCell['action']): readonly ChangeCell[] {
  return (Object.keys(STORIES) as readonly StoryName[]).flatMap((story) =>
    // the keys of the object above
    STORIES[story].reaches.map(([at, nth]) => ({ story, at, nth, action })),
  )
}
