import type { Looks, ServiceAccess } from '../../contract/platform.ts'
import type { Action, ActionType } from '../../plan/action.ts'
import { decide } from '../../plan/decide.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { type Assessment, assess, gather, regather } from '../gather/assess.ts'
import { recordedAccess, sameAccess } from '../gather/service-access.ts'
import { currentRecord } from '../state/journal.ts'
import { DecisionOutdated, type ReconcileContext, type ReconcileRequest } from '../context.ts'

/** Longest age of a reading before a request, ms. Each wait for the budget is longer. */
const FRESH_MS = 500

interface Decided<Type extends ActionType> {
  readonly type: Type
  readonly first: Assessment
  readonly access: ServiceAccess
  readonly request: ReconcileRequest
}

interface Attempt {
  readonly looks: Looks
  /** Of the request. */
  readonly journaled: LedgerRecord
  /** Whether to read the resource again even after a fresh reading. */
  readonly isRead: boolean
}

/**
 * Before each attempt of a request, with its permit: decides again on the present manifest, record and
 * secrets. Reads the resource again, except after a fresh reading.
 * @throws {DecisionOutdated} if the decision, the manifest, the service or the record is another one
 * @throws the error of the reading
 */
export async function decideAgain<Type extends ActionType>(
  context: ReconcileContext,
  { type, first, access, request }: Decided<Type>,
  { looks, journaled, isRead }: Attempt,
): Promise<{ readonly assessment: Assessment; readonly action: Action & { readonly type: Type } }> {
  const { key } = journaled
  const current = await currentRecord(context, key)
  if (current.version !== journaled.version) throw new DecisionOutdated(key)
  const isFresh = !isRead && context.clock.monotonic() - first.readSince <= FRESH_MS
  // The marks of this request are no reason for another decision.
  const { recorded } = first.gathered
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

/** An upsert goes to the service of the manifest, other requests to the service of the resource. */
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
