import type { PipeView } from '../../../src/sandbox/world.ts'
import type { Lineage } from '../lineage.ts'
import type { PlatformUnderTest } from '../platform.ts'
import type { Random } from '../random.ts'
import { isOfDatabase } from './wish.ts'

/** Somebody works in the console. @returns what was done */
export function workInConsole(
  { sandbox }: Pick<PlatformUnderTest, 'sandbox'>,
  { lineage, pipe, random }: { readonly lineage: Lineage; readonly pipe: PipeView; readonly random: Random },
): string | undefined {
  const { wish } = lineage
  if (wish === undefined) return undefined
  if (random.chance(0.35)) {
    // It may be stopped for a change at this moment: then it is not this one who stops it.
    if (pipe.state !== 'Running') return undefined
    const state = isOfDatabase(wish) ? 'Paused' : 'Stopped'
    sandbox.change(pipe.id, { state })
    lineage.wasStopped = true
    return `stops it: ${state}`
  }
  const patch = isOfDatabase(wish)
    ? { source: { postgres: { settings: { syncIntervalSeconds: 9_000 + random.below(9) } } } }
    : random.pick([
        { scaling: { replicas: 31 + random.below(9) } },
        { settings: { streaming_max_insert_wait_ms: 50_000 + random.below(9) } },
      ])
  sandbox.change(pipe.id, patch)
  return `changes it: ${JSON.stringify(patch)}`
}
