import type { Clock } from '../lib/clock.ts'
import type { Emit, Event } from '../reconcile/events.ts'
import type { ResourceStatus } from '../reconcile/status.ts'
import { createLateMetrics } from './late-metrics.ts'
import { createLog, type Log } from './log.ts'
import type { LogOptions } from './logger.ts'

export interface LoggingOptions {
  readonly log: Pick<LogOptions, 'level' | 'format' | 'destination'>
  readonly clock: Clock
}

export interface TelemetryOptions extends LoggingOptions {
  readonly version: string
  /** What stands on the board now; read at each scrape. */
  readonly board: () => readonly ResourceStatus[]
  /** How many resources may appear by name in label values; the others share `_other`. */
  readonly namedResources: number
}

export interface Logging {
  /** Never throws. */
  readonly emit: Emit
  /** Writes what is left; what is emitted afterwards may be lost. */
  close(): Promise<void>
}

export interface Telemetry extends Logging {
  readonly metrics: {
    /** A scrape: its text, and the `Content-Type` of it. */
    render(): Promise<{ readonly contentType: string; readonly text: string }>
  }
  /**
   * Loads the metrics. Otherwise the first scrape does, or a thousand events.
   * @throws when they cannot be loaded
   */
  prepare(): Promise<void>
}

/** Subscribes to all events, and makes logs of them: for a command that ends by itself, which nobody scrapes. */
export async function createLogging({ log: options, clock }: LoggingOptions): Promise<Logging> {
  const log = await createLog({ ...options, clock })
  return { emit: (event) => tell(log, event), close: () => log.close() }
}

/** Subscribes to all events, and makes logs and metrics of them (design §8). */
export async function createTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { version, clock, board, namedResources } = options
  const log = await createLog({ ...options.log, clock })
  const metrics = createLateMetrics({ version, clock, board, namedResources }, (event, error) =>
    tellFault(log, event, error),
  )
  return {
    emit(event) {
      tell(log, event)
      metrics.count(event)
    },
    metrics: {
      async render() {
        const loaded = await metrics.load()
        return { contentType: loaded.contentType, text: await loaded.render() }
      },
    },
    async prepare() {
      await metrics.load()
    },
    async close() {
      await log.close()
      await metrics.close()
    },
  }
}

/** A fault in here must not become one of whoever emits, which may stand in the middle of a create. */
function tell(log: Log, event: Event): void {
  try {
    log.tell(event)
  } catch (error) {
    tellFault(log, event, error)
  }
}

function tellFault(log: Log, event: Event, fault: unknown): void {
  const error = fault instanceof Error ? fault : new Error(String(fault))
  try {
    log.tell({ type: 'Bug', message: `telemetry could not take ${event.type}`, error })
  } catch {
    // Nobody to tell: the one to tell is the one that failed.
  }
}
