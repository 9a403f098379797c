import type { Clock } from '../lib/clock.ts'

export interface RenewalsOptions {
  readonly clock: Clock
  /** Services whose refused credentials have changed. */
  readonly renewed: () => Promise<readonly string[]>
  readonly onRenewed: (service: string) => void
}

/** A look sends no request. It reads files only while credentials are refused. */
const LOOK_MS = 5_000

/** Tries new credentials after a refusal before the next retry. */
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
