import { EVENTS, LINES } from '../src/telemetry/event-table.ts'
import {
  FIELDS,
  LEVELS,
  typeOf,
  type Field,
  type Level,
  type LineDefinition,
} from '../src/telemetry/log-fields.ts'

/* docs/logs.md: every kind of line, with its levels and fields. */

const EVERYWHERE: readonly Field[] = ['level', 'time', 'app', 'msg', 'revision']

/** The whole page. @param note that it is generated */
export function logsPage(note: string): string {
  const counted = Object.entries(EVENTS).flatMap(([type, { lines }]) => (lines.length === 0 ? [type] : []))
  return `# Logs

${note}

\`pipewright run\` logs to its standard output, one JSON object a line; the other commands to standard error. The message
(\`msg\`) is constant, one for each kind of line, so that it can be searched and counted; what differs stands in fields.
Messages and names of fields are part of the interface: they change only with notice in the changelog.

| level | means |
|---|---|
| \`debug\` | how it works: every read, request and write, and each resource that a cause touches |
| \`info\` | something changed, or a problem is over; a pass over an unchanged world says nothing |
| \`warn\` | something stands in the way, or needs a person soon: drift, a missing pipe, a create limit, a manifest, the platform |
| \`error\` | a bug of Pipewright, a ledger that cannot be written, or a person has to decide now |

\`--log-level\` says what is written (\`info\` unless set). What begins has a level at least as high as what ends it: with \`warn\`
you see that a problem begins, and not that it is over. \`--log-format pretty\` writes the same for people: time, level, message,
key, detail, and the other fields at the end.

The log holds up nothing. A reader that is more than 8 MB behind, one that is gone, and a full disk lose lines; \`Log lines lost\`
says how many as soon as lines can be written again.

No line holds a secret: credentials have a type that cannot print itself, sensitive fields of manifests are masked, and
what looks like a credential in texts of others is replaced by \`[secret]\`. Texts are cut at 4,000 characters, so that a line is
shorter than the 16 KB at which container runtimes break it, and hold no control characters.

## One cause, one line

What touches many resources is one line, at once, with their number in \`resources\` and the first of them in \`keys\`: a key
that is revoked, a service that is idle, an outage, a secret that is not mounted, a commit with thirty manifests of one mistake. When
it is over, that is one line more. Where each resource finds out by itself, as in an outage, \`Problem found\` names the first one;
\`Problem grew\` has the number ten seconds later, and again when they are ten times as many. Resources that merely have the same kind
of problem, such as drift, have a line each; after three the others share one.

What goes on costs ever fewer lines: after three beginnings or three ends, lines are held back for ten seconds, then twenty, up to
160, and say what is true at the end of that time. So do a platform that flaps, and a hundred pipes that drift one by one. After
ten minutes without a change it is as at first. A stop writes what is held back; a process that is killed does not, and the history
has it. So it is with problems of resources. What happens to Pipewright itself has a line each time: a directory of manifests that
goes and comes, or a ledger that now and then cannot be written.

A problem that another one hides is not over, and has no second line afterwards: drift behind an outage, a limit of the platform, a
ledger that fails, an invalid manifest. Only where the process is restarted during an outage, what was behind it has one.

The platform's limit (429) is one line when it begins, with how long nothing is sent, and one when there was no 429 for a minute, with
their number.

With \`--log-level debug\` each resource has its own lines, which share a \`reconcileId\`; the history has every change of a
condition in any case.

A restart says nothing above \`debug\` of what was known before: problems are remembered in the ledger, up to 200 findings and a
directory that is not accepted as well. What was over meanwhile has its line. What a process says of itself (\`Started\`, \`Manifests read\`, \`Watch mode changed\`) and of how it is set up
(\`Credentials are in the secrets directory\`, \`Failpoint set\`) it says at each start.

## Two revisions

| field | stands for | on |
|---|---|---|
| \`revision\` | what was **read**: the commit of the whole directory that was in force when the line was written | every line, from the first reading on |
| \`manifestRevision\` | what the line is **about**: the commit in which the manifest of this one resource last changed | lines of one resource |

A manifest that nobody has touched for a year has a \`manifestRevision\` of a year ago on a line whose \`revision\` is of today. What
came of a commit: search \`manifestRevision\`. What was in force at a time: look at \`revision\`.

## Lines

A field that has no value is left out. Fields of every line: ${EVERYWHERE.map((field) => `\`${field}\``).join(', ')}; \`revision\` from
the first reading on.

| message | levels | fields |
|---|---|---|
${LINES.map(row).join('\n')}

Only counted, in metrics, because there are too many: ${counted.map((event) => `\`${event}\``).join(', ')}.

## Fields

A field has one type wherever it stands.

| field | type | holds |
|---|---|---|
${Object.entries(FIELDS).map(fieldRow).join('\n')}

## In log systems

No field has a name that one of these systems keeps for itself, but for those in this table, which mean the same there:
\`status\`, \`service\`, \`severity\`, \`source\`, \`host\`, \`message\`, \`trace_id\` and words of LogQL such as \`on\` are not used.

| field | Loki | Datadog | Google Cloud Logging |
|---|---|---|---|
${SYSTEMS.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

| \`level\` | Loki, \`detected_level\` | Datadog, status | Google Cloud Logging, severity |
|---|---|---|---|
${LEVELS.map((level) => `| \`${level}\` | \`${level}\` | \`${DATADOG[level]}\` | \`${GOOGLE[level]}\` |`).join('\n')}

- **Loki.** Make \`app\` and \`level\` labels, and nothing else: \`key\`, \`revision\` and ids have too many values.
  \`{app="pipewright"} | json | key="Pipe/orders"\` finds the lines of one resource; \`level=~"warn|error"\` what needs somebody.
- **Datadog.** \`level\` and \`msg\` are taken for status and message. Set the service with the annotation or label of the pod
  (\`tags.datadoghq.com/service\`). Add a date remapper for \`time\`, if the time of receipt is not good enough.
- **Google Cloud Logging.** \`time\` becomes the timestamp. The agent does not know \`level\`: without a rule every line is
  \`DEFAULT\` or \`INFO\`. Have the agent copy it to \`severity\` in upper case (\`warn\` to \`WARNING\`), and \`msg\` to \`message\`; where
  the agent cannot be configured, filter by \`jsonPayload.level="warn"\`.

Which lines a full story writes, from the first start to the stop, is kept in \`test/main/golden-log.jsonl\`.
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
  return `| \`${field}\` | ${typeOf(field as Field)} | ${meaning} |` // the keys of an object literal
}

function row({ message, levels, fields }: LineDefinition): string {
  const when = Object.entries(levels).map(([level, text]) => `\`${level}\`: ${text}`)
  return `| ${message} | ${when.join('<br>')} | ${fields.map((field) => `\`${field}\``).join(', ')} |`
}
