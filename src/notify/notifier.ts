import type { LedgerRecord } from '../plan/record.ts'
import type { Emit, Event } from '../contract/events.ts'
import type { StatusBoard } from '../contract/status.ts'
import { deliver, type DeliveryParts, type Route } from './delivery.ts'
import type { SentStateFile } from './sent-state.ts'
import type { MessageContext } from './message.ts'
import { createTarget, type Target, type TargetOptions } from './target.ts'

/** Somebody to be notified, as the settings name them. */
export type TargetSettings = Pick<
  TargetOptions,
  'name' | 'type' | 'filter' | 'groupWaitMs' | 'flapWindowMs' | 'rateLimit'
> & { readonly route: Route }

export interface NotifierOptions extends DeliveryParts {
  readonly targets: readonly TargetSettings[]
  readonly sentStates: SentStateFile
  /** What the ledger holds at the start: pipes that were created before the last process ended, and nobody was notified. */
  readonly records: readonly LedgerRecord[]
  readonly board: Pick<StatusBoard, 'get'>
  readonly context: MessageContext
  readonly emit: Emit
  /** From 0 to below 1. */
  readonly random: () => number
}

/** Notifies people of what turned bad, what is good again and what was created (docs/notifications.md). */
export interface Notifier {
  /** Takes note of an event. Never throws, and lets nobody wait. */
  observe(event: Event): void
  /** Sends what is pending and remembers what was sent, until `deadline` is aborted or a few seconds are over. */
  stop(deadline: AbortSignal): Promise<void>
}

/** A receiver that hangs holds up the end no longer than this, in ms. */
const FLUSH_MS = 2_000

export function createNotifier(options: NotifierOptions): Notifier {
  const { sentStates, board, clock, emit, confirm } = options
  const startedAt = clock.now()
  const keeper = createKeeper()
  let cancelSweep: (() => void) | undefined

  const targets: readonly Target[] = options.targets.map(({ route, ...settings }) =>
    createTarget({
      ...settings,
      before: sentStates.before?.get(settings.name) ?? { alerts: new Map(), createdUntil: startedAt },
      context: options.context,
      resource: (key) => board.get(key),
      deliver: (message, signal) => deliver(message, route, options, signal),
      onSent: () => keeper.ask(),
      clock,
      emit,
      random: options.random,
    }),
  )
  if (sentStates.unusable !== undefined) {
    emit({ type: 'NotificationsForgotten', message: sentStates.unusable })
  }
  // Without a first line, a crash before the first message would make creations of this process count as old.
  if (targets.length > 0) keeper.ask()

  /** Writes what was sent, one write at a time, the newest last; and never over what a process that took over has written. */
  function createKeeper() {
    let wanted = false
    let cancelRetry: (() => void) | undefined
    let running: Promise<void> | undefined
    let failing = false
    async function write(): Promise<void> {
      while (wanted) {
        wanted = false
        try {
          await confirm()
          await sentStates.save(new Map(targets.map((target) => [target.name, target.sent])))
          failing = false
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error)
          if (!failing) emit({ type: 'NotificationsForgotten', message })
          failing = true
          cancelRetry ??= clock.after(SAVE_AGAIN_MS, () => {
            cancelRetry = undefined
            ask()
          })
        }
      }
    }
    function ask(): void {
      wanted = true
      running ??= Promise.resolve()
        .then(write)
        .finally(() => {
          running = undefined
        })
    }
    return {
      ask,
      async done() {
        await running
        cancelRetry?.()
      },
    }
  }

  /** Pipes that were created of which this target was not notified: the last process ended before it could. */
  function missed(target: Target): void {
    const { createdUntil } = target.sent
    for (const { key, remote } of options.records) {
      if (remote?.origin !== 'created' || remote.at <= createdUntil) continue
      target.created({ key, pipeId: remote.id, at: remote.at, revision: remote.revision })
    }
  }
  for (const target of targets) missed(target)

  function each(act: (target: Target) => void): void {
    for (const target of targets) {
      try {
        act(target)
      } catch (error) {
        const bug = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
        emit({ type: 'Bug', message: `notifications of ${target.name} could not take an event`, error: bug })
      }
    }
  }

  /** What goes from the board, and what a reading brings onto it, does so right after the event. */
  function sweepSoon(): void {
    cancelSweep ??= clock.after(SWEEP_MS, () => {
      cancelSweep = undefined
      each((target) => target.sweep())
    })
  }

  return {
    observe(event) {
      if (event.type === 'ReconcileFinished') {
        each((target) => target.observe(event.key))
      } else if (event.type === 'CreateFinished' && event.outcome === 'created') {
        const { key, pipeId, revision } = event
        each((target) => target.created({ key, pipeId, at: clock.now(), revision }))
      } else if (
        event.type === 'Forgotten' ||
        (event.type === 'SourceLoaded' && event.problem === undefined)
      ) {
        sweepSoon()
      }
    },
    async stop(deadline) {
      cancelSweep?.()
      const end = AbortSignal.any([deadline, AbortSignal.timeout(FLUSH_MS)])
      await Promise.all(targets.map((target) => target.stop(end)))
      await keeper.done()
    },
  }
}

const SWEEP_MS = 1_000
/** What was sent and could not be written down is tried again after this: ms. */
const SAVE_AGAIN_MS = 5_000
