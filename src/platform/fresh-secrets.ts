import type { Clock } from '../lib/clock.ts'
import type { SecretReading, SecretStore } from '../reconcile/ports.ts'

/** How long a reading of a file may serve others; a mount itself lags by up to a minute. */
const FRESH_MS = 1_000

/**
 * Mounted secrets, each file read at most once a second: a pass over many pipes asks for the same few secrets over and over.
 * A reading serves for no longer than that, whether a secret was found or not.
 */
export function createFreshSecrets(store: SecretStore, clock: Clock): SecretStore {
  const readings = new Map<string, Promise<SecretReading>>()
  let since = -Infinity
  return {
    read(ref) {
      const now = clock.monotonic()
      if (now - since >= FRESH_MS) {
        readings.clear()
        since = now
      }
      const id = `${ref.name}/${ref.key}`
      const known = readings.get(id)
      if (known !== undefined) return known
      const reading = store.read(ref)
      readings.set(id, reading)
      return reading
    },
  }
}
