import type { Emit, Event } from '../contract/events.ts'
import type { Problem } from '../contract/view.ts'
import type { Key } from '../kinds/key.ts'
import { deliver, DeliveryError, type DeliveryParts } from './delivery.ts'
import { createMessage } from './message.ts'
import type { Notes } from '../contract/ledger.ts'
import { knownKey } from '../kinds/lookup.ts'
import { z } from '../kinds/zod.ts'
import { parseJson } from '../lib/json.ts'
import { parseReason, type Reason } from '../plan/reason.ts'
import { SEVERITIES } from '../plan/severity.ts'

const AGAIN_MS = 5 * 60_000

const STOP_MS = 2_000

const GROWTH = 10

interface WebhookParts extends Omit<DeliveryParts, 'onAttempt'> {
  readonly memory: WebhookMemory
  /** Undefined before the first reconcile. */
  readonly problems: () => readonly Problem[] | undefined
  readonly words: (key: Key) => string | undefined
  readonly revision: () => string
  readonly isSandbox: boolean
  readonly publicUrl: string | undefined
  readonly emit: Emit
}

interface Change {
  readonly change: Parameters<typeof createMessage>[0]
  readonly problem: Problem
}

const PROBLEM_EVENTS: ReadonlySet<Event['type']> = new Set(['ProblemFound', 'ProblemGrew', 'ProblemOver'])

/** Tells one receiver if a problem begins, grows tenfold or ends. */
export function createWebhook(parts: WebhookParts) {
  const { memory, clock, emit } = parts
  const told = new Map(memory.before.map((problem) => [problem.id, problem]))
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  let isWanted = false
  let hasLooked = false
  let isFailing = false
  let isForgetful = false
  let waiting: number | undefined
  let cancelTimer: (() => void) | undefined
  /** By problem id: when its end was seen, ms since the epoch. */
  let endedAt: ReadonlyMap<string, number> = new Map()
  /** By problem id: when to send a refused message again, monotonic ms. */
  const refusedUntil = new Map<string, number>()

  if (memory.unusable !== undefined) emit({ type: 'NotificationsForgotten', message: memory.unusable })

  function changes(): readonly Change[] {
    const problems = parts.problems()
    if (problems === undefined) return []
    const now = new Set(problems.map(({ id }) => id))
    // A problem has not ended if another one with the same cause has one of its keys.
    const byCause = Map.groupBy(problems, ({ cause }) => cause)
    function isMerged({ cause, keys }: Problem): boolean {
      const held = new Set(byCause.get(cause)?.flatMap((problem) => problem.keys))
      return keys.some((key) => held.has(key))
    }
    const ended = [...told.values()].filter((problem) => !now.has(problem.id) && !isMerged(problem))
    endedAt = new Map(ended.map(({ id }) => [id, endedAt.get(id) ?? clock.now()]))
    return [
      ...problems.flatMap((problem) => changeOf(problem, told.get(problem.id))),
      ...ended.map((problem): Change => ({ change: 'ended', problem })),
    ]
  }

  function noteWaiting(): void {
    const count = changes().length
    if (count === waiting) return
    waiting = count
    emit({ type: 'NotificationsWaiting', count })
  }

  async function round(signal: AbortSignal, retries?: number): Promise<void> {
    isWanted = false
    for (const [id, until] of refusedUntil) if (until <= clock.monotonic()) refusedUntil.delete(id)
    for (;;) {
      const next = changes().find(({ problem: { id } }) => !refusedUntil.has(id))
      if (next === undefined) return
      const { change, problem } = next
      const [key] = problem.keys
      const message = createMessage(change, problem, {
        ...parts,
        revision: parts.revision(),
        now: clock.now(),
        endedAt: endedAt.get(problem.id) ?? clock.now(),
        words: change === 'ended' || key === undefined ? undefined : parts.words(key),
      })
      const onAttempt: DeliveryParts['onAttempt'] = ({ message: why, retryInMs, ...attempt }) => {
        const facts = { ...attempt, reason: problem.reason, resources: problem.keys.length }
        if (why === undefined) emit({ type: 'NotificationSent', ...facts, recovered: isFailing })
        else emit({ type: 'NotificationFailed', ...facts, message: why, retryInMs, first: !isFailing })
        isFailing = why !== undefined
      }
      try {
        await deliver(message, { ...parts, onAttempt }, { signal, retries })
      } catch (error) {
        if (!(error instanceof DeliveryError && error.isRefusal)) throw error
        refusedUntil.set(problem.id, clock.monotonic() + AGAIN_MS)
        continue
      }
      if (change === 'ended') told.delete(problem.id)
      else told.set(problem.id, problem)
      await remember()
      noteWaiting()
    }
  }

  async function remember(): Promise<void> {
    try {
      await parts.confirm()
      await memory.save([...told.values()])
      isForgetful = false
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (!isForgetful) emit({ type: 'NotificationsForgotten', message })
      isForgetful = true
    }
  }

  async function run(): Promise<void> {
    cancelTimer?.()
    try {
      if (isForgetful) await remember()
      while (isWanted && !stopping.signal.aborted) await round(stopping.signal)
    } catch (error) {
      if (!(error instanceof DeliveryError) && !stopping.signal.aborted) throw error
    }
    if (changes().length > 0 || isForgetful) cancelTimer = clock.after(AGAIN_MS, wake)
  }

  function wake(): void {
    isWanted = true
    noteWaiting()
    if (stopping.signal.aborted) return
    running ??= run()
      .catch((error: unknown) => {
        const bug = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
        emit({ type: 'Bug', message: 'the webhook could not send a message', error: bug })
      })
      .finally(() => {
        running = undefined
        if (isWanted) wake()
      })
  }

  return {
    observe: ({ type }: Event) => {
      if (!PROBLEM_EVENTS.has(type) && (hasLooked || type !== 'ReconcileFinished')) return
      hasLooked = true
      wake()
    },
    /** Tries each unsent message once more. */
    async stop(deadline: AbortSignal) {
      cancelTimer?.()
      stopping.abort(new Error('Pipewright stops'))
      await running
      const end = AbortSignal.any([deadline, AbortSignal.timeout(STOP_MS)])
      await round(end, 0).catch(() => undefined) // the next start sends the message
    },
  }
}

