import { setTimeout } from 'node:timers/promises'
import type { Row } from '../row.ts'

/** Requests a second that the daemon is given, and that the platform insists on. */
const RATE = 50
/** They are counted in any so many seconds. */
const PERIOD_S = 5
/** What the first period sends at once is no steady pace. */
const SETTLE_MS = 5_500
const WINDOW_MS = 10_000

/** How much of a budget is used while there is more to do than it allows. */
export const budget: Row = {
  name: 'budget',
  what: `a budget of ${RATE} requests a second, with more to do than that; the platform counts and refuses`,
  floor: `${RATE} a second`,
  unit: 'requests/s',
  rule: { how: 'share', target: 0.97 },
  onlyAt: (size, sizes) => size === Math.max(...sizes),
  async measure(rig) {
    const { platform } = rig
    await platform.reset({ limit: { requests: RATE * PERIOD_S, windowMs: PERIOD_S * 1_000 } })
    await using daemon = await rig.daemon([
      '--api-budget',
      `${RATE * PERIOD_S}/${PERIOD_S}s`,
      '--interval',
      '1s',
    ])
    await platform.untilSaw('the first request', (saw) => saw.gets > 0)
    await setTimeout(SETTLE_MS + WINDOW_MS)
    const { times, firstAt, refused, posts } = await platform.saw('times')
    void daemon
    const from = firstAt + SETTLE_MS
    const count = times.filter((at) => at >= from && at < from + WINDOW_MS).length
    return {
      floor: RATE,
      subject: (count / WINDOW_MS) * 1_000,
      notes: { 'answers 429': refused },
      faults: posts > 0 ? [`${posts} writes`] : [],
      // A request that a busy machine holds up for longer than the margin arrives among those of the next period.
      faultsIfInEach: refused > 0 ? [`${refused} answers 429`] : [],
    }
  },
}
