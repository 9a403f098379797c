import { compareBody } from '../../kinds/compare-body.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Action } from '../../plan/action.ts'
import { decide } from '../../plan/decide.ts'
import { messageOf, type Because } from '../../plan/reason.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { sameAccess } from '../gather/service-access.ts'
import { DecisionOutdated, type Acted, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import { assess, gather, type Assessment } from '../gather/assess.ts'
import { currentRecord } from '../state/current-record.ts'
import type { HistoryEntry } from '../../contract/history.ts'
import { noteFound } from '../state/observations.ts'
import { replyMask } from '../state/shown-reply.ts'
import { maskEchoes } from '../../kinds/mask.ts'

/** Applies a query endpoint, as its manifest asks for at the moment at which the request goes out. */
export async function upsert(
  context: ReconcileContext,
  first: Assessment,
  action: Action & { readonly type: 'upsert' },
  request: ReconcileRequest,
): Promise<Acted> {
  const { key } = first.input.desired
  const { access, kind } = upsertOf(first)
  let asked = first
  const options = { priority: request.priority, signal: request.stopping }
  // With the place in the budget in hand, and before each attempt, all is gathered and decided anew.
  const { value, requestId, credential, echoes } = await context.platform.upsert(
    kind,
    access,
    async () => {
      asked = assess(context, await gather(context, key, await currentRecord(context, key), request))
      const isSame = asked.entry?.digest === first.entry?.digest && decide(asked.input).type === 'upsert'
      if (!isSame || !sameAccess(upsertOf(asked).access, access)) throw new DecisionOutdated(key)
      return JSON.stringify(upsertOf(asked).body)
    },
    options,
  )
  const { input, entry } = asked
  const { body, fingerprint, identity } = upsertOf(asked)
  const at = context.clock.now()
  const { revision } = context.store
  const sent = { body, secrets: asked.secrets.values }
  const { differences } = noteFound(context, key, {
    state: undefined,
    reply: value,
    entry,
    readAt: undefined,
    credential,
    differences: compareBody(kind.fields, body, value as JsonObject), // a parsed reply is JSON
    sent,
    echoes,
  })
  // What was asked for is compared with it at the next upsert, and stands in it unmasked.
  const reply = maskEchoes(kind.configured(value), replyMask(sent, echoes))
  const record: LedgerRecord = {
    ...input.recorded,
    service: identity,
    applied: fingerprint,
    backoff: undefined,
    upsert: { at, revision, requestId, reply },
  }
  const stalled = differences.length > 0
  const because: Because<'Stalled' | 'Applied'> = stalled
    ? { reason: 'Stalled', facts: { fields: differences.map(({ field }) => field), now: true } }
    : { reason: 'Applied', facts: undefined }
  const history: HistoryEntry = {
    type: 'action',
    action: 'upsert',
    reason: action.reason,
    result: 'done',
    intentId: undefined,
    key,
    at,
    revision,
    requestId,
    message: messageOf(because, key),
  }
  // A resync that changed nothing is no news.
  const news = action.reason === 'Resync' && !stalled ? [] : [history]
  return { outcome: { result: 'done', ...because, differences, requestId }, record, history: news }
}

/** What an upsert needs of an assessment. */
function upsertOf({ input, body, service }: Assessment) {
  const { fingerprint, key } = input.desired
  if (input.lifecycle !== 'upsert' || body === undefined || fingerprint === undefined || !service.usable) {
    throw new Error(`an upsert of ${key} was decided without a valid manifest`)
  }
  return { kind: input.kind, body, fingerprint, access: service.access, identity: service.identity }
}
