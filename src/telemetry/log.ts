import type { Event } from '../reconcile/events.ts'
import { createLogger, type LogOptions } from './logger.ts'
import { isDetail, lineOf } from './line.ts'
import type { Line } from './log-lines.ts'
import { createReadingLines } from './reading-lines.ts'

export interface Log {
  /** Writes what is to be told of an event. */
  tell(event: Event): void
  /** Writes what is still held back, and lets go of the destination. */
  close(): Promise<void>
}

/** Tells events as lines of a log; the revision stands on every line. */
export function createLog(options: LogOptions): Log {
  const logger = createLogger(options)
  const readings = createReadingLines()
  let revision: string | undefined

  function linesOf(event: Event): readonly Line[] {
    if (event.type === 'SourceFailed') return readings.failed(event)
    if (event.type === 'SourceLoaded') {
      revision = event.revision.id
      return readings.loaded(event)
    }
    const line = lineOf(event)
    return line === undefined ? [] : [line]
  }

  return {
    tell(event) {
      if (!logger.debugs && isDetail(event)) return
      for (const { level, message, facts } of linesOf(event)) {
        logger.write(level, { revision, ...rounded(facts) }, message)
      }
    },
    close: () => logger.close(),
  }
}

/** Milliseconds to a tenth: what is behind it says nothing, and nobody wants to read it. */
function rounded(facts: Line['facts']): Line['facts'] {
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [
      name,
      name.endsWith('Ms') && typeof fact === 'number' ? Math.round(fact * 10) / 10 : fact,
    ]),
  )
}
