import { compareBody } from '../../kinds/compare-body.ts'
import { isUpserted, lifecycleOf } from '../../kinds/lookup.ts'
import { expectedOf, fieldsOf, kindFor } from '../../kinds/profile.ts'
import type { Entry } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import type { JsonObject } from '../../lib/json.ts'
import { sameId } from '../../lib/same-id.ts'
import type { Observed } from '../../plan/input.ts'
import { missesAfter } from '../../plan/missing.ts'
import type { LedgerRecord, Remote } from '../../plan/record.ts'
import type { ReconcileContext } from '../context.ts'
import { forgetMisses, noteFound, noteMissing } from '../state/observations.ts'
import { maskFailure, RemoteError, type RemoteErrorFacts } from '../../contract/remote-error.ts'
import { saysDeleted } from '../state/entry-policy.ts'
import { siblingFoundAt, witnessOf } from './siblings.ts'
import type { Answer, Question } from './ask-platform.ts'

/** What is observed of a key, and what that makes of its record. */
interface ObservedKey {
  readonly observed: Observed
  readonly recorded: LedgerRecord
  readonly failure: unknown
  readonly requestId: string | undefined
}

/** What an answer means for a key; it is remembered, and emitted. */
export function observationOf(
  context: ReconcileContext,
  asked: Pick<Question, 'key' | 'entry' | 'recorded' | 'permit'> & {
    readonly body: JsonObject | undefined
  },
  answer: Answer,
): ObservedKey {
  const recorded = withWordsTakenBack(asked.recorded, asked.entry)
  const unseen = { observed: { status: 'unseen' }, recorded, requestId: undefined } as const
  if (answer === undefined) return { ...unseen, failure: undefined }
  if ('reply' in answer) return found(context, asked, answer)
  const { askedAt } = answer
  // Some of its secrets were read after this answer came.
  const failure = maskFailure(answer.failure, context.mask)
  // What came between two 404s breaks their row. A reply that says to ask later is no answer.
  const isBroken = failure instanceof RemoteError && !['Missing', 'Throttled'].includes(failure.facts.class)
  if (isBroken) forgetMisses(context, asked.key)
  const isMissing =
    answer.isOfList !== true && failure instanceof RemoteError && failure.facts.class === 'Missing'
  if (isMissing && isUpserted(asked.key)) return noneThere(context, recorded, answer.askedAt, failure.facts)
  const { key, entry } = asked
  const isCreated = lifecycleOf({ key, manifest: entry?.manifest, record: recorded }) === 'create-once'
  return isMissing && isCreated && recorded.remote !== undefined
    ? missing(context, recorded, recorded.remote, {
        facts: failure.facts,
        askedAt,
        isLast: asked.permit !== undefined,
      })
    : { ...unseen, failure }
}

/** What is found, or what an upsert configures of it. */
function thereOf({ profile }: ReconcileContext, key: Key, value: RemoteResource): JsonObject {
  const kind = kindFor(profile, { key, manifest: undefined, record: undefined }) // what is upserted has one form
  return kind.lifecycle === 'upsert' ? kind.configured(value) : (value as JsonObject) // a parsed reply is JSON
}

function found(
  context: ReconcileContext,
  { key, entry, recorded, body }: Parameters<typeof observationOf>[1],
  { reply, askedAt, isOfList }: Extract<Answer, { readonly reply: object }>,
): ObservedKey {
  const { value, requestId, credential } = reply
  const desired = body ?? (entry?.manifest && expectedOf(context.profile, entry.manifest)) ?? {}
  const compared =
    isOfList === true ? [] : compareBody(fieldsOf(context.profile, key), desired, value as JsonObject) // a parsed reply is JSON
  const state = value.state ?? undefined
  const differences = noteFound(context, key, {
    state,
    reply: value,
    entry,
    readAt: askedAt,
    credential,
    differences: compared,
    body,
  })
  return {
    observed: { status: 'found', state, differences, there: thereOf(context, key, value) },
    recorded: seen(recorded, entry, { id: value.id, now: context.clock.now() }),
    failure: undefined,
    requestId,
  }
}

/** The one of a service: what is not there now is not there, and may be applied. */
function noneThere(
  context: ReconcileContext,
  recorded: LedgerRecord,
  readAt: number,
  { credential, requestId }: RemoteErrorFacts,
): ObservedKey {
  noteMissing(context, recorded.key, { readAt, misses: undefined, credential })
  const observed = { status: 'missing', misses: undefined, witness: 'nobody' } as const
  return { observed, recorded, failure: undefined, requestId }
}

/** A pipe that was found is known to have been there, whatever somebody said, or still says in Git. */
function seen(
  record: LedgerRecord,
  entry: Entry | undefined,
  { id, now }: { readonly id: string; readonly now: number },
): LedgerRecord {
  const { remote } = record
  // What is watched may be another one.
  if (remote === undefined || !sameId(remote.id, id)) return record
  const seenAt = remote.seenAt ?? now
  const refutedAt = saysDeleted(entry, remote.id) ? (remote.refutedAt ?? now) : undefined
  const isKnown =
    seenAt === remote.seenAt && refutedAt === remote.refutedAt && remote.saidGoneAt === undefined
  return isKnown ? record : { ...record, remote: { ...remote, seenAt, saidGoneAt: undefined, refutedAt } }
}

/** Words that were refuted count again once they were taken back: then they are new ones. */
function withWordsTakenBack(record: LedgerRecord, entry: Entry | undefined): LedgerRecord {
  const { remote } = record
  if (remote?.refutedAt === undefined || entry?.manifest === undefined || saysDeleted(entry, remote.id))
    return record
  return { ...record, remote: { ...remote, refutedAt: undefined } }
}

function missing(
  context: ReconcileContext,
  recorded: LedgerRecord,
  remote: Remote,
  about: {
    readonly facts: RemoteErrorFacts
    readonly askedAt: number
    /** Asked once more right before the create: it confirms what was counted, and proves nothing by itself. */
    readonly isLast: boolean
  },
): ObservedKey {
  const { store, clock } = context
  const { askedAt, isLast } = about
  const { credential, requestId } = about.facts
  const { key } = recorded
  const before = store.observation(key)
  const counted = before?.found === false ? before.misses : undefined
  const misses =
    isLast && counted?.credential === credential
      ? counted
      : missesAfter({
          misses: counted,
          ageMs: store.ageMs(key) ?? Math.abs(store.steadyNow() - remote.at),
          now: clock.monotonic(),
          credential,
          foundAt: siblingFoundAt(context, recorded, credential),
        })
  noteMissing(context, key, { readAt: askedAt, misses, credential })
  return {
    observed: { status: 'missing', misses, witness: witnessOf(context, recorded, misses) },
    recorded,
    failure: undefined,
    requestId,
  }
}
