import { lifecycleOf } from '../kinds/lookup.ts'
import { serviceOf } from '../kinds/manifest.ts'
import type { Key } from '../kinds/key.ts'
import type { World } from '../reconcile/world.ts'

/** The lane in which a key waits its turn: its service, so that one bad service holds up no other. */
export function laneOf(world: World, key: Key): string {
  switch (lifecycleOf(key)) {
    case 'read-only':
      return 'alerts'
    case 'reference':
      return ''
    case 'create-once':
    case 'upsert': {
      const manifest = world.entry(key)?.manifest
      const wanted = manifest && serviceOf(manifest)
      return wanted ?? world.record(key)?.service?.name ?? ''
    }
  }
}
