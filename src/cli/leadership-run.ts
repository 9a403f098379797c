import type { Term } from '../contract/leadership.ts'
import type { DaemonRun } from './compose.ts'
import { openWebhook } from './compose-webhook.ts'

export function createLeadershipRun(run: DaemonRun) {
  const { settings, stop, events, leading, leadership, engine, daemon } = run
  const ending = new AbortController()
  let webhook: Awaited<ReturnType<typeof openWebhook>>

  function tell(
    is: 'acting' | 'standing by' | 'taken over',
    leader: { readonly epoch: number; readonly holder: string | undefined } | undefined,
    olderThan?: string,
  ): void {
    events.emit({
      type: 'LeadershipChanged',
      is,
      isShared: engine.context.ledger.isShared,
      epoch: leader?.epoch,
      leader: leader?.holder,
      olderThan,
    })
  }

  /** Runs as leader: opens the webhook, and ends the run if another process takes over. */
  async function act(term: Term): Promise<void> {
    leading.begin(term)
    if (stop.stopping.aborted) return
    const { epoch, over } = term
    const leader = { epoch, holder: leadership.leader()?.holder }
    if (daemon.isStarted) tell('acting', leader, leading.olderThan)
    else {
      tell('acting', leader)
      // Whether the checkout is stale is known only after the first successful read.
      const endListening = events.listen((event) => {
        if (event.type !== 'SourceLoaded' || event.problem !== undefined) return
        endListening()
        if (leading.olderThan !== undefined) tell('acting', leader, leading.olderThan)
      })
    }
    const onOver = () => {
      if (stop.stopping.aborted) return
      tell('taken over', leadership.leader())
      ending.abort(over.reason)
    }
    if (over.aborted) onOver()
    over.addEventListener('abort', onOver)
    webhook = await openWebhook(settings, run, term, AbortSignal.any([stop.stopping, over]))
    if (webhook !== undefined) events.listen(webhook.observe)
  }

  async function unlessStopped<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work
    } catch (error) {
      if (stop.stopping.aborted) return undefined
      throw error
    }
  }

  async function standBy(): Promise<void> {
    tell('standing by', leadership.leader())
    const acquiring = leadership.acquire(stop.stopping, 'wait', (revision) => leading.noteLeader(revision))
    const term = await unlessStopped(acquiring)
    if (term !== undefined) await act(term)
    if (!stop.stopping.aborted) await daemon.act()
  }

  return {
    /** Aborted if another process took over, or the standby failed. */
    ended: ending.signal,
    /** The promise `standing` resolves when a standby leads or stops. Undefined on the leader. */
    async begin() {
      const term = await unlessStopped(leadership.attempt(stop.stopping))
      if (term !== undefined) await act(term)
      await daemon.start(term !== undefined)
      return {
        standing: term === undefined ? standBy().catch((error: unknown) => ending.abort(error)) : undefined,
      }
    },
    async flush(deadline: AbortSignal) {
      await webhook?.stop(deadline)
    },
    async [Symbol.asyncDispose]() {
      await webhook?.[Symbol.asyncDispose]()
    },
  }
}
