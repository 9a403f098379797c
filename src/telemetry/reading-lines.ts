import type { Finding } from '../kinds/finding.ts'
import type { Event } from '../contract/events.ts'
import { nameFindings } from '../contract/findings-digest.ts'
import type { Facts, Level, Line, LineDefinition } from './log-fields.ts'

/** Findings that one reading logs one by one, for debugging. */
const FINDINGS_PER_READING = 100

/** Sorts of findings that one reading logs; the rest is logged as a number. */
const SORTS_PER_READING = 10

/** Keys that a line names. */
const KEYS_NAMED = 5

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
    levels: { debug: 'again, before it noticed one', warn: 'the first time' },
    fields: ['changed'],
  },
  finding: {
    message: 'Finding',
    levels: {
      debug: 'each finding that is new, of several that say the same; and each that an earlier process knew',
      warn: 'a finding that is new, and the only one of a reading that says so',
    },
    fields: ['key', 'findingSeverity', 'findingCode', 'file', 'line', 'column', 'detail', 'hint'],
  },
  findings: {
    message: 'Findings',
    levels: { warn: 'several that are new and say the same: the place of the first' },
    fields: [
      'findings',
      'keys',
      'findingSeverity',
      'findingCode',
      'file',
      'line',
      'column',
      'detail',
      'hint',
    ],
  },
  moreFindings: {
    message: 'More findings',
    levels: { warn: 'a reading has new ones of more than ten sorts' },
    fields: ['findings'],
  },
  findingsOver: {
    message: 'Findings over',
    levels: { info: 'so many that were there are not there any more' },
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
  let isDeaf = false
  return {
    loaded(event) {
      const lines: Line[] = []
      if (event.problem !== undefined) {
        lines.push(
          line('notAccepted', event.problem === problem || event.saidBefore.problem ? 'debug' : 'warn', {
            detail: event.problem,
          }),
        )
      } else {
        const news = event.changed.length > 0 || event.revision.id !== revision || problem !== undefined
        lines.push(line('read', news ? 'info' : 'debug', readingFacts(event)))
        revision = event.revision.id
      }
      problem = event.problem
      if (event.missedByWatcher)
        lines.push(line('missed', isDeaf ? 'debug' : 'warn', { changed: event.changed.length }))
      if (event.missedByWatcher || event.changed.length > 0) isDeaf = event.missedByWatcher

      const named = nameFindings(event.findings)
      const added = event.findings.filter((_, index) => !known.has(named[index] ?? ''))
      const { findings: saidBefore, findingsOver } = event.saidBefore
      const [old, fresh] = [
        added.filter((one) => saidBefore.has(one)),
        added.filter((one) => !saidBefore.has(one)),
      ]
      lines.push(...old.map((one) => findingLine('debug', one)), ...linesOfNew(fresh))
      const now = new Set(named)
      const gone = event.problem === undefined ? [...known].filter((name) => !now.has(name)).length : 0
      const over = gone + findingsOver
      if (over > 0) lines.push(line('findingsOver', 'info', { findings: over }))
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

/** One line for all that say the same, and one for each where they are several. */
function linesOfNew(findings: readonly Finding[]): readonly Line[] {
  const sorts = [...Map.groupBy(findings, sortOf).values()]
  const said = sorts.slice(0, SORTS_PER_READING).flatMap(linesOfSort)
  const more = sorts.slice(SORTS_PER_READING).flat()
  const lines = more.length > 0 ? [...said, line('moreFindings', 'warn', { findings: more.length })] : said
  const each = [
    ...sorts
      .slice(0, SORTS_PER_READING)
      .filter(({ length }) => length > 1)
      .flat(),
    ...more,
  ]
  return [...lines, ...each.slice(0, FINDINGS_PER_READING).map((one) => findingLine('debug', one))]
}

function sortOf({ severity, code, message }: Finding): string {
  return JSON.stringify([severity, code, message])
}

function linesOfSort(findings: readonly Finding[]): readonly Line[] {
  const [first] = findings
  if (first === undefined) return []
  if (findings.length === 1) return [findingLine('warn', first)]
  const { key: _, ...facts } = findingFacts(first)
  const keys = [...new Set(findings.flatMap(({ key }) => key ?? []))].slice(0, KEYS_NAMED)
  return [line('findings', 'warn', { findings: findings.length, keys, ...facts })]
}

function findingLine(level: Level, finding: Finding): Line {
  return line('finding', level, findingFacts(finding))
}

function findingFacts({ key, severity, code, file, line: at, column, message, hint }: Finding) {
  return { key, findingSeverity: severity, findingCode: code, file, line: at, column, detail: message, hint }
}
