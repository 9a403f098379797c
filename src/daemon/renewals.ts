import type { Clock } from '../lib/clock.ts'

export interface RenewalsOptions {
  readonly clock: Clock
  /** Services whose credentials were refused and are others by now. */
  readonly renewed: () => Promise<readonly string[]>
  readonly onRenewed: (service: string) => void
}

/** Looking costs no request, and reads a file only while credentials are refused. */
const LOOK_MS = 5_000

/** Looks whether credentials that were refused are others by now, so that nobody waits for the next try with those that work. */
export function createRenewals({ clock, renewed, onRenewed }: RenewalsOptions): { stop(): void } {
  let isStopped = false
  let cancel = clock.after(LOOK_MS, () => void look())

  async function look(): Promise<void> {
    for (const service of await renewed()) if (!isStopped) onRenewed(service)
    if (!isStopped) cancel = clock.after(LOOK_MS, () => void look())
  }

  return {
    stop() {
      isStopped = true
      cancel()
    },
  }
}
