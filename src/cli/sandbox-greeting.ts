import type { Emit, Event } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import type { StatusBoard } from '../contract/view.ts'

/** Sooner work is still in progress: sandbox pipes take seconds to start. */
const SOON_MS = 10_000

/** Page's address and next steps, once the first run is quiet. @returns an event listener */
export function createGreeting(parts: {
  readonly board: StatusBoard
  readonly emit: Emit
  readonly clock: Pick<Clock, 'now'>
  readonly page: string
  readonly platform: string | undefined
}): (event: Event) => void {
  let isSaid = false
  return ({ type }) => {
    if (isSaid || type !== 'ReconcileFinished') return
    const all = parts.board.list()
    const isPending = all.some(({ nextReconcileAt }) => (nextReconcileAt ?? 0) < parts.clock.now() + SOON_MS)
    if (isPending || all.length === 0) return
    isSaid = true
    parts.emit({ type: 'SandboxReady', page: `${parts.page}/`, platform: parts.platform })
  }
}
