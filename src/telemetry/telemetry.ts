import type { Clock } from '../lib/clock.ts'
import type { Emit, Event } from '../reconcile/events.ts'
import type { ResourceStatus } from '../reconcile/status.ts'
import { createLog } from './log.ts'
import type { LogOptions } from './logger.ts'
import { createMetrics } from './metrics.ts'

export interface TelemetryOptions {
  readonly log: Pick<LogOptions, 'level' | 'format' | 'destination'>
  readonly version: string
  /** What stands on the board now; read at each scrape. */
  readonly board: () => readonly ResourceStatus[]
  /** How many resources may appear by name in label values; the others share `_other`. */
  readonly namedResources: number
  readonly clock: Clock
}

export interface Telemetry {
  /** Never throws. */
  readonly emit: Emit
  readonly metrics: {
    /** For the `Content-Type` header of a scrape. */
    readonly contentType: string
    render(): Promise<string>
  }
  /** Writes what is left; what is emitted afterwards may be lost. */
  close(): Promise<void>
}

/** Subscribes to all events, and makes logs and metrics of them (design §8). */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const { version, clock, board, namedResources } = options
  const log = createLog({ ...options.log, clock })
  const metrics = createMetrics({ version, clock, board, namedResources })

  /** A fault in here must not become one of whoever emits, which may stand in the middle of a create. */
  function emit(event: Event): void {
    try {
      log.tell(event)
    } catch (error) {
      tellFault(event, error)
    }
    try {
      metrics.count(event)
    } catch (error) {
      tellFault(event, error)
    }
  }

  function tellFault({ type }: Event, thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    try {
      log.tell({ type: 'Bug', message: `telemetry could not take ${type}`, error })
    } catch {
      // Nobody is left to be told.
    }
  }

  return {
    emit,
    metrics,
    async close() {
      await log.close()
      metrics.close()
    },
  }
}
