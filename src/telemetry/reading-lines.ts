import type { Finding } from '../kinds/finding.ts'
import type { Event } from '../contract/events.ts'
import type { Facts, Level, Line, LineDefinition } from './log-fields.ts'

/** Findings that one reading logs one by one; the rest is logged as a number. */
const FINDINGS_PER_READING = 100

type Loaded = Extract<Event, { type: 'SourceLoaded' }>
type Failed = Extract<Event, { type: 'SourceFailed' }>

/** The kinds of line about a reading. */
export const READING_LINES = {
  read: {
    message: 'Manifests read',
    levels: { debug: 'as before', info: 'a key or the revision changed, or a problem is over' },
    fields: ['changed', 'manifests', 'findings', 'durationMs'],
  },
  notAccepted: {
    message: 'Manifests not accepted',
    levels: { debug: 'for the same reason as before', warn: 'the last state is kept' },
    fields: ['detail'],
  },
  notRead: {
    message: 'Manifests not read',
    levels: { debug: 'for the same reason as before', warn: 'the last state is kept' },
    fields: ['reason', 'detail', 'durationMs'],
  },
  missed: {
    message: 'Change missed by the watcher',
    levels: { warn: 'always' },
    fields: ['changed'],
  },
  finding: {
    message: 'Finding',
    levels: { warn: 'once for each finding that is new' },
    fields: ['key', 'severity', 'code', 'file', 'line', 'column', 'detail', 'hint'],
  },
  moreFindings: {
    message: 'More findings',
    levels: { warn: 'a reading has more than a hundred new ones' },
    fields: ['findings'],
  },
} as const satisfies Readonly<Record<string, LineDefinition>>

function line(name: keyof typeof READING_LINES, level: Level, facts: Facts): Line {
  return { level, message: READING_LINES[name].message, facts }
}

/** Logs of readings only what was not logged before: the directory is read again and again. */
export interface ReadingLines {
  loaded(event: Loaded): readonly Line[]
  failed(event: Failed): readonly Line[]
}

export function createReadingLines(): ReadingLines {
  let known: ReadonlySet<string> = new Set()
  let revision: string | undefined
  let problem: string | undefined
  return {
    loaded(event) {
      const lines: Line[] = []
      if (event.problem !== undefined) {
        lines.push(
          line('notAccepted', event.problem === problem ? 'debug' : 'warn', {
            detail: event.problem,
          }),
        )
      } else {
        const news = event.changed.length > 0 || event.revision.id !== revision || problem !== undefined
        lines.push(line('read', news ? 'info' : 'debug', readingFacts(event)))
        revision = event.revision.id
      }
      problem = event.problem
      if (event.missedByWatcher) lines.push(line('missed', 'warn', { changed: event.changed.length }))

      const named = nameFindings(event.findings)
      lines.push(...findingLines(event.findings.filter((_, index) => !known.has(named[index] ?? ''))))
      // A reading that is not accepted says nothing about what is gone.
      known = new Set(event.problem === undefined ? named : [...known, ...named])
      return lines
    },
    failed(event) {
      const { type: _, message, ...facts } = event
      const news = message !== problem
      problem = message
      return [line('notRead', news ? 'warn' : 'debug', { ...facts, detail: message })]
    },
  }
}

function readingFacts(event: Loaded): Facts {
  return {
    revision: event.revision.id,
    changed: event.changed.length,
    manifests: event.manifests,
    findings: event.findings.length,
    durationMs: event.durationMs,
  }
}

/**
 * A name for each finding that stays when lines are added above it: its line is no part of it, but equal
 * findings of a file are numbered.
 */
function nameFindings(findings: readonly Finding[]): readonly string[] {
  const seen = new Map<string, number>()
  return findings.map(({ severity, code, file, key, message }) => {
    const name = JSON.stringify([severity, code, file, key, message])
    const number = (seen.get(name) ?? 0) + 1
    seen.set(name, number)
    return `${name}#${number}`
  })
}

function findingLines(findings: readonly Finding[]): readonly Line[] {
  const lines = findings.slice(0, FINDINGS_PER_READING).map((finding) =>
    line('finding', 'warn', {
      key: finding.key,
      severity: finding.severity,
      code: finding.code,
      file: finding.file,
      line: finding.line,
      column: finding.column,
      detail: finding.message,
      hint: finding.hint,
    }),
  )
  const more = findings.length - lines.length
  return more > 0 ? [...lines, line('moreFindings', 'warn', { findings: more })] : lines
}
