import type { Finding } from '../kinds/finding.ts'
import type { Event } from '../contract/events.ts'
import { digestsOf } from '../contract/activity.ts'
import type { Facts, Level, LogEntry, LineDefinition } from './log-fields.ts'

/** Maximum findings per reading that get their own line. A last line counts the others. */
const SORTS_PER_READING = 10

const KEYS_NAMED = 5

type Loaded = Extract<Event, { type: 'SourceLoaded' }>

export const READING_LINES = {
  read: {
    message: 'Manifests read',
    levels: { debug: 'no change', info: 'a key or the revision changed, or a problem ended' },
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
    levels: { debug: 'again, while the watcher reports no change', warn: 'the first time' },
    fields: ['changed'],
  },
  finding: {
    message: 'Finding',
    levels: {
      warn: 'the finding is new. Equal findings are one line, with their number and the first place',
    },
    fields: [
      'key',
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
    levels: { warn: 'a read has more than ten different new findings' },
    fields: ['findings'],
  },
  findingsOver: {
    message: 'Findings over',
    levels: { info: 'findings of the previous read are gone' },
    fields: ['findings'],
  },
  ledgerWritten: {
    message: 'Ledger written',
    levels: {
      debug: 'the write is on disk, or failed again',
      info: 'another process wrote first: Pipewright decides again. Or writes and reads work again',
      error: 'writes fail, and reads did not fail before',
    },
    fields: ['result', 'durationMs', 'detail'],
  },
  ledgerRead: {
    message: 'Ledger read',
    levels: {
      debug: 'reads fail again',
      info: 'reads work again',
      warn: 'an object in the cluster has the label of the ledger but is not its record: it is ignored. Once per object',
      error: 'reads fail, and writes did not fail before',
    },
    fields: ['result', 'durationMs', 'detail'],
  },
} as const satisfies Readonly<Record<string, LineDefinition>>

function line(name: keyof typeof READING_LINES, level: Level, facts: Facts): LogEntry {
  return { level, message: READING_LINES[name].message, facts }
}

export type LineMemory = ReturnType<typeof createLineMemory>

export function createLineMemory() {
  return { ...createReadingLines(), ledger: createLedgerLine() }
}

function createReadingLines() {
  let known = new Set<string>()
  let revision: string | undefined
  let problem: string | undefined
  let isDeaf = false
  return {
    loaded(event: Loaded) {
      const lines: LogEntry[] = []
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

      const digests = digestsOf(event.findings)
      for (const digest of event.saidBefore.findings) known.add(digest)
      lines.push(...linesOfNew(event.findings.filter((_, index) => !known.has(digests[index] ?? ''))))
      const now = new Set(digests)
      // If the reading was not accepted, no finding counts as over.
      const over = event.problem === undefined ? known.difference(now) : new Set()
      if (over.size > 0) lines.push(line('findingsOver', 'info', { findings: over.size }))
      known = event.problem === undefined ? now : known.union(now)
      return lines
    },
    failed(event: Extract<Event, { type: 'SourceFailed' }>) {
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

function linesOfNew(findings: readonly Finding[]): readonly LogEntry[] {
  const byText = Map.groupBy(findings, ({ severity, code, message }) =>
    JSON.stringify([severity, code, message]),
  )
  const sorts = [...byText.values()]
  const lines = sorts.slice(0, SORTS_PER_READING).flatMap(lineOfSort)
  const more = sorts.slice(SORTS_PER_READING).flat().length
  return more > 0 ? [...lines, line('moreFindings', 'warn', { findings: more })] : lines
}

function lineOfSort(findings: readonly Finding[]): readonly LogEntry[] {
  const [first] = findings
  if (first === undefined) return []
  const { key, severity, code, file, line: at, column, message, hint } = first
  const keys = [...new Set(findings.flatMap((one) => one.key ?? []))].slice(0, KEYS_NAMED)
  const about = findings.length === 1 ? { key } : { findings: findings.length, keys }
  const place = { file, line: at, column }
  const facts = { ...about, findingSeverity: severity, findingCode: code, ...place, detail: message, hint }
  return [line('finding', 'warn', facts)]
}

/** While the ledger is broken, each reconcile fails. Only the first failure is an error line. */
function createLedgerLine() {
  const failing = new Set<'LedgerWritten' | 'LedgerRead'>()
  return (event: Extract<Event, { type: 'LedgerWritten' | 'LedgerRead' }>): LogEntry => {
    const { type, result, durationMs, message: detail } = event
    const name = type === 'LedgerRead' ? 'ledgerRead' : 'ledgerWritten'
    const entry = (level: Level) => line(name, level, { result, durationMs, detail })
    if (result === 'conflict') return entry('info')
    if (result === 'ignored') return entry('warn')
    const before = failing.size
    if (result === 'failed') {
      failing.add(type)
      return entry(before === 0 ? 'error' : 'debug')
    }
    // A successful write proves that reads work, too.
    if (type === 'LedgerWritten') failing.clear()
    failing.delete(type)
    return entry(before > 0 && failing.size === 0 ? 'info' : 'debug')
  }
}
