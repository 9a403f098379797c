import type { Event } from '../reconcile/events.ts'
import type { Metrics, MetricsOptions } from './metrics.ts'

/** Metrics that are loaded when they are wanted; what happened until then is counted when they are. */
export interface LateMetrics {
  count(event: Event): void
  /** @throws when they cannot be loaded */
  load(): Promise<Metrics>
  close(): Promise<void>
}

/** So many events wait for somebody who wants metrics; a pass over some hundred resources has more. */
const MOST_WAITING = 1_000

/** @param onFault takes an event that could not be counted */
export function createLateMetrics(
  options: MetricsOptions,
  onFault: (event: Event, error: unknown) => void,
): LateMetrics {
  let waiting: Event[] = []
  let metrics: Metrics | undefined
  let loading: Promise<Metrics> | undefined

  const load = () => (loading ??= loadNow())

  async function loadNow(): Promise<Metrics> {
    const { createMetrics } = await import('./metrics.ts')
    metrics = createMetrics(options)
    for (const event of waiting.splice(0)) count(event)
    return metrics
  }

  function count(event: Event): void {
    if (metrics === undefined) {
      waiting.push(event)
      // Who prepares or scrapes hears of it when they cannot be loaded.
      if (waiting.length === MOST_WAITING) load().catch(() => (waiting = []))
      return
    }
    try {
      metrics.count(event)
    } catch (error) {
      onFault(event, error)
    }
  }

  return {
    count,
    load,
    async close() {
      await loading?.catch(() => undefined)
      metrics?.close()
    },
  }
}
