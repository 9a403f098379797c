import { EVENTS, LINES } from '../src/telemetry/event-table.ts'
import { FIELDS, type Field, type LineDefinition } from '../src/telemetry/log-fields.ts'

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
| \`debug\` | how it works: every read, request and write |
| \`info\` | something changed; a pass over an unchanged world says nothing |
| \`warn\` | something stands in the way: a manifest, the platform, the directory; it continues once that is corrected |
| \`error\` | an internal error, or a person is needed |

\`--log-level\` says what is written (\`info\` unless set). \`--log-format pretty\` writes the same for people: time, level,
message, key, detail, and the other fields at the end.

No line holds a secret: credentials have a type that cannot print itself, sensitive fields of manifests are masked, and
what looks like a credential in texts of others is replaced by \`[secret]\`.

## Lines

A field that has no value is left out. Fields of every line: ${EVERYWHERE.map((field) => `\`${field}\``).join(', ')}.

| message | levels | fields |
|---|---|---|
${LINES.map(row).join('\n')}

Only counted, in metrics, because there are too many: ${counted.map((event) => `\`${event}\``).join(', ')}.

## Fields

| field | holds |
|---|---|
${Object.entries(FIELDS)
  .map(([field, meaning]) => `| \`${field}\` | ${meaning} |`)
  .join('\n')}

Which lines a full story writes, from the first start to the stop, is kept in \`test/main/golden-log.jsonl\`.
`
}

function row({ message, levels, fields }: LineDefinition): string {
  const when = Object.entries(levels).map(([level, text]) => `\`${level}\`: ${text}`)
  return `| ${message} | ${when.join('<br>')} | ${fields.map((field) => `\`${field}\``).join(', ')} |`
}
