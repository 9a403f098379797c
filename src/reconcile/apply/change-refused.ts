import type { NewEntry } from '../../contract/history.ts'
import type { ErrorClass, RemoteError } from '../../contract/remote-error.ts'
import type { ChangeStep } from '../../plan/action.ts'
import { type Done, DONE, type Outcome } from '../../plan/outcome.ts'
import { explained, type Because } from '../../plan/reason.ts'
import { isAtRest, isFailed, isLoading, isStoppedForChange, loadingFacts } from '../../plan/run-state.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Acted, DecisionOutdated, type ReconcileContext } from '../context.ts'
import { noteReply } from '../state/observations.ts'
import { outcomeOf } from './outcome-of-error.ts'
import { begun, entryOf, look, type Changing } from './change-steps.ts'
import { saveRecord } from '../state/record-io.ts'

/** Ms. A failing change keeps a pipe stopped for at most this time. */
const STOPPED_MS = 10 * 60_000

/** These failures end by themselves or affect all pipes, so the change is not given up. */
const WAITED_FOR: ReadonlySet<ErrorClass> = new Set(['Throttled', 'ServiceIdle'])

/** If the change is given up, the pipe that was stopped for it starts immediately. */
export async function settleFailedChange(
  changing: Changing,
  begunRecord: LedgerRecord,
  step: ChangeStep,
  error: RemoteError,
): Promise<Acted> {
  const { context, assessment, input, options } = changing
  const isWritten = begunRecord.version > input.recorded.version
  const isCounted = isWritten || error.facts.effect === 'unknown' || isFailed(input)
  const record = isCounted ? begunRecord : { ...begunRecord, corrections: input.recorded.corrections }
  const outcome: Outcome = outcomeOf(error, options.signal)
  if (outcome.result !== 'failed') return { outcome, record, history: [] }
  const { key } = record
  const entry: NewEntry = {
    ...entryOf(changing, outcome, outcome.requestId),
    result: 'failed',
  }
  if (step.way === 'state') {
    // A service refuses to start a running pipe, so read whether the pipe already runs.
    const seen = await look(changing)
    if (seen === undefined) return { outcome, record, history: [] }
    const { value } = seen.reply
    const observed = { status: 'found', state: value.state ?? undefined, differences: [] } as const
    const isResting = isAtRest({ ...input, observed })
    const isDone = step.body['command'] === 'start' ? !isResting : isResting
    if (!isDone) return { outcome, record, history: [] }
    const done: Done = { ...DONE, requestId: outcome.requestId }
    const about = { key, entry: assessment.entry, body: assessment.body ?? {}, ...seen }
    return { outcome: noteReply(context, about, done), record, history: [] }
  }
  const { kind } = input
  const asksForRest =
    error.facts.class === 'Rejected' && kind.changes?.asksForRest(error.facts.reply?.reveal() ?? '') === true
  if (asksForRest && isLoading(input)) return putOff(changing, record)
  const change = begun(changing)
  if (asksForRest) {
    const waiting = { ...record, change: { ...change, waitsForRest: true } as const }
    // The service starts a pipe after a change, and a reading can be older.
    return isAtRest(input) ? { outcome, record: waiting, history: [] } : saveAndDecideAgain(context, waiting)
  }
  if (!isGivenUp(context, record, error.facts)) return { outcome, record, history: [] }
  const refusals = (change.refusals ?? 0) + 1
  return saveAndDecideAgain(
    context,
    {
      ...record,
      change: { ...change, refusals, refused: explained(outcome) },
      command: input.policy.paused === true ? undefined : record.command,
      backoff: undefined,
    },
    [entry],
  )
}

async function saveAndDecideAgain(
  context: ReconcileContext,
  record: LedgerRecord,
  history: readonly NewEntry[] = [],
): Promise<never> {
  await saveRecord(context, record, history)
  throw new DecisionOutdated(record.key)
}

function isGivenUp(
  { store }: ReconcileContext,
  record: LedgerRecord,
  failure: Pick<RemoteError['facts'], 'class' | 'httpStatus'>,
): boolean {
  const { command } = record
  if (!isStoppedForChange(record) || command === undefined) return false
  // 409: another operation is running, so the request can work later.
  if (failure.class === 'Rejected' && failure.httpStatus !== 409) return true
  return !WAITED_FOR.has(failure.class) && store.steadyNow() - command.at >= STOPPED_MS
}

function putOff(changing: Changing, record: LedgerRecord): Acted {
  const { input, action } = changing
  const because: Because<'Changing'> = {
    reason: 'Changing',
    facts: { ...action.facts, ...loadingFacts(input) },
  }
  const change = { ...begun(changing), waitsForRest: true } as const
  return {
    outcome: { ...DONE, ...because },
    record: { ...record, change },
    history: [entryOf(changing, because, undefined)],
  }
}
