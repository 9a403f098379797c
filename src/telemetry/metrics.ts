import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Clock } from '../lib/clock.ts'
import type { Event } from '../contract/events.ts'
import type { ResourceStatus } from '../contract/status.ts'
import { createBoardGauges } from './status-gauges.ts'
import { countEvent } from './event-table.ts'
import { createInstruments } from './instruments.ts'

export interface MetricsOptions {
  readonly version: string
  readonly clock: Clock
  readonly board: () => readonly ResourceStatus[]
  /** How many resources may appear by name in label values; the others share `_other`. */
  readonly namedResources: number
}

export interface Metrics {
  /** Counts an event. */
  count(event: Event): void
  /** For the `Content-Type` header of a scrape. */
  readonly contentType: string
  /** The text of a scrape. */
  render(): Promise<string>
  close(): void
}

/** Gauges that prom-client names like counters; each is the sum of one without `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** The metrics of design §8 in a registry of their own. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry()
  const instruments = createInstruments(registry)
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  instruments.build_info.set({ version: options.version, node: process.version }, 1)
  const boardGauges = createBoardGauges(instruments, options.namedResources)
  return {
    count: (event) => countEvent(instruments, event, options.clock),
    contentType: registry.contentType,
    async render() {
      // Here and not in collect(): a collect() that throws fails the whole scrape.
      boardGauges.update(options.board(), options.clock.now())
      return registry.metrics()
    },
    close: () => registry.clear(),
  }
}
