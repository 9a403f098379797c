import type { Clock } from '../../lib/clock.ts'
import { MANIFEST_KINDS } from '../../kinds/lookup.ts'
import type { Instruments } from '../instruments.ts'
import { READING_LINES } from '../reading-lines.ts'
import { WATCH_MODES, type Event } from '../../contract/events.ts'
import { seconds, type EventRows } from './event-row.ts'

const { read, notAccepted, notRead, missed, finding, moreFindings, findingsOver } = READING_LINES

export const READING_EVENTS = {
  SourceLoaded: {
    lines: [read, notAccepted, missed, finding, moreFindings, findingsOver],
    log: (event, { readings }) => readings.loaded(event),
    count: countReading,
  },
  SourceFailed: {
    lines: [notRead],
    log: (event, { readings }) => readings.failed(event),
    count(metrics, { durationMs }) {
      metrics.source_load_duration_seconds.observe(seconds(durationMs))
      metrics.source_last_load_successful.set(0)
    },
  },
  WatchModeChanged: {
    lines: [
      {
        message: 'Watch mode changed',
        levels: { info: 'it is watched', warn: 'it is polled, because watching is not possible' },
        fields: ['mode', 'detail'],
      },
    ],
    level: ({ mode }) => (mode === 'polling' ? 'warn' : 'info'),
    count(metrics, event) {
      for (const mode of WATCH_MODES) metrics.source_watch_mode.set({ mode }, mode === event.mode ? 1 : 0)
    },
  },
} satisfies EventRows

function countReading(
  metrics: Instruments,
  event: Extract<Event, { type: 'SourceLoaded' }>,
  clock: Clock,
): void {
  metrics.source_load_duration_seconds.observe(seconds(event.durationMs))
  metrics.source_last_load_successful.set(event.problem === undefined ? 1 : 0)
  if (event.missedByWatcher) metrics.source_missed_changes_total.inc()
  if (event.problem !== undefined) return // the catalog in force is unchanged

  metrics.source_last_load_success_timestamp_seconds.set(seconds(clock.now()))
  for (const kind of MANIFEST_KINDS) metrics.source_manifests.set({ kind }, event.manifests[kind] ?? 0)
  for (const severity of ['error', 'warning'] as const) {
    metrics.source_findings.set({ severity }, event.findings.filter((f) => f.severity === severity).length)
  }
  metrics.source_revision_since_timestamp_seconds.set(seconds(event.since ?? 0))
  metrics.source_info.reset()
  metrics.source_info.set({ revision: event.revision.id }, 1)
}
