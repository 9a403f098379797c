import { historyEntry } from '../state/record-io.ts'
import { timeOf } from '../../kinds/instant.ts'
import type { Key } from '../../kinds/key.ts'
import { createOnceKindOf } from '../../kinds/profile.ts'
import { isDeleting } from '../../kinds/state.ts'
import { leftMs, undecidedIntent } from '../../plan/outcome-unknown.ts'
import type { Because, FactsOf } from '../../plan/reason.ts'
import type { LedgerRecord, Fingerprint, Intent } from '../../plan/record.ts'
import { adoptRemote, type Opening } from '../../plan/transitions.ts'
import type { ReconcileContext } from '../context.ts'
import { foreignIn } from '../gather/observe.ts'
import { mightBelongToOpenCreate, ownedByOtherKey, recordedHolder } from './other-owners.ts'
import type { NewEntry } from '../../contract/history.ts'
import type { RemoteResource } from '../../kinds/remote-resource.ts'
import { sameId } from '../../lib/same-id.ts'
import type { ReadOptions, Reply, ServiceAccess } from '../../contract/platform.ts'
import { RemoteError } from '../../contract/remote-error.ts'
import { saysDeleted } from '../state/entry-policy.ts'

export interface AdoptRequest extends Pick<Opening, 'service' | 'platformName' | 'fingerprint'> {
  /** Whether the pipe was found in the list by its values. If not, its id was given. */
  readonly isFound: boolean
  readonly recorded: LedgerRecord
  readonly revision: string
  readonly pipeId: string
  readonly access: ServiceAccess
  /** The pipe as the list shows it. If set, the pipe is not read, except if `isFound`. */
  readonly listed?: Reply<RemoteResource> | undefined
}

type AdoptResult =
  | {
      readonly taken: true
      readonly record: LedgerRecord
      readonly reply: Reply<RemoteResource>
      readonly because: Because<'Adopted'>
      readonly history: readonly NewEntry[]
    }
  | { readonly taken: false; readonly why: FactsOf<'AdoptRefused'> }

/** Reserves the pipe. @throws request errors, except a 404 */
export async function adoptExisting(
  context: ReconcileContext,
  wanted: AdoptRequest,
  options: ReadOptions,
): Promise<AdoptResult> {
  const { profile, platform, clock, store } = context
  const { recorded, pipeId, access, service, revision } = wanted
  const { key } = recorded
  const held = ownedByOtherKey(store, pipeId, key)
  if (held !== undefined) return refused(held)
  const { listed } = wanted
  const isRead = listed === undefined || wanted.isFound
  let reply
  try {
    const asked = { kind: createOnceKindOf(profile, key), service: access, id: pipeId, listed }
    reply = isRead ? await platform.read(asked, options) : listed
  } catch (error) {
    if (!(error instanceof RemoteError) || error.facts.class !== 'Missing') throw error
    const { name, serviceId } = service
    return refused({ is: 'not there', pipeId, service: { name, serviceId }, isListed: wanted.isFound })
  }
  const { value: remote, requestId } = reply
  const owner = remote.serviceId ?? service.serviceId
  if (!sameId(owner, service.serviceId))
    return refused({ is: 'of another service', pipeId, serviceId: context.mask.mask(owner) })
  if (isDeleting(createOnceKindOf(profile, key).changes?.rest, remote.state))
    return refused({ is: 'being deleted', pipeId })
  const awaited = mightBelongToOpenCreate(store, wanted, remote)
  if (awaited !== undefined) return refused(awaited)
  const by = await recordedHolder(context, pipeId, key)
  const since = ownedByOtherKey(store, pipeId, key)
  if (since !== undefined) return refused(since)
  if (by !== undefined) return refused({ is: 'held', pipeId, by, isOrphan: false })
  store.claim(key, pipeId)
  const at = clock.now()
  const own = sameId(recorded.remote?.id, remote.id) ? recorded.remote : undefined
  const record = adoptRemote(recorded, {
    remote: {
      id: remote.id,
      origin: own?.origin ?? 'adopted',
      at,
      revision,
      requestId,
      foreign: foreignIn(context, key, remote, own && { ...recorded, remote: own }),
      // Only a read sets `seenAt`, because a list can be outdated. Without `seenAt`, 404s never replace the pipe.
      seenAt: isRead ? at : undefined,
      refutedAt: saysDeleted(store.entry(key), remote.id) ? at : undefined,
    },
    steadyNow: store.steadyNow(),
    service,
    platformName: wanted.platformName,
    fingerprint: baselineOf(recorded, wanted.fingerprint, remote.id),
  })
  const because = {
    reason: 'Adopted',
    facts: { pipeId: remote.id, inPlaceOf: inPlaceOf(recorded, remote.id) },
  } as const
  const about = { at, revision, requestId, intentId: undecidedIntent(recorded)?.id }
  const history = historyEntry(context, key, {
    action: 'adopt',
    because,
    ...about,
    reason: 'Adopt',
  })
  return { taken: true, record, reply, because, history: [history] }
}

/** The values that count as applied. After a create of unknown outcome: what it sent, without later edits. */
function baselineOf(recorded: LedgerRecord, asked: Fingerprint, pipeId: string): Fingerprint {
  const { former, applied } = recorded
  if (sameId(former?.remote.id, pipeId)) return former?.applied ?? asked
  return undecidedIntent(recorded) === undefined ? asked : (applied ?? asked)
}

function inPlaceOf({ remote, former }: LedgerRecord, id: string): string | undefined {
  const before = remote ?? former?.remote
  return before === undefined || sameId(before.id, id) ? undefined : before.id
}

function refused(why: FactsOf<'AdoptRefused'>): AdoptResult {
  return { taken: false, why }
}

/** Why to wait: another process might still send the create of the open intent. */
export function stillSending(
  { ledger, clock, store }: ReconcileContext,
  key: Key,
  intent: Intent,
): string | undefined {
  const left = leftMs(intent, intent.endBy, { now: clock.now(), steadyNow: store.steadyNow() })
  if (!ledger.isShared || intent.state !== 'open' || left <= 0) return undefined
  return (
    `The create of ${key} (intent ${intent.id}) began at ${timeOf(intent.openedAt)} and might not have ended. ` +
    `Run this command again after ${timeOf(clock.now() + left)}, if the status still shows this attempt.`
  )
}
