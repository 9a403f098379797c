import { readRecord, historyEntry, saveRecord } from '../state/record-io.ts'
import { LedgerConflict } from '../../contract/ledger.ts'
import type { DeleteTarget } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { type Action, isAskedAgain } from '../../plan/action.ts'
import { sameId } from '../../lib/same-id.ts'
import { DONE } from '../../plan/outcome.ts'
import { type Because } from '../../plan/reason.ts'
import type { DecideInput } from '../../plan/input.ts'
import type { RemovalWords } from '../../plan/reasons/removal-words.ts'
import { blankRecord, type LedgerRecord } from '../../plan/record.ts'
import { DecisionOutdated, type Acted, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import type { Assessment } from '../gather/assess.ts'
import { recordedAccess } from '../gather/service-access.ts'
import { decideAgain } from './decision.ts'
import { isRequestError, outcomeOf } from './outcome-of-error.ts'

/**
 * Journals the deletion before the request: after a crash, the next process reads until the resource is gone.
 * If the reply to the DELETE is lost, a second DELETE confirms the deletion.
 * @returns an empty record once it is gone
 */
export async function remove(
  context: ReconcileContext,
  first: Assessment,
  action: Action & { readonly type: 'delete' },
  request: ReconcileRequest,
): Promise<Acted> {
  const { input } = first
  if (input.observed.status === 'missing' && !isAskedAgain(action))
    return nothingLeft(context, action, input, first.requestId)
  const target = targetOf(context, first)
  const { key, removal } = input.recorded
  const record = await marked(context, first)
  const decided = { type: action.type, first, access: target.service, request } as const
  let attempts = 0
  try {
    const reply = await context.platform.remove(
      target,
      async (looks) => {
        const attempt = { journaled: record, isRead: true, looks }
        const { assessment: asked, action: now } = await decideAgain(context, decided, attempt)
        const isSame =
          asked.input.observed.status === input.observed.status &&
          isAskedAgain(now) === isAskedAgain(action) &&
          targetOf(context, asked).id === target.id
        if (!isSame) throw new DecisionOutdated(key)
        attempts += 1
      },
      request,
    )
    return going(context, action, record, reply?.requestId)
  } catch (error) {
    const isGone = error instanceof RemoteError && error.facts.class === 'Missing'
    if (isGone) return going(context, action, record, error.facts.requestId)
    const cleared = attempts > 0 ? undefined : await unmarked(context, record, removal)
    if (!isRequestError(error)) throw error
    const outcome = outcomeOf(error, request.signal)
    const isNone = error instanceof RemoteError && error.facts.effect === 'none'
    const kept = attempts > 0 && !isNone ? record : { ...record, removal }
    return { outcome, record: cleared ?? kept, history: [] }
  } finally {
    context.store.lastWrites.noteEnd({ key })
  }
}

function targetOf({ store }: ReconcileContext, { input, service }: Assessment): DeleteTarget {
  const access = recordedAccess(store, input.recorded, service)
  const { recorded } = input
  if (access !== undefined && input.lifecycle === 'upsert')
    return { kind: input.kind, service: access, id: access.serviceId }
  if (access !== undefined && input.lifecycle === 'create-once' && recorded.remote !== undefined)
    return { kind: input.kind, service: access, id: recorded.remote.id }
  throw new Error(`the deletion of ${input.desired.key} was decided without its service`)
}

async function marked(
  context: ReconcileContext,
  { input: { recorded, steadyNow } }: Assessment,
): Promise<LedgerRecord> {
  const { removal } = recorded
  if (removal === undefined) throw new Error(`the deletion of ${recorded.key} was decided without its mark`)
  const sent = { sentAt: steadyNow, isAnswered: undefined }
  return saveRecord(context, { ...recorded, removal: { ...removal, isSent: true, ...sent } })
}

const MOST_WRITES = 5

/** Restores the earlier `removal`, also in a moved record. @returns undefined if `record` is outdated */
async function unmarked(
  context: ReconcileContext,
  record: LedgerRecord,
  removal: LedgerRecord['removal'],
): Promise<LedgerRecord | undefined> {
  for (let left = MOST_WRITES; left > 0; left -= 1) {
    const current = await holderNow(context, record)
    const isOurs = current?.removal?.isSent === true && current.removal.sentAt === record.removal?.sentAt
    if (!isOurs) return undefined
    try {
      const written = await saveRecord(context, { ...current, removal })
      return current.key === record.key && current.version === record.version ? written : undefined
    } catch (error) {
      if (!(error instanceof LedgerConflict)) throw error
    }
  }
  return undefined
}

async function holderNow(
  context: ReconcileContext,
  { key, remote }: LedgerRecord,
): Promise<LedgerRecord | undefined> {
  const current = await readRecord(context, key)
  if (remote === undefined || sameId(current.remote?.id, remote.id)) return current
  const holder = context.store.holderOf(remote.id, key)
  return holder && readRecord(context, holder)
}

function going(
  context: ReconcileContext,
  action: Action & { readonly type: 'delete' },
  record: LedgerRecord,
  requestId: string | undefined,
): Acted {
  const because = withRemoval(action, { is: 'going', at: record.removal?.sentAt ?? 0 })
  return {
    outcome: { ...DONE, ...because, requestId },
    record: {
      ...record,
      removal: record.removal && { ...record.removal, isAnswered: true },
      backoff: undefined,
    },
    history: [historyEntry(context, record.key, { action: 'delete', because, requestId })],
  }
}

function withRemoval(
  action: Action & { readonly type: 'delete' },
  removal: RemovalWords,
): Because<'Deleting'> {
  if (action.reason !== 'Deleting') throw new Error(`a deletion was decided as ${action.reason}`)
  return { reason: action.reason, facts: { ...action.facts, removal } }
}

function nothingLeft(
  context: ReconcileContext,
  action: Action & { readonly type: 'delete' },
  { desired, recorded: record }: DecideInput,
  requestId: string | undefined,
): Acted {
  const { key } = record
  const because = withRemoval(action, { is: record.removal?.isSent === true ? 'done' : 'gone already' })
  const told: Because = desired.state === 'absent' ? because : { reason: 'Absent', facts: undefined }
  return {
    outcome: { ...DONE, ...told, requestId },
    record: { ...blankRecord(key), version: record.version, service: record.service },
    history: [historyEntry(context, key, { action: 'delete', because, requestId })],
  }
}
