import { serviceOf } from '../kinds/manifest.ts'
import type { Key } from '../kinds/key.ts'
import { kindOf } from '../kinds/key.ts'
import type { World } from '../reconcile/world.ts'

/** The lane in which a key waits its turn: its service, so that one bad service holds up no other. */
export function laneOf(world: World, key: Key): string {
  switch (kindOf(key)) {
    case 'Alert':
      return 'alerts'
    case 'Service':
      return ''
    case 'Pipe':
    case 'QueryEndpoint': {
      const manifest = world.entry(key)?.manifest
      const wanted = manifest && serviceOf(manifest)
      return wanted ?? world.record(key)?.service?.name ?? ''
    }
  }
}
