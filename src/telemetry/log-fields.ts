/** What a field of a line holds; `docs/logs.md` is made of it. Fields without a value are left out. */
export const FIELDS = {
  // on every line
  level: 'how much it matters: `debug`, `info`, `warn` or `error`',
  time: 'when it was written: ISO 8601, UTC, milliseconds',
  app: 'always `pipewright`',
  msg: 'the message: constant, one for each kind of line',
  revision: 'the commit of the manifests in force, or `content-…` without a commit',
  manifestRevision:
    'what the line is about: the commit in which the manifest of this one resource last changed, as old as that change',
  // of a resource
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
  detail: 'what happened, where, and what to do, in words: at most 4,000 characters, like every text',
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
  // of a request
  requestId: 'id of the request on the platform',
  operation: 'operation of the interface',
  serviceName: 'name of the `Service`',
  code: 'of a request: HTTP status, or the class of the failure when no reply came',
  durationMs: 'how long it took, in ms',
  waitMs: 'how long it waited, in ms',
  retryAfterMs: 'how long nothing is sent, as the platform asks or as we choose where it does not say, in ms',
  replies: 'number of replies that were 429',
  // of a reading
  manifests: 'number of manifests by kind',
  manifestsDir: 'directory of the manifests',
  findings: 'number of findings',
  changed: 'number of keys whose meaning changed',
  findingSeverity: 'of a finding: `error` or `warning`',
  findingCode: 'of a finding: see the page about findings',
  hint: 'what to do about it',
  mode: 'how the directory is watched: `recursive`, `parent`, `polling` or `none`',
  // of the whole
  reached: 'whether the create limit is reached: creations are refused',
  wanted: 'pending creations',
  made: 'creations within the last hour',
  limit: 'the limit that was reached: of creations, of connections, of open files',
  version: 'version of Pipewright',
  sandbox: 'whether the platform is made up',
  page: 'address of the page',
  listen: 'where the page is served',
  metricsListen: 'where probes and metrics are served, if not there',
  listener: 'setting of the listener: `listen` or `metrics-listen`',
  closed: 'connections that the listener closed for new ones',
  is: 'what this process does: `acting`, `standing by`, or `taken over` by another one',
  epoch: 'how often a process has begun to act with this ledger',
  leader: 'the process that acts',
  olderThan: 'the revision that was acted on before, where it may be newer than the one here',
  baseUrl: 'where the platform is, or the embedded sandbox, which answers as it does',
  failpoint: 'where this process is made to fail',
  signal: 'the signal that ends it',
  unfinished: 'reconciles and outcomes that were cut short',
  err: 'the error: `type`, `message`, `stack`, `code`, `cause`',
  lines: 'number of lines that could not be written',
  // of the webhook
  notificationId: 'id of the message; sent as `webhook-id`',
  retryInMs: 'when the next attempt follows, in ms; without it, in five minutes',
} as const satisfies Readonly<Record<string, string>>

export type Field = keyof typeof FIELDS

/** Of all fields that are no text; those in ms are numbers, too. A field has one type wherever it stands. */
const OTHER_TYPES: Readonly<Partial<Record<Field, FieldType>>> = {
  line: 'number',
  lines: 'number',
  column: 'number',
  attempt: 'number',
  resources: 'number',
  replies: 'number',
  findings: 'number',
  changed: 'number',
  wanted: 'number',
  made: 'number',
  limit: 'number',
  is: 'string',
  epoch: 'number',
  leader: 'string',
  olderThan: 'string',
  closed: 'number',
  unfinished: 'number',
  reached: 'boolean',
  sandbox: 'boolean',
  keys: 'list of strings',
  differs: 'list of strings',
  manifests: 'object',
  err: 'object',
}

export type FieldType = 'string' | 'number' | 'boolean' | 'list of strings' | 'object'

export function typeOf(field: Field): FieldType {
  return OTHER_TYPES[field] ?? (field.endsWith('Ms') ? 'number' : 'string')
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export type Level = (typeof LEVELS)[number]

/** A kind of line: its message never changes, and it has no other level or field. Messages and fields are part of the interface. */
export interface LineDefinition {
  readonly message: string
  /** When it has which level. */
  readonly levels: Readonly<Partial<Record<Level, string>>>
  /** Beside those of every line. */
  readonly fields: readonly Field[]
}

export type Facts = Readonly<Partial<Record<Field, unknown>>>

/** What stands in the log about one event. */
export interface Line {
  readonly level: Level
  readonly message: string
  readonly facts: Facts
}
