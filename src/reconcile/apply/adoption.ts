import { historyEntry } from '../state/record-io.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { remoteNameOf } from '../../kinds/lookup.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import type { Action } from '../../plan/action.ts'
import type { Done } from '../../plan/outcome.ts'
import type { Because } from '../../plan/reason.ts'
import { undecidedIntent, unknownFacts } from '../../plan/outcome-unknown.ts'
import type { Intent, LedgerRecord } from '../../plan/record.ts'
import { disproveId, succeedIntent } from '../../plan/transitions.ts'
import { listedFor, listedReply, nameOfListing } from '../gather/listing.ts'
import { desiredService, recordedAccess, sameService } from '../gather/service-access.ts'
import { DecisionOutdated, type Acted, type ReconcileContext, type ReconcileRequest } from '../context.ts'
import { type Assessment, wantedPipe } from '../gather/assess.ts'
import { readRepliedId } from './replied-id.ts'
import { saysDeleted } from '../state/entry-policy.ts'
import { listingFrom } from '../state/listings.ts'
import { noteReply } from '../state/observations.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import type { ReadOptions, Reply } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { adoptExisting, stillSending } from './adopt-existing.ts'

export async function adoptByManifest(
  context: ReconcileContext,
  assessment: Assessment,
  action: Action & { readonly type: 'adopt' },
  request: ReconcileRequest,
): Promise<Acted> {
  const { input, entry, service } = assessment
  const { recorded, desired } = input
  const { key } = desired
  const { manifest, body, fingerprint } = wantedPipe(assessment)
  const { pipeId, by } = action.facts
  if (by === 'a reply') return adoptByRead(context, assessment, action, request)
  const intent = undecidedIntent(recorded)
  // The former leader might still record the id of another pipe.
  if (intent !== undefined && stillSending(context, key, intent) !== undefined)
    return stillUnknown(context, assessment, recorded, intent)
  if (!service.usable)
    return refusedAdoption(recorded, { reason: 'DependencyNotReady', facts: service.problem })
  const isFound = by === 'the list'
  const asked = { key, access: service.access, id: pipeId }
  const isRead = request.isAsked === true || intent !== undefined || saysDeleted(entry, pipeId)
  const listed = isRead ? undefined : await listedAsWanted(context, body, asked, request)
  const readAt = isFound ? context.clock.monotonic() : (listed?.askedAt ?? context.clock.monotonic())
  const taken = await adoptExisting(
    context,
    {
      recorded,
      isFound,
      pipeId,
      access: service.access,
      service: service.identity,
      // After a create of unknown outcome: the name that it sent.
      platformName:
        (isFound && intent !== undefined ? recorded.platformName : undefined) ?? remoteNameOf(manifest),
      fingerprint,
      revision: context.store.revision,
      listed: listed?.reply,
    },
    request,
  )
  if (!isStillAsked(context, assessment)) {
    if (taken.taken) context.store.claim(key, undefined)
    throw new DecisionOutdated(key)
  }
  if (!taken.taken) return refusedAdoption(recorded, { reason: 'AdoptRefused', facts: taken.why })
  if (isFound && !isAsListed(context, assessment, taken.reply)) {
    context.store.listings.forget(nameOfListing(createOnceKindOf(context.profile, key), service.access))
    // The list can be outdated: a difference is a failure, and the adoption is tried again.
    return refusedAdoption(recorded, { reason: 'AdoptRefused', facts: { is: 'unlike the list', pipeId } })
  }
  const { reply, because, record, history } = taken
  const { requestId } = reply
  const done: Done = { result: 'done', ...because, differences: [], requestId }
  return {
    outcome: noteReply(context, { key, entry, body, reply, readAt }, done),
    record,
    history,
  }
}

/** From a list that adoptions by id share. Undefined: the pipe must be read. */
async function listedAsWanted(
  context: ReconcileContext,
  body: JsonObject,
  asked: Parameters<typeof listedReply>[1],
  options: ReadOptions,
): ReturnType<typeof listedReply> {
  try {
    const listed = await listedReply(context, asked, options)
    const { fields } = createOnceKindOf(context.profile, asked.key)
    // parsed JSON
    return listed && compareBody(fields, body, listed.reply.value as JsonObject).length > 0
      ? undefined
      : listed
  } catch (error) {
    if (error instanceof RemoteError) return undefined
    throw error
  }
}

function isAsListed(
  context: ReconcileContext,
  { input, entry, body, service }: Assessment,
  { value, ...reply }: Reply<RemoteResource>,
): boolean {
  const { recorded, desired } = input
  const listing = listingFrom([value], { askedAt: 0, reply })
  const listed = listedFor(context, { entry, recorded, desired, service, body, listing })
  return listed?.candidates[0]?.differs.length === 0
}

function isStillAsked({ store }: ReconcileContext, { input, entry, service }: Assessment): boolean {
  const { key, state } = input.desired
  const isSame = store.entry(key)?.digest === entry?.digest && store.desiredState(key) === state
  const isThere = sameService(desiredService(store, entry?.manifest), service)
  return isSame && isThere && store.lockedId(key) === input.surroundings.lockedId
}

async function adoptByRead(
  context: ReconcileContext,
  assessment: Assessment,
  action: Action & { readonly type: 'adopt' },
  request: ReconcileRequest,
): Promise<Acted> {
  const { input, entry, body = {}, service } = assessment
  const { recorded, desired } = input
  const { key } = desired
  const intent = undecidedIntent(recorded)
  const access = recordedAccess(context.store, recorded, service)
  if (intent === undefined) throw new Error(`${key} was decided to be read, and has no unknown outcome`)
  const { pipeId } = action.facts
  const { revision } = context.store
  const read =
    access === undefined
      ? ({ is: 'not known' } as const)
      : await readRepliedId(context, { recorded, intent, access, pipeId, revision }, request)
  if (read.is !== 'the created one') {
    const record = read.is === 'another' ? disproveId(recorded, intent) : recorded
    return stillUnknown(context, assessment, record, record.intent ?? intent)
  }
  const { remote, reply } = read
  const { requestId } = reply
  const record = succeedIntent(recorded, intent, { remote, steadyNow: context.store.steadyNow() })
  const because = { reason: 'Created', facts: { pipeId: remote.id, isByRead: true } } as const
  const about = { at: remote.at, revision, requestId, intentId: intent.id }
  const history = historyEntry(context, key, { action: 'adopt', because, ...about })
  const done: Done = { result: 'done', ...because, differences: [], requestId }
  return {
    outcome: noteReply(context, { key, entry, body, reply, readAt: undefined }, done),
    record,
    history: [history],
  }
}

function stillUnknown(
  { clock }: ReconcileContext,
  { input }: Assessment,
  record: LedgerRecord,
  intent: Intent,
): Acted {
  const facts = unknownFacts(record, intent, input.surroundings.knownIds)
  const seen = intent.seen ?? { at: clock.now(), what: '' }
  return { outcome: { result: 'unknown', facts, requestId: seen.requestId, seen }, record, history: [] }
}

function refusedAdoption(
  record: LedgerRecord,
  because: Because<'AdoptRefused' | 'DependencyNotReady'>,
): Acted {
  return { outcome: { result: 'failed', ...because }, record, history: [] }
}
