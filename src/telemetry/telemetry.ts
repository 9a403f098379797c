import type { Clock } from '../lib/clock.ts'
import type { Event } from '../contract/events.ts'
import type { Problem, ResourceView } from '../contract/view.ts'
import { createLog, type Log, type LogOptions } from './logger.ts'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { createBoardGauges, withoutManifestGauge } from './status-gauges.ts'
import { countEvent } from './event-table.ts'
import { createInstruments } from './instruments.ts'

interface LoggingOptions {
  readonly log: Omit<LogOptions, 'clock'>
  readonly clock: Clock
}

export interface TelemetryOptions extends LoggingOptions {
  readonly operations: readonly string[]
  readonly version: string
  readonly board: () => readonly ResourceView[]
  readonly facts: () => {
    readonly isActing: boolean
    readonly withoutLock: number
    readonly withoutManifest: readonly { readonly service: string; readonly count: number }[] | undefined
    readonly problems?: readonly Pick<Problem, 'severity'>[]
    /** Used share of the request budget that is used most: 0–1. */
    readonly budgetUsed: number
  }
  /** Limit. Further resources share the label `_other`. */
  readonly namedResources: number
}

export function createLogging({ log: options, clock }: LoggingOptions) {
  const log = createLog({ ...options, clock })
  return { emit: (event: Event) => tell(log, event), close: () => log.close() }
}

export function createTelemetry(options: TelemetryOptions) {
  const log = createLog({ ...options.log, clock: options.clock })
  const metrics = createMetrics(options)
  return {
    emit: (event: Event) => {
      tell(log, event)
      try {
        metrics.count(event)
      } catch (error) {
        tellFault(log, event, error)
      }
    },
    metrics,
    /** Later events can be lost. */
    close: async () => {
      await log.close()
      metrics.close()
    },
  }
}

/** Never throws, because the caller might be sending a create. */
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
    // The log itself failed.
  }
}

/** Removed, because prom-client names these gauges like counters. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

function createMetrics(options: TelemetryOptions) {
  const registry = new Registry()
  const instruments = createInstruments(registry, options.operations)
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  instruments.build_info.set({ version: options.version, node_version: process.version }, 1)
  const showBoard = createBoardGauges(instruments, options.namedResources)
  const countWithoutManifest = withoutManifestGauge(instruments, options.namedResources)
  return {
    count: (event: Event) => countEvent(instruments, event, options.clock),
    async render() {
      showBoard(options.board(), options.clock.now())
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
