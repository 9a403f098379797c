import type { Key } from '../kinds/key.ts'
import type { Clock } from '../lib/clock.ts'
import { type Emit, NOTIFICATION_RESULTS } from '../contract/events.ts'
import type { ResourceStatus } from '../contract/status.ts'
import { createAttemptLimit, type Delivery, type OutgoingMessage, waitAfter } from './delivery.ts'
import type { Filter } from './filter.ts'
import { type MessageContext, messageOf } from './message.ts'
import type { Creation, Notification } from './notification.ts'
import { createPending } from './pending.ts'
import type { SentState } from './sent-state.ts'
import { MOST_IN_SLACK, slackBody } from './slack.ts'
import { MOST_IN_WEBHOOK, webhookBody } from './webhook.ts'

export interface TargetOptions {
  readonly name: string
  readonly type: 'webhook' | 'slack'
  readonly filter: Filter
  readonly groupWaitMs: number
  readonly flapWindowMs: number
  readonly rateLimit: { readonly requests: number; readonly windowMs: number }
  readonly before: SentState
  readonly context: MessageContext
  readonly resource: (key: Key) => ResourceStatus | undefined
  /** Sends once; never throws. */
  readonly deliver: (message: OutgoingMessage, signal: AbortSignal) => Promise<Delivery>
  /** What was sent is other than before, and is to be remembered. */
  readonly onSent: () => void
  readonly clock: Clock
  readonly emit: Emit
  /** From 0 to below 1. */
  readonly random: () => number
}

/** Somebody who is notified. Never throws, and never lets anybody wait. */
export interface Target {
  readonly name: string
  observe(key: Key): void
  created(creation: Creation): void
  sweep(): void
  /** Sends what is pending, once, until `deadline` is aborted; then nothing more. */
  stop(deadline: AbortSignal): Promise<void>
  readonly sent: SentState
}

/** The same message is sent so often; then it is put together anew, from how things are by then. */
const ATTEMPTS = 5

/** A message under way. */
interface Sending {
  readonly notifications: readonly Notification[]
  readonly message: OutgoingMessage
  readonly attempt: number
}

export function createTarget(options: TargetOptions): Target {
  const { name, clock, emit, context } = options
  const limit = createAttemptLimit(options.rateLimit)
  const pending = createPending({
    ...options,
    today: () => clock.now(),
    onFolded: () => emit({ type: 'NotificationsSettled', target: name, result: 'folded', count: 1 }),
  })
  const cut = new AbortController()
  let cancelTimer: (() => void) | undefined
  let timerAt = Infinity
  let sending: Sending | undefined
  let busy: Promise<void> | undefined
  let failures = 0
  let blockedUntil = -Infinity
  let stopping = false
  let shown = 0

  // Shown at 0 from the start: a counter that is not there yet cannot be seen to rise.
  for (const result of NOTIFICATION_RESULTS) {
    emit({ type: 'NotificationsSettled', target: name, result, count: 0 })
  }
  emit({ type: 'NotificationsWaiting', target: name, count: 0 })

  function changed(): void {
    if (pending.count !== shown) {
      shown = pending.count
      emit({ type: 'NotificationsWaiting', target: name, count: shown })
    }
    // Whatever is pending, something is due by then at the latest or the timer checks again.
    if (shown > 0) wakeAt(clock.monotonic() + options.groupWaitMs)
  }

  function wakeAt(at: number): void {
    if (stopping || busy !== undefined || at >= timerAt) return
    cancelTimer?.()
    timerAt = at
    cancelTimer = clock.after(at - clock.monotonic(), () => {
      timerAt = Infinity
      begin()
    })
  }

  /** Sends what may be sent now, or sets the timer for when something may. */
  function begin(): void {
    if (busy !== undefined) return
    const now = clock.monotonic()
    const readyAt = sending === undefined ? pending.readyAt() : now
    if (readyAt === undefined) return
    const at = Math.max(readyAt, blockedUntil, limit.nextAt())
    if (at > now) {
      wakeAt(at)
      return
    }
    sending ??= put(pending.take(now, 'due'))
    if (sending === undefined) return
    busy = send(sending).finally(() => {
      busy = undefined
      changed()
      begin()
    })
  }

  function put(notifications: readonly Notification[]): Sending | undefined {
    if (notifications.length === 0) return undefined
    const [most, bodyOf] =
      options.type === 'slack'
        ? ([MOST_IN_SLACK, slackBody] as const)
        : ([MOST_IN_WEBHOOK, webhookBody] as const)
    const message = messageOf(notifications, { at: clock.now(), most })
    return { notifications, message: { id: message.id, body: bodyOf(message, context) }, attempt: 1 }
  }

  async function send(one: Sending): Promise<void> {
    const startedAt = clock.monotonic()
    limit.note(startedAt)
    const delivery = await options.deliver(one.message, cut.signal)
    conclude(one, delivery, clock.monotonic() - startedAt)
  }

  function conclude(one: Sending, delivery: Delivery, durationMs: number): void {
    const now = clock.monotonic()
    const { notifications, message, attempt } = one
    if (delivery.result === 'stopped') return
    const facts = {
      target: name,
      id: message.id,
      news: notifications.length,
      attempt,
      code: delivery.code,
      durationMs,
    }
    if (delivery.result === 'delivered') {
      sending = undefined
      emit({ type: 'NotificationSent', ...facts, recovered: failures > 0 })
      failures = 0
      settle(notifications, 'delivered', now)
      return
    }
    failures += 1
    if (delivery.result === 'refused') {
      sending = undefined
      emit({ type: 'NotificationFailed', ...facts, message: delivery.why, retryInMs: undefined, first: true })
      settle(notifications, 'lost', now)
      return
    }
    const waitMs = waitAfter(failures, { ...delivery, result: delivery.result }, options.random())
    blockedUntil = now + waitMs
    emit({
      type: 'NotificationFailed',
      ...facts,
      message: delivery.why,
      retryInMs: waitMs,
      first: failures === 1,
    })
    if (attempt < ATTEMPTS) {
      sending = { ...one, attempt: attempt + 1 }
      return
    }
    sending = undefined
    pending.release(notifications, now)
  }

  function settle(notifications: readonly Notification[], result: 'delivered' | 'lost', now: number): void {
    pending.settle(notifications, now)
    emit({ type: 'NotificationsSettled', target: name, result, count: notifications.length })
    options.onSent()
  }

  return {
    name,
    observe(key) {
      pending.observe(key, clock.monotonic())
      changed()
    },
    created(creation) {
      pending.created(creation, clock.monotonic())
      changed()
    },
    sweep() {
      pending.sweep(clock.monotonic())
      changed()
    },
    async stop(deadline) {
      stopping = true
      cancelTimer?.()
      deadline.addEventListener('abort', () => cut.abort(deadline.reason), { once: true })
      if (deadline.aborted) cut.abort(deadline.reason)
      await busy
      const now = clock.monotonic()
      // What cannot be sent now is pending again at the next start.
      if (cut.signal.aborted || Math.max(blockedUntil, limit.nextAt()) > now) return
      sending ??= put(pending.take(now, 'all'))
      if (sending !== undefined) await send(sending)
    },
    get sent() {
      return pending.sent
    },
  }
}
