import { EVENTS, LINES } from '../src/telemetry/event-table.ts'
import {
  FIELDS,
  LEVELS,
  typeOf,
  type LogField,
  type Level,
  type LineDefinition,
} from '../src/telemetry/log-fields.ts'

/* docs/reference/logs.md: every kind of line, with its levels and fields. */

const EVERYWHERE: readonly LogField[] = ['level', 'time', 'app', 'msg', 'revision']

/** The whole page. @param note that it is generated */
export function logsPage(note: string): string {
  const counted = Object.entries(EVENTS).flatMap(([type, { line }]) => (line === undefined ? [type] : []))
  return `# Logs

${note}

\`pipewright run\` logs to its standard output, one JSON object a line. The other commands log to standard error. The message (\`msg\`)
is constant for each kind of line, for searches and counts. The fields have the details. Messages and names of fields are part of the
interface: they change only with notice in the changelog.

| level | meaning |
|---|---|
| \`debug\` | each read, request and write, and each resource that a cause affects |
| \`info\` | a change, or the end of a problem; a pass without changes logs no line |
| \`warn\` | an obstacle, or a problem for a person soon: drift, a missing pipe, a create limit, a manifest, the platform |
| \`error\` | a bug of Pipewright, a ledger that cannot be written, or an urgent decision for a person |

\`--log-level\` sets the lowest level to write (default: \`info\`). The end of a problem never has a higher level than its beginning:
with \`warn\`, you see that a problem begins, but not its end. \`--log-format pretty\` writes the same for people: time, level, message,
key, detail, and the other fields at the end.

Logging delays no other work. Lines are lost if a reader is gone or more than 8 MB behind, or if the disk is full. \`Log lines lost\`
has their number as soon as lines can be written again.

No line has a secret. Credentials have a type that cannot print itself, and sensitive fields of manifests are masked. In texts of
other programs, \`[secret]\` replaces everything that looks like a credential. Texts have no control characters and are cut at 4,000
characters. Container runtimes break lines of 16 KB; these lines are shorter.

## One cause, one line

A cause that affects many resources is one line. It is written immediately, with their number in \`resources\` and the first of them in
\`keys\`. Such causes are a revoked key, an idle service, an outage, a secret that is not mounted, or a commit with one mistake in thirty
manifests. The end of the cause is one more line. In an outage, each resource finds the problem itself: \`Problem found\` names the first
resource. \`Problem grew\` has the number ten seconds later, and again when it is ten times as large. If resources only have the same kind
of problem, such as drift, each has a line. After three lines, the others share one.

A repeated problem needs fewer and fewer lines. After three beginnings or three ends, Pipewright delays lines for ten seconds, then
twenty, up to 160. They show the state at the end of that time. The same holds for a platform that flaps, and for a hundred pipes that
drift one by one. After ten minutes without a change, lines have no delay again. A stop writes the delayed lines. A killed process does
not, but the history has them. These rules are for problems of resources. Problems of Pipewright itself have a line each time: a
directory of manifests that comes and goes, or a ledger that sometimes cannot be written.

A problem hidden by another problem is not over, and has no second line afterwards. An outage, a limit of the platform, a failing ledger
or an invalid manifest can hide drift. After a restart during an outage, the hidden problem has a new line.

The platform's limit (429) has one line at its beginning, with the length of the pause. It has another line after a minute without a 429,
with the number of 429 replies.

With \`--log-level debug\`, each resource has its own lines, which share a \`reconcileId\`. The history has every change of a condition at any
level.

After a restart, the log repeats known problems only at the level \`debug\`. The ledger remembers problems, up to 200 findings, and a
directory that is not accepted. A problem that ended meanwhile has its line. Each start logs the process (\`Started\`, \`Manifests read\`,
\`Watch mode changed\`) and its setup (\`Credentials are in the secrets directory as well\`).

## Two revisions

| field | meaning | on |
|---|---|---|
| \`revision\` | the commit that was **read**: the whole directory in force when the line was written | every line, from the first reading on |
| \`manifestRevision\` | the commit at which this version of the **manifest** was first read | lines of one resource |

If a manifest is unchanged for a year, its lines have a \`manifestRevision\` of a year ago and a \`revision\` of today. If one read brings
several commits, \`manifestRevision\` is the newest of them. With a new ledger, it is the commit of the first read. To find the effects of
an edit, search \`manifestRevision\`. To find the commit in force at a time, look at \`revision\`.

## Lines

Fields without a value are left out. Fields of every line: ${EVERYWHERE.map((field) => `\`${field}\``).join(', ')}; \`revision\` from
the first reading on.

| message | level | when | fields |
|---|---|---|---|
${LINES.map(row).join('\n')}

Only counted, in metrics, because there are too many: ${counted.map((event) => `\`${event}\``).join(', ')}.

