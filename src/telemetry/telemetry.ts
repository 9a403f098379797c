import type { Clock } from '../lib/clock.ts'
import type { Emit, Event } from '../contract/events.ts'
import type { Problem } from '../contract/problem.ts'
import type { ResourceStatus } from '../contract/status.ts'
import { createLog, type Log, type LogOptions } from './logger.ts'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { createBoardGauges, withoutManifestGauge } from './status-gauges.ts'
import { countEvent } from './event-table.ts'
import { createInstruments } from './instruments.ts'

export interface LoggingOptions {
  readonly log: Omit<LogOptions, 'clock'>
  readonly clock: Clock
}

export interface TelemetryOptions extends LoggingOptions {
  /** Names of the requests that the platform is asked for. */
  readonly operations: readonly string[]
  readonly version: string
  /** What stands on the board now; read at each scrape. */
  readonly board: () => readonly ResourceStatus[]
  /** What else is known at each scrape. */
  readonly facts: () => ScrapedFacts
  /** How many resources may appear by name in label values; the others share `_other`. */
  readonly namedResources: number
}

/** Beside the board. */
export interface ScrapedFacts {
  /** Whether this process acts, as far as it knows. */
  readonly isActing: boolean
  /** Pipes whose id is in no Lock. */
  readonly withoutLock: number
  /** Pipes that no manifest holds, by service. Undefined: the platform does not list its pipes. */
  readonly withoutManifest: readonly { readonly service: string; readonly count: number }[] | undefined
  readonly problems?: readonly Pick<Problem, 'severity'>[]
  /** Of the request budget, of the credential that uses most: from 0 to 1. */
  readonly budgetUsed: number
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
}

/** Subscribes to all events, and makes logs of them: for a command that ends by itself, which nobody scrapes. */
export function createLogging({ log: options, clock }: LoggingOptions): Logging {
  const log = createLog({ ...options, clock })
  return { emit: (event) => tell(log, event), close: () => log.close() }
}

/** Subscribes to all events, and makes logs and metrics of them (design §8). */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const log = createLog({ ...options.log, clock: options.clock })
  const metrics = createMetrics(options)
  return {
    emit(event) {
      tell(log, event)
      try {
        metrics.count(event)
      } catch (error) {
        tellFault(log, event, error)
      }
    },
    metrics,
    async close() {
      await log.close()
      metrics.close()
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

/** Gauges that prom-client names like counters; each is the sum of one without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The metrics of design §8 in a registry of their own. */
function createMetrics(options: TelemetryOptions) {
  const registry = new Registry()
  const instruments = createInstruments(registry, options.operations)
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  instruments.build_info.set({ version: options.version, node_version: process.version }, 1)
  const boardGauges = createBoardGauges(instruments, options.namedResources)
  const countWithoutManifest = withoutManifestGauge(instruments, options.namedResources)
  return {
    count: (event: Event) => countEvent(instruments, event, options.clock),
    async render() {
      // Here and not in collect(): a collect() that throws fails the whole scrape.
      boardGauges.update(options.board(), options.clock.now())
      const { isActing, withoutLock, withoutManifest = [], problems = [], budgetUsed } = options.facts()
      instruments.leader.set(isActing ? 1 : 0)
      countWithoutManifest(withoutManifest)
      for (const severity of ['warning', 'critical'] as const)
        instruments.problems.set({ severity }, problems.filter((one) => one.severity === severity).length)
      instruments.pipes_without_lock.set(withoutLock)
      instruments.api_budget_used_ratio.set(budgetUsed)
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
    close: () => registry.clear(),
  }
}
