import type { NewEntry } from '../../contract/history.ts'
import { type ErrorClass, RemoteError } from '../../contract/remote-error.ts'
import type { Step } from '../../plan/action.ts'
import { type Done, NOTHING_TO_DO, type Outcome } from '../../plan/outcome.ts'
import { explained, type Because } from '../../plan/reason.ts'
import { isAtRest, isFailed, isLoading, isStoppedForChange, loadingFacts } from '../../plan/rest.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { Acted, ReconcileContext } from '../context.ts'
import { noteReply } from '../state/observations.ts'
import { outcomeOf } from './outcome-of-error.ts'
import { begun, bodyOf, entryOf, look, startCommand, stopNoted, type Changing } from './change-steps.ts'

/** Longest stop for a failing change: ms. */
const STOPPED_MS = 10 * 60_000

/** Failures that end by themselves, or stop all pipes anyway. */
const WAITED_FOR: ReadonlySet<ErrorClass> = new Set(['Throttled', 'ServiceIdle'])

/** A pipe stopped for the change is started immediately. */
export async function refused(
  changing: Changing,
  begunRecord: LedgerRecord,
  step: Step,
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
    // A running pipe refuses a start.
    const seen = await look(changing)
    if (seen === undefined) return { outcome, record, history: [] }
    const { value } = seen.reply
    const observed = { status: 'found', state: value.state ?? undefined, differences: [] } as const
    const isResting = isAtRest({ ...input, observed })
    const isDone = step.body['command'] === 'start' ? !isResting : isResting
    if (!isDone) return { outcome, record, history: [] }
    const done: Done = { ...NOTHING_TO_DO, requestId: outcome.requestId }
    const about = { key, entry: assessment.entry, body: assessment.body ?? {}, ...seen }
    return {
      outcome: noteReply(context, about, done),
      record,
      history: [],
    }
  }
  const { kind } = changing
  const asksForRest =
    error.facts.class === 'Rejected' && kind.changes?.asksForRest(error.facts.reply?.reveal() ?? '') === true
  if (asksForRest && isLoading(input)) return putOff(changing, record)
  if (asksForRest && !isAtRest(input)) return stoppedFirst(changing, record)
  if (!isGivenUp(context, record, error.facts.class)) return { outcome, record, history: [] }
  const change = begun(changing)
  const refusals = (change.refusals ?? 0) + 1
  return {
    outcome,
    record: {
      ...record,
      change: { ...change, refusals, refused: explained(outcome) },
      ...(await startedAgain(changing, record)),
    },
    history: [entry],
  }
}

function isGivenUp({ store }: ReconcileContext, record: LedgerRecord, failure: ErrorClass): boolean {
  const { command } = record
  if (!isStoppedForChange(record) || command === undefined) return false
  if (failure === 'Rejected') return true
  return !WAITED_FOR.has(failure) && store.steadyNow() - command.at >= STOPPED_MS
}

/** The change needs a stop, which must wait. */
function putOff(changing: Changing, record: LedgerRecord): Acted {
  const { input, facts } = changing
  const because: Because<'Changing'> = {
    reason: 'Changing',
    facts: { ...facts, ...loadingFacts(input) },
  }
  const change = { ...begun(changing), waitsForRest: true } as const
  return {
    outcome: { ...NOTHING_TO_DO, ...because },
    record: { ...record, change },
    history: [entryOf(changing, because, undefined)],
  }
}

async function stoppedFirst(changing: Changing, record: LedgerRecord): Promise<Acted> {
  const { context, input, kind, access, id, options, facts } = changing
  const noted = input.policy.paused === true ? record : await stopNoted(changing, record)
  const step: Step = { way: 'state', body: { command: 'stop' } }
  const target = { kind, way: step.way, service: access, id, isRepeatable: true, looksFirst: false }
  try {
    const reply = await context.platform.change(
      target,
      (looks) => bodyOf(changing, noted, step, looks),
      options,
    )
    const stopping: Because<'Changing'> = { reason: 'Changing', facts: { ...facts, is: 'stopping' } }
    const requestId = reply?.requestId
    const outcome: Done = { ...NOTHING_TO_DO, ...stopping, requestId }
    return { outcome, record: noted, history: [entryOf(changing, stopping, requestId)] }
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error
    return {
      outcome: outcomeOf(error, options.signal),
      record: noted,
      history: [],
    }
  }
}

/** @returns the command to record. Undefined: the request failed, and Pipewright retries */
async function startedAgain(changing: Changing, record: LedgerRecord): Promise<Partial<LedgerRecord>> {
  const { context, input, kind, access, id, options } = changing
  if (input.policy.paused === true) return { command: undefined }
  try {
    await context.platform.change(
      { kind, way: 'state', service: access, id, isRepeatable: true, looksFirst: false },
      (looks) => bodyOf(changing, record, { way: 'state', body: { command: 'start' } }, looks),
      options,
    )
    return { command: startCommand(record.command, context.store.steadyNow()) }
  } catch (error) {
    if (error instanceof RemoteError) return {}
    throw error
  }
}
