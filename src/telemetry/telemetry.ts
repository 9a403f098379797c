import type { Clock } from '../lib/clock.ts'
import type { Event } from '../contract/events.ts'
import type { Problem, ResourceView } from '../contract/view.ts'
import { createLog } from './logger.ts'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { createBoardGauges, withoutManifestGauge } from './status-gauges.ts'
import { countEvent } from './event-table.ts'
import { createInstruments } from './instruments.ts'

export interface TelemetryOptions {
  readonly log: Omit<Parameters<typeof createLog>[0], 'clock'>
  readonly clock: Clock
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

export function createTelemetry(options: TelemetryOptions) {
  const log = createLog({ ...options.log, clock: options.clock })
  const metrics = createMetrics(options)
  return {
    emit: (event: Event) => {
      log.emit(event)
      try {
        metrics.count(event)
      } catch (error) {
        log.tellFault(event, error)
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
      showBoard(options.board(), options.clock.monotonic())
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