function changeOf(problem: Problem, known: Problem | undefined): readonly Change[] {
  if (known === undefined || known.state !== problem.state) return [{ change: 'began', problem }]
  return problem.keys.length >= known.keys.length * GROWTH ? [{ change: 'grew', problem }] : []
}

export type WebhookMemory = Awaited<ReturnType<typeof openMemory>>

const Memory = z.strictObject({
  version: z.literal(2),
  problems: z.array(
    z.strictObject({
      id: z.string(),
      cause: z.string(),
      reason: z.string(),
      severity: z.enum(SEVERITIES),
      service: z.string().optional(),
      keys: z.array(z.string()),
      since: z.number(),
      state: z.string(),
    }),
  ),
})

/** @throws {LedgerError} */
export async function openMemory(notes: Notes) {
  const text = await notes.read()
  const data = text === undefined ? undefined : Memory.safeParse(parseJson(text)).data
  const before: readonly Problem[] = data?.problems.flatMap(problemIn) ?? []
  const isUnusable = text !== undefined && data === undefined
  return {
    before,
    unusable: isUnusable ? 'it is damaged, or of another version' : undefined,
    save: (problems: readonly Problem[]) => notes.write(`${JSON.stringify({ version: 2, problems })}\n`),
  }
}

/** Drops a problem if this version of Pipewright does not know its reason or resources. */
function problemIn({
  reason: name,
  keys: names,
  service,
  ...facts
}: z.infer<typeof Memory>['problems'][number]): readonly Problem[] {
  const reason: Reason | undefined = parseReason(name)
  const keys: readonly Key[] = names.flatMap((key) => knownKey(key) ?? [])
  return reason === undefined || keys.length === 0 ? [] : [{ ...facts, service, reason, keys }]
}
