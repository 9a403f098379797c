import { renameSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { editsOf } from '../edits.ts'
import { quantile, median } from '../median.ts'
import { now, type Rig } from '../rig.ts'
import type { Row } from '../row.ts'

/** How long it must be quiet before the directory is read again (design §7). */
const DEBOUNCE_MS = 250
/** In a plain tree, a second reading must agree. */
const FLOOR_MS = DEBOUNCE_MS + 500
const EDITS = 100
const LONGEST_MS = 60_000
/** So long another request is waited for when one came before the debounce was over. */
const EARLY_MS = 1_500

/** From the edit of one file to its request on the wire, in the real daemon, while drift checks wait for the budget. */
export const change: Row = {
  name: 'change',
  what: 'edit of one file → its request at the platform, p99, while drift checks wait',
  floor: `the debounce and a second reading, ${FLOOR_MS} ms`,
  unit: 'ms',
  rule: { how: 'plus', target: 200 },
  // One in a hundred edits: in a short run beside other work, that is how long the machine was away.
  heldFrom: 10_000,
  async measure(rig, run) {
    const { latencies, waiting, cpuMs, refused } = await edit(rig, { round: 200 + run, edits: EDITS })
    return {
      floor: FLOOR_MS,
      subject: quantile(latencies, 0.99),
      notes: {
        'p50, ms': median(latencies),
        'drift checks waiting at the end': waiting,
        'CPU an edit, ms, with the checks beside it': cpuMs / EDITS,
      },
      faults: refused > 0 ? [`${refused} answers 429`] : [],
    }
  },
}

/** Edits one file after the other and waits for the request of each. */
async function edit(rig: Rig, { round, edits: count }: { readonly round: number; readonly edits: number }) {
  const { platform, tree } = rig
  const edits = editsOf(tree, count, round)
  await platform.reset({ watch: edits.map(({ pipe }) => rig.pathOf(pipe)) })
  // Checks at a modest pace, so that most of them wait all the time.
  const daemon = await rig.daemon(['--api-budget', '200/1s', '--interval', '1s'])
  await platform.untilSaw('the first checks', (saw) => saw.gets >= 10)
  await setTimeout(1_000)
  const latencies: number[] = []
  const startedAt = now()
  for (const { pipe, path, text } of edits) {
    await setTimeout(50)
    const at = now()
    // As an editor saves: the file is replaced.
    writeFileSync(`${path}.tmp`, text)
    renameSync(`${path}.tmp`, path)
    latencies.push((await arrival(rig, rig.pathOf(pipe), at)) - at)
  }
  const endedAt = now()
  const overview = (await (await fetch(`${daemon.url}/api/v1/overview`)).json()) as {
    readonly queueDepth: Readonly<Record<string, number>>
  }
  const { refused } = await platform.saw()
  await daemon[Symbol.asyncDispose]()
  return {
    latencies,
    waiting: overview.queueDepth['2'] ?? 0,
    cpuMs: daemon.cpuBetween(startedAt, endedAt),
    refused,
  }
}

/**
 * When the request for a path came that the edit has caused. One before the debounce was over may be a drift check that
 * came by; it counts only when no other follows, for then a reading that was under way saw the edit early.
 */
async function arrival({ platform }: Rig, path: string, editedAt: number): Promise<number> {
  let early: number | undefined
  for (const end = now() + LONGEST_MS; now() < end;) {
    const { arrivals } = await platform.saw()
    const times = arrivals[path]?.filter((time) => time >= editedAt) ?? []
    const at = times.find((time) => time >= editedAt + DEBOUNCE_MS)
    early ??= times[0]
    if (at !== undefined && (early === undefined || at < editedAt + EARLY_MS)) return at
    if (early !== undefined && now() > editedAt + EARLY_MS) return early
    await setTimeout(20)
  }
  throw new Error(`no request for ${path} within ${LONGEST_MS} ms after the edit`)
}
