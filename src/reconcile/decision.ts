import type { Action } from '../plan/action.ts'
import { decide } from '../plan/decide.ts'
import type { CreateOnceInput, DecideInput } from '../plan/input.ts'
import { type Outcome, NOTHING_TO_DO } from '../plan/outcome.ts'
import { outcomeOf } from './apply/outcome-of-error.ts'
import { isAskedAgain } from './apply/removal.ts'
import { DecisionOutdated, type ReconcileContext, type ReconcileRequest } from './context.ts'
import type { Assessment } from './gather/assess.ts'
import { mayBeThere } from './gather/listing.ts'

export interface Decision {
  readonly action: Action
  readonly outcome: Outcome
}

export function decided({ input, failure }: Assessment, request: ReconcileRequest): Decision {
  if (failure === undefined) return { action: decide(input), outcome: NOTHING_TO_DO }
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

/** Decides again if the list shows the pipe. Without a list, the decision fails. */
export async function unlessListed(
  context: ReconcileContext,
  request: ReconcileRequest,
  {
    assessment,
    decision,
  }: { readonly assessment: Assessment & { readonly input: CreateOnceInput }; readonly decision: Decision },
): Promise<Decision> {
  const { input, service } = assessment
  const { key } = input.desired
  try {
    const isThere = await mayBeThere(context, { recorded: input.recorded, service }, request)
    if (context.store.desiredState(key) !== input.desired.state) throw new DecisionOutdated(key)
    return isThere ? decided({ ...assessment, input: { ...input, mayBeThere: true } }, request) : decision
  } catch (failure) {
    if (failure instanceof DecisionOutdated) throw failure
    return decided({ ...assessment, failure }, request)
  }
}
