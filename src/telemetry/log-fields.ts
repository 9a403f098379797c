/** Source of `docs/reference/logs.md`. Fields without a value are omitted. */
export const FIELDS = {
  // every line
  level: 'how much it matters: `debug`, `info`, `warn` or `error`',
  time: 'when it was written: ISO 8601, UTC, milliseconds',
  app: 'always `pipewright`',
  msg: 'the message: constant, one for each kind of line',
  revision: 'the commit of the manifests in force, or `content-…` without a commit',
  manifestRevision: 'the commit that last changed the manifest of this resource',
  // resource
  key: '`Kind/name` of the resource',
  keys: 'of several resources the first, at most five',
  resources: 'number of the resources that it is about, as far as is known',
  file: 'file of its manifest, relative to the directory',
  line: 'line in that file, from 1',
  column: 'column in that line, from 1',
  reconcileId: 'id of the reconcile; lines of one reconcile share it',
  action: 'what was decided: `create`, `adopt`, `upsert`, `observe`, `report`, `hold` or `refuse`',
  reason: 'why, in one word: see the runbook',
  result: 'what became of it',
  detail: 'event, place and remedy in words, at most 4,000 characters, like every text',
  changeToApplyMs: 'time from the reading that brought the change until it was applied, in ms',
  condition: '`Valid`, `Synced` or `Ready`',
  conditionStatus: 'of the condition: `True`, `False` or `Unknown`',
  before: 'its status before',
  intentId: 'id of the attempt to create; sent as `Idempotency-Key`',
  attempt: 'number of the attempt, from 1',
  outcome: '`created`, `failed` or `unknown`',
  pipeId: 'id of the pipe on the platform',
  command: 'a command of Pipewright to be run',
  state: '`state` as the platform reports it',
  differs: 'names of the fields that differ, at most fifty',
  // request
  requestId: 'id of the request on the platform',
  operation: 'operation of the interface',
  serviceName: 'name of the `Service`',
  code: 'of a request: HTTP status, or the class of the failure when no reply came',
  durationMs: 'how long it took, in ms',
  waitMs: 'how long it waited, in ms',
  retryAfterMs: 'pause before the next request in ms, as the platform asks or by our default',
  replies: 'number of replies that were 429',
  // reading
  manifests: 'number of manifests by kind',
  manifestsDir: 'directory of the manifests',
  findings: 'number of findings',
  changed: 'number of keys whose meaning changed',
  findingSeverity: 'of a finding: `error` or `warning`',
  findingCode: 'of a finding: see the page about findings',
  hint: 'what to do about it',
  mode: 'how the directory is watched: `recursive`, `parent`, `polling` or `none`',
  // process
  limit: 'the limit that was reached: of connections, of open files',
  version: 'version of Pipewright',
  sandbox: 'whether the platform is made up',
  page: 'address of the page',
  listen: 'where the page is served',
  metricsListen: 'where probes and metrics are served, if not there',
  listener: 'setting of the listener: `listen` or `metrics-listen`',
  closed: 'connections that the listener closed for new ones',
  is: 'role of this process: `acting`, `standing by`, or `taken over` by another process',
  epoch: 'how often a process has begun to act with this ledger',
  leader: 'the process that acts',
  olderThan: 'the last revision that a process acted on, if it might be newer than the revision here',
  baseUrl: 'where the platform is, or the embedded sandbox, which answers as it does',
  signal: 'the signal that ends it',
  unfinished: 'reconciles and outcomes that were cut short',
  err: 'the error: `type`, `message`, `stack`, `code`, `cause`',
  lines: 'number of lines that could not be written',
  // webhook
  notificationId: 'id of the message; sent as `webhook-id`',
  retryInMs: 'when the next attempt follows, in ms; without it, in five minutes',
} as const satisfies Readonly<Record<string, string>>

export type Field = keyof typeof FIELDS

/** Besides text and `…Ms`. A field has the same type in every line. */
const OTHER_TYPES: Readonly<Partial<Record<Field, FieldType>>> = {
  line: 'number',
  lines: 'number',
  column: 'number',
  attempt: 'number',
  resources: 'number',
  replies: 'number',
  findings: 'number',
  changed: 'number',
  limit: 'number',
  is: 'string',
  epoch: 'number',
  leader: 'string',
  olderThan: 'string',
  closed: 'number',
  unfinished: 'number',
  sandbox: 'boolean',
  keys: 'list of strings',
  differs: 'list of strings',
  manifests: 'object',
  err: 'object',
}

type FieldType = 'string' | 'number' | 'boolean' | 'list of strings' | 'object'

export function typeOf(field: Field): FieldType {
  return OTHER_TYPES[field] ?? (field.endsWith('Ms') ? 'number' : 'string')
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export type Level = (typeof LEVELS)[number]

/** Messages and fields are part of the interface. */
export interface LineDefinition {
  readonly message: string
  readonly levels: Readonly<Partial<Record<Level, string>>>
  readonly fields: readonly Field[]
}

export type Facts = Readonly<Partial<Record<Field, unknown>>>

export interface Line {
  readonly level: Level
  readonly message: string
  readonly facts: Facts
}
