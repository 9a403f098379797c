import type { Clock } from '../lib/clock.ts'
import type { Timing } from '../plan/input.ts'
import type { Emit } from './events.ts'
import type { Fail } from './failpoint.ts'
import type { Ledger, Platform, Priority, SecretStore } from './ports.ts'
import type { World } from './world.ts'

/** What every part of a reconcile works with. */
export interface Deps {
  readonly platform: Platform
  readonly ledger: Ledger
  /** Mounted secrets, as they were a second ago at most. */
  readonly secrets: SecretStore
  /** The same, read anew each time: for what is sent now. */
  readonly mounted: SecretStore
  readonly world: World
  readonly clock: Clock
  readonly emit: Emit
  /** From 0 to below 1. */
  readonly random: () => number
  /** A new UUID. */
  readonly newId: () => string
  readonly timing: Timing
  /** Most creations wanted at once; Infinity lets all pass. */
  readonly maxCreates: number
  /** For tests: fails at the failpoints of a create. */
  readonly fail?: Fail | undefined
}

/** One turn of one key. */
export interface Turn {
  readonly priority: Priority
  /** Start nothing new. A create that was sent is not bound by it. */
  readonly stopping: AbortSignal
  readonly reconcileId: string
  /** When the reading came in that changed the manifest, on the monotonic clock; undefined when none did. */
  readonly changedAt: number | undefined
  /** Called when nothing more will be asked of the platform: what is left is thought, and another may ask meanwhile. */
  readonly leavePlace: () => void
}
