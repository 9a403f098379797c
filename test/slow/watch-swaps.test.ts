import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startProgram } from '../support/process.ts'
import { alertName } from './support/git-sync-trees.ts'
import type { Layout, SwapsReport } from './support/swaps-main.ts'

/** Each reads all manifests of those before. */
const SWAPS = 300

/** Bytes that the swaps may leave behind; what the report keeps of them takes half of it. */
const GROWTH_LIMIT = SWAPS * 1_000

const MAIN = fileURLToPath(new URL('support/swaps-main.ts', import.meta.url))

test.concurrent.for<Layout>(['the link is the root', 'the root lies below the link', 'a ConfigMap volume'])(
  'hundreds of swaps are each seen once, in order, with a revision of their own, and nothing grows: %s',
  { timeout: 600_000 },
  async (layout) => {
    await using program = startProgram([layout, String(SWAPS)], { main: MAIN })
    expect([await program.ended, program.stderr()]).toEqual([0, ''])
    const { tookMs, first, last, left, readings, events } = JSON.parse(program.stdout()) as SwapsReport // its own words

    const changes = readings.filter(({ differs }) => differs)
    expect(changes.map(({ changed }) => changed)).toEqual(
      Array.from({ length: SWAPS + 1 }, (_, n) => [`Alert/${alertName(n)}`]),
    )
    expect(new Set(changes.map(({ revision }) => revision)).size).toBe(SWAPS + 1)
    expect(readings.filter(({ problem }) => problem !== undefined)).toEqual([])
    // Events announce them. A walk that comes between a swap and its event may be the first to see it, now and then.
    expect(readings.filter(({ why }) => why !== 'start' && why !== 'event').length).toBeLessThan(SWAPS / 100)
    // One watch from beginning to end: it never fell back, and was never begun anew under another mode.
    expect(events).toEqual(['WatchModeChanged'])

    expect(first.watches).toBeGreaterThan(0)
    expect(last.watches).toBe(first.watches)
    expect(last.handles).toBe(first.handles)
    expect(left).toBeLessThan(GROWTH_LIMIT)
    process.stdout.write(
      `${layout}: ${SWAPS} swaps in ${tookMs} ms, ${readings.length} readings, watches ${last.watches}, ` +
        `handles ${last.handles}, heap ${last.heap} bytes, of which the swaps left ${left}\n`,
    )
  },
)
