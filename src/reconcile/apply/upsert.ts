import { lineOf } from '../state/journal.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { isReadable } from '../../kinds/definition.ts'
import type { JsonObject } from '../../lib/json.ts'
import { isResync, type Action } from '../../plan/action.ts'
import { withCorrections } from '../../plan/corrections.ts'
import { correctedBy } from '../../plan/decide-read-upsert.ts'
import { type Because, explained } from '../../plan/reason.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import { DecisionOutdated, type Acted, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import type { Assessment } from '../gather/assess.ts'
import { decideAgain } from './decide-again.ts'
import { noteFound } from '../state/observations.ts'
import { maskTexts, replyMask } from '../../kinds/mask.ts'

type Upsert = Action & { readonly type: 'upsert' }

export async function upsert(
  context: ReconcileContext,
  first: Assessment,
  action: Upsert,
  request: ReconcileRequest,
): Promise<Acted> {
  const { key } = first.input.desired
  const { access, kind } = upsertOf(first)
  const decided = { type: action.type, first, access, request } as const
  let asked = first
  const applied = context.platform.upsert(
    kind,
    access,
    async (looks) => {
      const attempt = { journaled: first.gathered.recorded, isRead: true, looks }
      const { assessment, action: now } = await decideAgain(context, decided, attempt)
      if (isReadable(kind) && !takesNoMore(now, action)) throw new DecisionOutdated(key)
      asked = assessment
      return JSON.stringify(upsertOf(asked).body)
    },
    request,
  )
  const { value, requestId, credential } = await applied.finally(() =>
    context.store.lastWrites.noteEnd({ key }),
  )
  const { input, entry } = asked
  const { body, fingerprint, identity } = upsertOf(asked)
  const at = context.clock.now()
  const { revision } = context.store
  const differences = noteFound(context, key, {
    state: undefined,
    reply: value,
    entry,
    readAt: undefined,
    credential,
    differences: compareBody(kind.fields, body, value as JsonObject), // parsed JSON
    body,
  })
  const corrected = correctedBy(action)
  // For the next upsert's comparison.
  const reply = maskTexts(kind.configured(value), replyMask(context.mask, body))
  const record: LedgerRecord = {
    ...input.recorded,
    service: identity,
    applied: fingerprint,
    backoff: undefined,
    upsert: { at, revision, requestId, reply },
    corrections: corrected.length === 0 ? undefined : withCorrections(input, corrected),
  }
  const stalled = differences.length > 0
  const because: Because<'Stalled' | 'Applied'> = stalled
    ? { reason: 'Stalled', facts: { fields: differences.map(({ field }) => field) } }
    : { reason: 'Applied', facts: undefined }
  const history = lineOf(context, key, {
    action: 'upsert',
    reason: action.reason,
    because: explained(because),
    at,
    revision,
    requestId,
  })
  // An unchanged resync is no news.
  const news = isResync(action) && !stalled ? [] : [history]
  return { outcome: { result: 'done', ...because, differences, requestId }, record, history: news }
}

function takesNoMore(now: Upsert, before: Upsert): boolean {
  const decided = new Set(before.takesAway)
  return now.takesAway.every((name) => decided.has(name))
}

/** A new baseline without a request. */
export function withWhatIsThere(
  context: ReconcileContext,
  { input, body, service, requestId }: Assessment,
): LedgerRecord {
  const { recorded, observed, desired } = input
  const there = observed.status === 'found' ? observed.there : undefined
  if (desired.fingerprint === undefined || !service.usable || there === undefined) return recorded
  const reply = maskTexts(there, replyMask(context.mask, body))
  // Settings before the first apply are another writer's.
  const isTakenOver = recorded.upsert === undefined || desired.otherService || recorded.upsert.isTakenOver
  return {
    ...recorded,
    service: service.identity,
    applied: desired.fingerprint,
    backoff: undefined,
    upsert: {
      at: context.clock.now(),
      revision: context.store.revision,
      requestId,
      reply,
      isTakenOver: isTakenOver === true ? true : undefined,
    },
  }
}

function upsertOf({ input, body, service }: Assessment) {
  const { fingerprint, key } = input.desired
  if (input.lifecycle !== 'upsert' || body === undefined || fingerprint === undefined || !service.usable) {
    throw new Error(`an upsert of ${key} was decided without a valid manifest`)
  }
  return { kind: input.kind, body, fingerprint, access: service.access, identity: service.identity }
}
