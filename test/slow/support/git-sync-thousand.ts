import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { follow } from './git-sync-following.ts'
import { holdings } from './git-sync-holdings.ts'
import { alertName, type Publisher } from './git-sync-trees.ts'

export const SWAPS = 1_000

/** Swaps of another directory before, so that code compiled on the way does not count as growth. */
const WARM_UP_SWAPS = 100

/** Bytes that a thousand swaps may leave behind, beyond what the last catalog takes: 2 kB each. */
const GROWTH_LIMIT = 2_000_000

/** A thousand swaps: each is seen once, in order, with its own revision, and nothing grows. */
export async function expectThousandSwaps(create: (base: string) => Publisher): Promise<string> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pipewright-swaps-')))
  try {
    const before = create(join(base, 'before'))
    before.publish(0)
    await followSwaps(before, WARM_UP_SWAPS)

    const publisher = create(join(base, 'measured'))
    publisher.publish(0)
    const startedAt = performance.now()
    const { first, last, readings, events } = await followSwaps(publisher, SWAPS)
    const tookMs = Math.round(performance.now() - startedAt)

    const changes = readings.filter(({ differs }) => differs)
    expect(changes.map(({ changed }) => changed)).toEqual(
      Array.from({ length: SWAPS + 1 }, (_, n) => [`Alert/${alertName(n)}`]),
    )
    expect(new Set(changes.map(({ revision }) => revision)).size).toBe(SWAPS + 1)
    expect(readings.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(new Set(readings.map(({ why }) => why))).toEqual(new Set(['start', 'event']))
    // One watch from beginning to end: it never fell back, and was never begun anew under another mode.
    expect(events.map(({ type }) => type)).toEqual(['WatchModeChanged'])

    expect(first.watches).toBeGreaterThan(0)
    expect(last.watches).toBe(first.watches)
    expect(last.handles).toBe(first.handles)
    const fresh = await followFresh(publisher.root)
    expect(last.heap - fresh.heap).toBeLessThan(GROWTH_LIMIT)
    return (
      `${SWAPS} swaps in ${tookMs} ms, ${readings.length} readings, watches ${last.watches}, ` +
      `handles ${last.handles}, heap ${last.heap} bytes (a fresh start: ${fresh.heap})`
    )
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/** Swaps as soon as the swap before was seen. */
async function followSwaps(publisher: Publisher, swaps: number) {
  await using following = await follow(publisher.root)
  const first = await holdings()
  for (let generation = 1; generation <= swaps; generation += 1) {
    const key = `Alert/${alertName(generation)}` as const
    publisher.publish(generation)
    const { state } = await following.see(`swap ${generation}`, (seen) => seen.state.catalog.entries.has(key))
    const { catalog } = state
    // Not mixed: all of this generation and nothing else, at its revision, and the new one came with it.
    expect(catalog.entries.size).toBe(generation + 1)
    expect(catalog.findings).toEqual([])
    expect(catalog.entries.get(key)?.revision).toBe(catalog.revision.id)
    expect(catalog.revision.id).toBe(publisher.revision(generation) ?? catalog.revision.id)
  }
  await following.quiet(200)
  const last = await holdings()
  return { first, last, readings: following.readings, events: following.events }
}

/** What it takes to follow this directory when one has just begun to: the same catalog, without a past. */
async function followFresh(root: string) {
  await using following = await follow(root)
  await following.quiet(200)
  return holdings()
}
