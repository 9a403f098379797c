import type { Emit, Event } from '../contract/events.ts'
import type { Clock } from '../lib/clock.ts'
import type { StatusBoard } from '../contract/status.ts'

/** What is due sooner is still on its way: pipes in the sandbox are there after a second or two. */
const SOON_MS = 10_000

/**
 * Says once, when nothing more is about to happen, what a newcomer looks at: the page, the sandbox, how to stop.
 * @returns to be called with each event
 */
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
