import { type Action, type ActionType, isAskedAgain } from '../../plan/action.ts'
import { decide } from '../../plan/decide.ts'
import type { CreateOnceInput, DecideInput } from '../../plan/input.ts'
import { type Outcome, DONE } from '../../plan/outcome.ts'
import { outcomeOf } from './outcome-of-error.ts'
import { DecisionOutdated, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import { type Assessment, assess, gather, regather } from '../gather/assess.ts'
import { mightBeListed } from '../gather/listing.ts'
import { recordedAccess, sameAccess } from '../gather/service-access.ts'
import { readRecord } from '../state/record-io.ts'
import type { Looks, ServiceAccess } from '../../contract/platform.ts'
import type { LedgerRecord } from '../../plan/record.ts'

export interface Decision {
  readonly action: Action
  readonly outcome: Outcome
}

export function decided({ input, failure }: Assessment, request: ReconcileRequest): Decision {
  if (failure === undefined) return { action: decide(input), outcome: DONE }
  const outcome = outcomeOf(failure, request.signal)
  return {
    action: { type: 'observe', reason: 'Unobserved', facts: { why: 'not asked' } },
    outcome,
  }
}

export function isForgetting({ action, outcome }: Decision, input: DecideInput): input is CreateOnceInput {
  return (
    action.type === 'delete' &&
    outcome.result === 'done' &&
    input.lifecycle === 'create-once' &&
    input.observed.status === 'missing' &&
    !isAskedAgain(action)
  )
}

/** Decides again before the record of a missing pipe is removed, if the list might show the pipe. */
export async function recheckBeforeForget(
  context: ReconcileContext,
  request: ReconcileRequest,
  assessment: Assessment & { readonly input: CreateOnceInput },
  decision: Decision,
): Promise<Decision> {
  const { input, entry, service } = assessment
  const { key, state } = input.desired
  const { store } = context
  try {
    const isThere = await mightBeListed(context, { recorded: input.recorded, service }, request)
    if (store.desiredState(key) !== state || store.entry(key)?.digest !== entry?.digest)
      throw new DecisionOutdated(key)
    return isThere ? decided({ ...assessment, input: { ...input, mightBeListed: true } }, request) : decision
  } catch (failure) {
    if (failure instanceof DecisionOutdated) throw failure
    return decided({ ...assessment, failure }, request)
  }
}

/** Ms. An older reading is repeated before the request. */
const FRESH_MS = 500

/**
 * Decides again before each attempt of a request, from the current manifest, record and secrets. Reads the
 * resource again, except after a fresh reading.
 * @throws {DecisionOutdated} if the decision, the manifest, the service or the record changed
 */
export async function decideAgain<Type extends ActionType>(
  context: ReconcileContext,
  before: {
    readonly type: Type
    readonly first: Assessment
    readonly access: ServiceAccess
    readonly request: ReconcileRequest
  },
  attempt: { readonly looks: Looks; readonly journaled: LedgerRecord; readonly isRead: boolean },
): Promise<{ readonly assessment: Assessment; readonly action: Action & { readonly type: Type } }> {
  const { type, first, access, request } = before
  const { looks, journaled, isRead } = attempt
  const { key } = journaled
  const current = await readRecord(context, key)
  if (current.version !== journaled.version) throw new DecisionOutdated(key)
  const isFresh = !isRead && context.clock.monotonic() - first.readSince <= FRESH_MS
  // Without the journal entry of this request: it would change the decision.
  const { recorded } = first.gathered.question
  const gathered = isFresh
    ? await regather(context, first)
    : await gather(context, key, recorded, request, undefined, looks)
  const assessment = assess(context, gathered)
  if (assessment.failure instanceof Error) throw assessment.failure
  const action = decide(assessment.input)
  const now = accessOf(context, type, assessment)
  const isSame =
    assessment.entry?.digest === first.entry?.digest && now !== undefined && sameAccess(now, access)
  if (!isSame || !isOf(action, type)) throw new DecisionOutdated(key)
  return { assessment, action }
}

function accessOf(
  { store }: ReconcileContext,
  type: ActionType,
  { input, service }: Assessment,
): ServiceAccess | undefined {
  if (type !== 'upsert') return recordedAccess(store, input.recorded, service)
  return service.usable ? service.access : undefined
}

function isOf<Type extends ActionType>(
  action: Action,
  type: Type,
): action is Action & { readonly type: Type } {
  return action.type === type
}
