/** Source of `docs/reference/logs.md`. Fields without a value are omitted. */
export const FIELDS = {
  // every line
  level: 'severity: `debug`, `info`, `warn` or `error`',
  time: 'time of the line: ISO 8601, UTC, milliseconds',
  app: 'always `pipewright`',
  msg: 'the message: constant for each kind of line',
  revision: 'the commit of the manifests in use, or `content-…` without a commit',
  manifestRevision: 'the commit at which this version of the manifest was first read',
  key: '`Kind/name` of the resource',
  keys: 'keys of the affected resources, at most five',
  resources: 'number of affected resources, if known',
  file: 'file of the manifest, relative to the directory',
  line: 'line in that file, from 1',
  column: 'column in that line, from 1',
  reconcileId: 'id of the reconcile, shared by all its lines',
  action: 'decision: create, adopt, upsert, update, delete, observe, report, hold or refuse',
  reason: 'code of the reason: see the runbook',
  result: 'result of the action',
  detail: 'cause, place and next step. Every text has at most 4,000 characters',
  changeToApplyMs: 'time from the read of the change until it was applied, in ms',
  condition: '`Valid`, `Synced` or `Ready`',
  conditionStatus: 'status of the condition: `True`, `False` or `Unknown`',
  before: 'earlier status of the condition',
  intentId: 'id of the create attempt, sent as `Idempotency-Key`',
  attempt: 'number of the attempt, from 1',
  outcome: '`created`, `failed` or `unknown`',
  pipeId: 'id of the pipe on the platform',
  command: 'command that records the outcome',
  state: 'state of the resource on the platform',
  differs: 'fields that differ from the manifest: at most fifty',
  requestId: 'id that the platform gave to the request',
  operation: 'operation of the platform, such as `createPipe`',
  serviceName: 'name of the `Service`',
  code: 'HTTP status of the request, or the class of the error without a reply',
  durationMs: 'duration in ms',
  waitMs: 'waiting time in ms',
  retryAfterMs: 'pause before the next request in ms, from the reply or by default',
  replies: 'number of replies with status 429',
  manifests: 'number of manifests by kind',
  manifestsDir: 'directory of the manifests',
  findings: 'number of findings',
  changed: 'number of keys with a changed manifest',
  findingSeverity: 'severity of the finding: `error` or `warning`',
  findingCode: 'code of the finding: see findings.md',
  hint: 'how to correct the finding',
  mode: 'way of watching the directory: `recursive`, `parent`, `polling` or `none`',
  limit: 'maximum number of connections of the listener',
  version: 'version of Pipewright',
  sandbox: 'whether the platform is the sandbox',
  page: 'address of the page',
  listen: 'address of the page, the probes and the metrics',
  metricsListen: 'separate address of the probes and the metrics',
  listener: 'setting of the listener: `listen` or `metrics-listen`',
  closed: 'number of connections closed to make room',
  is: 'role of this process: `acting`, `standing by`, or `taken over` by another process',
  epoch: 'number of times that a process became leader with this ledger',
  leader: 'name of the leader process',
  olderThan: 'the last revision that a process acted on, if it might be newer than the revision here',
  baseUrl: 'address of the platform or of the embedded sandbox',
  signal: 'the received signal',
  unfinished: 'number of interrupted reconciles and unsaved outcomes',
  err: 'the error: `type`, `message`, `stack`, `code`, `cause`',
  lines: 'number of lost lines',
  // webhook
  notificationId: 'id of the message, sent as `webhook-id`',
  retryInMs: 'time until the next attempt in ms. Default: five minutes',
} as const satisfies Readonly<Record<string, string>>

export type LogField = keyof typeof FIELDS

/** Fields that are neither text nor end in `Ms`. A field has the same type in every line. */
const OTHER_TYPES: Readonly<Partial<Record<LogField, FieldType>>> = {
  line: 'number',
  lines: 'number',
  column: 'number',
  attempt: 'number',
  resources: 'number',
  replies: 'number',
  findings: 'number',
  changed: 'number',
  limit: 'number',
  epoch: 'number',
  closed: 'number',
  unfinished: 'number',
  sandbox: 'boolean',
  keys: 'list of strings',
  differs: 'list of strings',
  manifests: 'object',
  err: 'object',
}

type FieldType = 'string' | 'number' | 'boolean' | 'list of strings' | 'object'

export function typeOf(field: LogField): FieldType {
  return OTHER_TYPES[field] ?? (field.endsWith('Ms') ? 'number' : 'string')
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export type Level = (typeof LEVELS)[number]

/** Users filter by messages and fields, so a changed name breaks their rules. */
export interface LineDefinition {
  readonly message: string
  readonly levels: Readonly<Partial<Record<Level, string>>>
  readonly fields: readonly LogField[]
}

export type Facts = Readonly<Partial<Record<LogField, unknown>>>

export interface LogEntry {
  readonly level: Level
  readonly message: string
  readonly facts: Facts
}