## Fields

A field has the same type in every line.

| field | type | holds |
|---|---|---|
${Object.entries(FIELDS).map(fieldRow).join('\n')}

## In log systems

No field has a reserved name of these systems, except the fields in this table, which have the same meaning there. These names are not
used: \`status\`, \`service\`, \`severity\`, \`source\`, \`host\`, \`message\`, \`trace_id\` and words of LogQL such as \`on\`.

| field | Loki | Datadog | Google Cloud Logging |
|---|---|---|---|
${SYSTEMS.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

| \`level\` | Loki, \`detected_level\` | Datadog, status | Google Cloud Logging, severity |
|---|---|---|---|
${LEVELS.map((level) => `| \`${level}\` | \`${level}\` | \`${DATADOG[level]}\` | \`${GOOGLE[level]}\` |`).join('\n')}

- **Loki.** Make only \`app\` and \`level\` labels: \`key\`, \`revision\` and ids have too many values.
  \`{app="pipewright"} | json | key="Pipe/orders"\` finds the lines of one resource, \`level=~"warn|error"\` the lines that need a person.
- **Datadog.** Datadog reads \`level\` and \`msg\` as status and message. Set the service with the annotation or label of the pod
  (\`tags.datadoghq.com/service\`). If the time of receipt is not exact enough, add a date remapper for \`time\`.
- **Google Cloud Logging.** \`time\` becomes the timestamp. The agent does not know \`level\`: without a rule, every line is
  \`DEFAULT\` or \`INFO\`. Let the agent copy it to \`severity\` in upper case (\`warn\` to \`WARNING\`), and \`msg\` to \`message\`. If the agent
  cannot be configured, filter by \`jsonPayload.level="warn"\`.

\`test/main/golden-log.jsonl\` has the lines of a full story, from the first start to the stop.
`
}

/** Where a field lands that is more than an attribute of its line: in Loki, Datadog, Google Cloud Logging. */
const SYSTEMS: readonly (readonly [string, string, string, string])[] = [
  ['`level`', 'label, or `detected_level`', 'status', '`jsonPayload.level`; to be copied to `severity`'],
  [
    '`time`',
    'in the line; the entry has the time of its receipt',
    'attribute `@time`; date by a remapper',
    'timestamp',
  ],
  ['`msg`', 'in the line', 'message', '`jsonPayload.msg`; to be copied to `message`'],
  ['`app`', 'label', 'attribute `@app`', '`jsonPayload.app`'],
  ['`err`', '`err_message`, `err_stack` after `| json`', 'attributes `@err.*`', '`jsonPayload.err`'],
  [
    'lists: `keys`, `differs`',
    'not taken by `| json`: search the line for the text',
    'attributes, each value by itself',
    '`jsonPayload.keys:"Pipe/orders"`',
  ],
  ['all others', 'labels after `| json`', 'attributes: `@key`, `@reason`', '`jsonPayload.key`, …'],
]

const DATADOG: Readonly<Record<Level, string>> = {
  debug: 'debug',
  info: 'info',
  warn: 'warn',
  error: 'error',
}

const GOOGLE: Readonly<Record<Level, string>> = {
  debug: 'DEBUG',
  info: 'INFO',
  warn: 'WARNING',
  error: 'ERROR',
}

function fieldRow([field, meaning]: readonly [string, string]): string {
  return `| \`${field}\` | ${typeOf(field as LogField)} | ${meaning} |` // the keys of an object literal
}

/** One row per level; the first has the message and the fields. */
function row({ message, levels, fields }: LineDefinition): string {
  const names = fields.map((field) => `\`${field}\``).join(', ')
  return Object.entries(levels)
    .map(([level, when], index) => {
      const [first, last] = index === 0 ? [message, names] : ['', '']
      return `| ${first} | \`${level}\` | ${when} | ${last} |`
    })
    .join('\n')
}
