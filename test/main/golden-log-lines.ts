import { createPrettyLine } from '../../src/telemetry/pretty-line.ts'

/* What differs from run to run is taken out of a log, so that the rest can be compared. */

export type LogLine = Readonly<Record<string, unknown>>

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g

/** Makes lines of one run like those of another. Names are given in the order of their first appearance. */
export function createNormaliser(dir: string, own: ReadonlySet<string>): (line: LogLine) => LogLine {
  const revisions = new Map<string, string>()

  function text(value: string): string {
    return value
      .replaceAll(dir, '<dir>')
      .replaceAll(UUID, (id) => (own.has(id) ? id : '<uuid>'))
      .replaceAll(TIME, '<time>')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
      .replaceAll(/\b(?:msg_)?[0-9a-f]{32}\b/g, '<id>')
  }

  function revisionOf(value: string): string {
    const name = revisions.get(value) ?? `<revision ${revisions.size + 1}>`
    revisions.set(value, name)
    return name
  }

  function valueOf(name: string, value: unknown): unknown {
    if (name === 'time') return '<time>'
    if ((name === 'revision' || name === 'manifestRevision') && typeof value === 'string' && value !== '')
      return revisionOf(value)
    if (name.endsWith('Ms')) return '<ms>'
    // How often something is tried again is a matter of time.
    if (name === 'attempt' && value !== 1) return '<attempt>'
    return typeof value === 'string' ? text(value) : value
  }

  return (line) =>
    Object.fromEntries(Object.entries(line).map(([name, value]) => [name, valueOf(name, value)]))
}

/** Lines of one step: those of one resource stay in their order, and the resources stand in the order of their keys. */
export function byResource(lines: readonly LogLine[]): readonly LogLine[] {
  return lines.toSorted((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)]
    return a === b ? 0 : a < b ? -1 : 1
  })
}

function keyOf({ key }: LogLine): string {
  return typeof key === 'string' ? key : ''
}

/** Writes lines as `--log-format pretty` does, without the time. */
export function createPretty(): (line: LogLine) => string {
  const pretty = createPrettyLine({ colour: false })
  return (line) => {
    const text = pretty(JSON.stringify({ ...line, time: '2026-01-01T00:00:00.000Z', app: undefined }))
    return text.replace(/^\[[\d:]+\]/, '[<time>]').trimEnd()
  }
}
