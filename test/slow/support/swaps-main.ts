import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { follow, type SeenReading } from './git-sync-following.ts'
import { holdings, type Holdings } from './git-sync-holdings.ts'
import { alertName, createConfigMapPublisher, createLinkPublisher, type Publisher } from './git-sync-trees.ts'

/*
 * A process of its own that follows hundreds of swaps, and says what it saw and held: a test runner keeps two kilobytes of
 * each turn of such a loop, which is more than Pipewright may.
 */

/** How each layout publishes. */
const LAYOUTS = {
  'the link is the root': (base) => linked(base, ''),
  'the root lies below the link': (base) => linked(base, 'deploy/manifests'),
  'a ConfigMap volume': createConfigMapPublisher,
} satisfies Readonly<Record<string, (base: string) => Publisher>>

export type Layout = keyof typeof LAYOUTS

/** What one process saw of its swaps. */
export interface SwapsReport {
  readonly tookMs: number
  /** Before the first swap, and after the last. */
  readonly first: Holdings
  readonly last: Holdings
  /** Bytes that the swaps left, beyond what it takes to follow the last state of the directory without a past. */
  readonly left: number
  readonly readings: readonly SeenReading[]
  readonly events: readonly string[]
}

/** Swaps of another directory before, so that code compiled on the way does not count as growth. */
const WARM_UP_SWAPS = 100

function linked(base: string, below: string): Publisher {
  return createLinkPublisher({ base, below, removesBefore: (generation) => generation % 2 === 0 })
}

/** Swaps as soon as the swap before was seen. */
async function followSwaps(
  publisher: Publisher,
  swaps: number,
): Promise<Omit<SwapsReport, 'tookMs' | 'left'>> {
  publisher.publish(0)
  await using following = await follow(publisher.root)
  const first = await holdings()
  for (let generation = 1; generation <= swaps; generation += 1) {
    const key = `Alert/${alertName(generation)}` as const
    publisher.publish(generation)
    const { state } = await following.see(`swap ${generation}`, (seen) => seen.state.catalog.entries.has(key))
    const { catalog } = state
    // Not mixed: all of this generation and nothing else, at its revision, and the new one came with it.
    assert.equal(catalog.entries.size, generation + 1)
    assert.deepEqual(catalog.findings, [])
    assert.equal(catalog.entries.get(key)?.revision, catalog.revision.id)
    assert.equal(catalog.revision.id, publisher.revision(generation) ?? catalog.revision.id)
  }
  await following.quiet(200)
  const last = await holdings()
  return { first, last, readings: following.readings, events: following.events.map(({ type }) => type) }
}

async function followFresh(root: string): Promise<Holdings> {
  await using following = await follow(root)
  await following.quiet(200)
  return await holdings()
}

async function main(layout: Layout, swaps: number): Promise<SwapsReport> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-swaps-')))
  try {
    await followSwaps(LAYOUTS[layout](join(base, 'before')), WARM_UP_SWAPS)
    const publisher = LAYOUTS[layout](join(base, 'measured'))
    const before = await holdings()
    const startedAt = performance.now()
    const seen = await followSwaps(publisher, swaps)
    const tookMs = Math.round(performance.now() - startedAt)
    const after = await holdings()
    const fresh = await followFresh(publisher.root)
    return { tookMs, ...seen, left: seen.last.heap - before.heap - (fresh.heap - after.heap) }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

const [layout = '', swaps = ''] = process.argv.slice(2)
if (!Object.hasOwn(LAYOUTS, layout)) throw new Error(`no layout "${layout}"`)
process.stdout.write(`${JSON.stringify(await main(layout as Layout, Number(swaps)))}\n`)
