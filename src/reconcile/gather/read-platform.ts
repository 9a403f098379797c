import { isReadable } from '../../kinds/definition.ts'
import { isUpserted } from '../../kinds/lookup.ts'
import { compareBody } from '../../kinds/compare-body.ts'
import { fieldsOf, kindFor, knownStatesOf } from '../../kinds/profile.ts'
import { healthyStatesFor, judgeState } from '../../kinds/state.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Entry } from '../../contract/catalog.ts'
import { serviceOf } from '../../kinds/manifest.ts'
import type { Key } from '../../kinds/key.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { sameId } from '../../lib/same-id.ts'
import type { Desired } from '../../plan/input.ts'
import { wasGivenUp } from '../../plan/missing.ts'
import { undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { Fingerprint, LedgerRecord } from '../../plan/record.ts'
import { listedKind, listedReply, listingOf } from './listing.ts'
import type { Listing } from '../state/listings.ts'
import { recordedAccess, type DesiredService } from './service-access.ts'
import type { ReconcileContext, ReconcileRequest } from '../context.ts'
import type { CreatePermit, Looks, ReadOptions, Reply } from '../../contract/platform.ts'
import { type ErrorClass, RemoteError } from '../../contract/remote-error.ts'
import type { MissingSecret } from '../../plan/reasons/requests.ts'
import type { BodySecrets } from './body-secrets.ts'
import { mayBeReplaced } from './deletion-facts.ts'
import { isLeftAlone, saysDeleted } from '../state/entry-policy.ts'

export interface Question {
  readonly key: Key
  readonly entry: Entry | undefined
  readonly state: Desired['state']
  readonly recorded: LedgerRecord
  readonly service: DesiredService
  readonly request: ReconcileRequest
  readonly permit: CreatePermit | undefined
  readonly looks: Looks | undefined
}

export interface Wanted {
  readonly entry: Entry | undefined
  readonly service: DesiredService
  readonly body: JsonObject | undefined
  readonly secrets: BodySecrets
  readonly fingerprint: Fingerprint | undefined
  readonly missingCredentials: readonly MissingSecret[]
  readonly isFresh: boolean
}

/** Undefined: no request. */
export type ReadAnswer =
  | {
      readonly reply: Reply<RemoteResource>
      /** Monotonic clock, ms. */
      readonly askedAt: number
      readonly isOfList?: true
    }
  | {
      readonly failure: unknown
      readonly askedAt: number
      /** The list failed, not a read of this pipe. */
      readonly isOfList?: true
    }
  | undefined

/** Sends no request for a suspended or removed manifest. Never rejects, because the caller awaits the result later. */
export async function readPlatform(
  context: ReconcileContext,
  question: Question,
): Promise<{ readonly answer: ReadAnswer; readonly listing: Listing | undefined }> {
  const { key, entry, state, recorded, service, request, permit, looks } = question
  if (state === 'absent' && recorded.removal?.isSent === true)
    return { answer: await askPlatform(context, question), listing: undefined }
  const isLeft = state === 'absent' || isLeftAlone(entry, context.clock.now())
  // A pipe that was stopped for a change is read, because it must be started.
  if (state === 'missing' || (isLeft && recorded.command?.isForChange !== true))
    return { answer: undefined, listing: undefined }
  let listing: Listing | undefined
  const isListed = listedKind(context, key) !== undefined
  const mayCreate = permit !== undefined || recorded.remote === undefined
  const isUnwanted = entry?.manifest?.policy?.ensure === 'absent' && undecidedIntent(recorded) === undefined
  const isNeeded = mayCreate
    ? !isUnwanted && (permit !== undefined || !isNamed(context, question))
    : context.store.observation(key)?.found !== false && mayBeReplaced(context.store, entry, recorded)
  if (isListed && isNeeded && state === 'valid' && service.usable) {
    const askedAt = context.clock.monotonic()
    try {
      const about = { key, access: service.access, permit: permit ?? looks }
      listing = await listingOf(context, about, request)
    } catch (failure) {
      // A failed list is no error while a create is of unknown outcome, which it stays.
      const isUnknown = permit === undefined && undecidedIntent(recorded) !== undefined
      const isOnlyEdited = !mayCreate && recorded.removal === undefined
      if (!(isUnknown || isOnlyEdited) || !(failure instanceof RemoteError))
        return { answer: { failure, askedAt, isOfList: true }, listing: undefined }
    }
  }
  // A shared list is enough for a check. Right before a write, the pipe itself is read.
  const isOfAll = isListed && !mayCreate && looks === undefined
  const answer = isOfAll ? await listedAnswer(context, question) : undefined
  return { answer: answer ?? (await askPlatform(context, question)), listing }
}

/** Whether a manifest or a Lock names the pipe's id. Such a pipe is adopted, whatever a list shows. */
function isNamed({ store }: ReconcileContext, { key, entry, recorded }: Question): boolean {
  const named = [entry?.manifest?.policy?.adopt, store.lockedId(key)]
  return (
    recorded.remote === undefined &&
    named.some(
      (id) => id !== undefined && !sameId(id, recorded.former?.remote.id) && !wasGivenUp(recorded, id),
    )
  )
}

const OF_ALL: ReadonlySet<ErrorClass> = new Set(['Throttled', 'ServiceIdle'])

async function askPlatform(context: ReconcileContext, question: Question): Promise<ReadAnswer> {
  const { key, request } = question
  const askedAt = context.clock.monotonic()
  try {
    const asked = questionOf(context, question, request)
    if (asked === undefined) return undefined
    const reply = await asked
    // A found resource needs no create, so keys that might need one go first.
    if (!isUpserted(key)) await request.releaseSlot()
    return { reply, askedAt }
  } catch (failure) {
    return { failure, askedAt }
  }
}

/** From the list that drift checks of a service share. Undefined: the pipe must be read by its id. */
async function listedAnswer(
  context: ReconcileContext,
  { key, entry, recorded, service, request }: Question,
): Promise<ReadAnswer> {
  const { remote } = recorded
  if (remote === undefined || request.isAsked === true || request.priority === 0) return undefined
  if (context.store.observation(key)?.found === false) return undefined
  if (remote.saidGoneAt !== undefined || saysDeleted(entry, remote.id)) return undefined
  if (recorded.change !== undefined || recorded.command !== undefined) return undefined
  const access = recordedAccess(context.store, recorded, service)
  if (access === undefined) return undefined
  const askedAt = context.clock.monotonic()
  try {
    const listed = await listedReply(context, { key, access, id: remote.id }, request)
    return listed && { ...listed, isOfList: true }
  } catch (failure) {
    if (failure instanceof RemoteError && !OF_ALL.has(failure.facts.class)) return undefined
    return { failure, askedAt, isOfList: true }
  }
}

/** A list can be outdated, so it replaces a read only if the pipe matches the unedited manifest. */
export async function confirmed(
  context: ReconcileContext,
  question: Question,
  { wanted, answer }: { readonly wanted: Wanted; readonly answer: ReadAnswer },
): Promise<ReadAnswer> {
  if (answer === undefined || !('reply' in answer) || answer.isOfList !== true) return answer
  if (!callsForNothing(context, question, wanted, answer.reply.value)) return askPlatform(context, question)
  await question.request.releaseSlot()
  return answer
}

function callsForNothing(
  { profile, healthyStates }: ReconcileContext,
  { key, recorded }: Question,
  { entry, body, fingerprint }: Wanted,
  item: RemoteResource,
): boolean {
  const { manifest } = entry ?? {}
  if (manifest === undefined || body === undefined || fingerprint === undefined) return true
  const { applied } = recorded
  const isRotated = Object.entries(fingerprint.secrets).some(([path, hash]) => {
    const sent = applied?.secrets[path]
    return sent !== undefined && sent !== hash
  })
  if (fingerprint.digest !== applied?.digest || isRotated) return false
  if (typeof item.state !== 'string') return false
  const healthy = healthyStatesFor(manifest.policy?.healthyStates, healthyStates)
  const verdict = judgeState(item.state, healthy, knownStatesOf(profile, manifest))
  const isCalm = verdict === 'healthy' || (verdict === 'unjudged' && manifest.policy?.paused === undefined)
  return isCalm && compareBody(fieldsOf(profile, key), body, item as JsonObject).length === 0
}

function questionOf(
  { platform, profile, store }: ReconcileContext,
  { key, entry, recorded, service, permit, looks }: Question,
  options: ReadOptions,
): Promise<Reply<RemoteResource>> | undefined {
  const manifest = entry?.manifest
  const kind = kindFor(profile, { key, manifest, record: recorded })
  if (kind.lifecycle === 'read-only') {
    if (manifest === undefined) return undefined
    const inService = serviceOf(manifest) !== undefined
    if (inService && !service.usable) return undefined
    const where = inService && service.usable ? service.access : undefined
    return platform.read({ kind, service: where, id: kind.remoteId(manifest) }, options)
  }
  if (kind.lifecycle === 'upsert') {
    // A service has one endpoint, so the service's id also identifies the endpoint.
    const there = service.usable ? service.access : recordedAccess(store, recorded, service)
    if (!isReadable(kind) || there === undefined) return undefined
    return (looks ?? platform).read({ kind, service: there, id: there.serviceId }, options)
  }
  const access = recordedAccess(store, recorded, service)
  if (kind.lifecycle !== 'create-once' || recorded.remote === undefined || access === undefined)
    return undefined
  // The create's place in the request budget covers only reads with the same credentials.
  const isPermitted = permit?.service.secretName === access.secretName
  const asked = { kind, service: access, id: recorded.remote.id }
  return (looks ?? (isPermitted ? permit : platform)).read(asked, options)
}
