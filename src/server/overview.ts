import type { FastifyInstance } from 'fastify'
import type { LastReading } from './chronicle.ts'
import { countFindings, errorsFirst, type FindingCounts } from './findings.ts'
import type { Health, Overview, ServerParts } from './parts.ts'
import { countStatuses, judge, type Counts, type Verdict } from './verdict.ts'

/** Findings in an overview; `/api/v1/findings` has the others. */
const FINDINGS_SHOWN = 100

export interface ShownOverview extends Overview {
  readonly verdict: Verdict
  readonly ready: Health
  /** Resources by status. */
  readonly counts: Counts
  readonly findingCounts: FindingCounts
  readonly lastReading: LastReading | undefined
  /** Why the directory is watched in this way, in words. */
  readonly watchMessage: string | undefined
  /** Changes that no watcher event announced, since the daemon started. */
  readonly missedChanges: number
}

/** The whole at a glance; of the findings the first hundred, errors first. */
export function overviewOf(parts: ServerParts): ShownOverview {
  const overview = parts.overview()
  const ready = parts.ready()
  const counts = countStatuses(parts.board.list())
  const { chronicle } = parts
  return {
    ...overview,
    findings: errorsFirst(overview.findings).slice(0, FINDINGS_SHOWN),
    findingCounts: countFindings(overview.findings),
    ready,
    counts,
    verdict: judge(counts, overview, ready),
    lastReading: chronicle.lastReading,
    watchMessage: chronicle.watch?.message,
    missedChanges: chronicle.missedChanges,
  }
}

/** `GET /api/v1/overview`. */
export function registerOverview(app: FastifyInstance, parts: ServerParts): void {
  app.get('/api/v1/overview', () => overviewOf(parts))
}
