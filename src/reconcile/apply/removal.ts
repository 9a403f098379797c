import type { HistoryEntry } from '../../contract/history.ts'
import type { ServiceAccess } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { SecretUnavailableError } from '../../contract/secrets.ts'
import type { UpsertKind } from '../../kinds/definition.ts'
import { decide } from '../../plan/decide.ts'
import { orphanFacts } from '../../plan/gates.ts'
import { NOTHING_TO_DO } from '../../plan/outcome.ts'
import { messageOf, type Because } from '../../plan/reason.ts'
import type { RemovalWords } from '../../plan/reasons/manifests.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { DecisionOutdated, type Acted, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import { assess, gather, type Assessment } from '../gather/assess.ts'
import { recordedAccess, sameAccess } from '../gather/service-access.ts'
import { currentRecord } from '../state/current-record.ts'
import { outcomeOf } from './outcome-of-error.ts'

/**
 * Deletes what was applied for a manifest that is gone. That it is about to be sent is on disk before; a process that is killed after it
 * finds nothing there, and has nothing to send.
 * @returns a record of which nothing is left
 */
export async function remove(
  context: ReconcileContext,
  first: Assessment,
  request: ReconcileRequest,
): Promise<Acted> {
  const { input } = first
  if (input.observed.status === 'missing') return nothingLeft(context, first, input.recorded, first.requestId)
  const { kind, access } = removalOf(context, first)
  const { key, removal } = input.recorded
  const options = { priority: request.priority, signal: request.stopping }
  const isMarked = removal?.isSent === true
  const record = isMarked ? input.recorded : await marked(context, input.recorded)
  try {
    const reply = await context.platform.remove(
      kind,
      access,
      async (looks) => {
        const current = await currentRecord(context, key)
        const asked = assess(context, await gather(context, key, current, request, undefined, looks))
        if (asked.failure instanceof Error) throw asked.failure
        // What is gone by now is decided anew, too: there is nothing to send.
        const isSame = decide(asked.input).type === 'delete' && asked.input.observed.status === 'found'
        if (!isSame || !sameAccess(removalOf(context, asked).access, access)) throw new DecisionOutdated(key)
      },
      options,
    )
    return nothingLeft(context, first, record, reply?.requestId)
  } catch (error) {
    if (error instanceof RemoteError && error.facts.class === 'Missing')
      return nothingLeft(context, first, record, error.facts.requestId)
    if (!(error instanceof RemoteError || error instanceof SecretUnavailableError)) throw error
    const outcome = outcomeOf(error, { signal: request.stopping, now: context.clock.now() })
    return { outcome, record, history: [] }
  }
}

function removalOf(
  { store }: ReconcileContext,
  { input, service }: Assessment,
): { readonly kind: UpsertKind; readonly access: ServiceAccess } {
  const access = recordedAccess(store, input.recorded, service)
  if (input.lifecycle !== 'upsert' || access === undefined)
    throw new Error(`the deletion of ${input.desired.key} was decided without its service`)
  return { kind: input.kind, access }
}

async function marked(context: ReconcileContext, recorded: LedgerRecord): Promise<LedgerRecord> {
  const { removal } = recorded
  if (removal === undefined) throw new Error(`the deletion of ${recorded.key} was decided without its mark`)
  const written = await context.ledger.swap({ ...recorded, removal: { ...removal, isSent: true } }, [])
  context.store.note(written)
  return written
}

function nothingLeft(
  { clock, store }: ReconcileContext,
  { input }: Assessment,
  record: LedgerRecord,
  requestId: string | undefined,
): Acted {
  const { key } = record
  const removal: RemovalWords = { is: record.removal?.isSent === true ? 'done' : 'gone already' }
  const because: Because<'Orphaned'> = { reason: 'Orphaned', facts: { ...orphanFacts(input), removal } }
  const history: HistoryEntry = {
    type: 'action',
    action: 'delete',
    reason: 'Orphaned',
    result: 'done',
    intentId: undefined,
    key,
    at: clock.now(),
    revision: store.revision,
    requestId,
    message: messageOf(because, key),
  }
  const left = { upsert: undefined, applied: undefined, backoff: undefined }
  return {
    outcome: { ...NOTHING_TO_DO, ...because, requestId },
    record: { ...record, ...left },
    history: [history],
  }
}
