import type { FactsOf } from './reason.ts'
import { instantOf } from '../kinds/instant.ts'
import { nameOf } from '../kinds/key.ts'
import { sameId } from '../lib/same-id.ts'
import type { DecideInput, CreateOnceInput } from './input.ts'
import { wasGivenUp } from './missing.ts'
import type { UnknownAttempt } from './reasons/unknown.ts'
import type { Intent, LedgerRecord } from './record.ts'

/** Ms from intent to request, at most. */
export const SEND_WITHIN_MS = 5_000
/** A request whose connection is closed can arrive at most this long after `sendBy`. */
const ENDED_MS = 2 * 60_000
/** The same after a crash or with a proxy. */
const NEVER_ENDED_MS = 15 * 60_000

export function undecidedIntent({ intent }: Pick<LedgerRecord, 'intent'>): Intent | undefined {
  return intent?.state === 'open' || intent?.state === 'unknown' ? intent : undefined
}

/** From this `steadyNow` on, a new create is safe: the request cannot arrive any more. */
export function retryFrom({ state, sendBy, lastsMs = 0, seen }: Intent): number {
  const isEnded = state === 'unknown' && seen?.proxy === undefined
  return sendBy + lastsMs + (isEnded ? ENDED_MS : NEVER_ENDED_MS)
}

/** Ms until the sender's `steadyNow` is `at`. After a clock change, the shorter age counts. */
export function leftMs(intent: Intent, at: number, by: Pick<DecideInput, 'now' | 'steadyNow'>): number {
  const begun = intent.sendBy - SEND_WITHIN_MS
  const ages = [by.steadyNow - begun, by.now - intent.openedAt]
  return at - begun - (Math.min(...ages) < 0 ? Math.max(...ages) : Math.min(...ages))
}

/** The pipe id in policy.adopt or a Lock, except the id of a replaced pipe. */
export function namedId({ policy, surroundings, recorded }: CreateOnceInput): string | undefined {
  const former = undecidedIntent(recorded) === undefined ? undefined : recorded.former?.remote.id
  return [policy.adopt, surroundings.lockedId].find(
    (id) => id !== undefined && !sameId(id, former) && !wasGivenUp(recorded, id),
  )
}

/** An {@link undecidedIntent} that policy.adopt, policy.retryCreate or a Lock does not settle. */
export function unansweredIntent(input: DecideInput): Intent | undefined {
  if (input.lifecycle !== 'create-once') return undefined
  const intent = undecidedIntent(input.recorded)
  if (input.desired.state === 'absent' || input.surroundings.olderThan !== undefined) return intent
  return namedId(input) !== undefined || isDismissed(input, intent) ? undefined : intent
}

export function isDismissed(input: CreateOnceInput, intent: Intent | undefined): boolean {
  if (intent === undefined || !sameId(input.policy.retryCreate, intent.id)) return false
  if (input.surroundings.olderThan !== undefined || intent.saidEarlyAt !== undefined) return false
  return leftMs(intent, retryFrom(intent), input) <= 0
}

export function attemptFacts({ id, openedAt, seen }: Intent): UnknownAttempt {
  return {
    intentId: id,
    openedAt,
    requestId: seen?.requestId,
    seen: seen?.what ?? 'Pipewright was stopped before it knew the outcome',
    pipeId: seen?.pipeId,
  }
}

const IDS_SHOWN = 5

/** ms that the platform's clock may be behind ours. */
const CLOCKS_APART_MS = 60_000

/** Undefined: the platform does not tell. */
export function isOlder(createdAt: string | null | undefined, { openedAt }: Intent): boolean | undefined {
  const at = instantOf(createdAt ?? '')
  return at === undefined ? undefined : at < openedAt - CLOCKS_APART_MS
}

export function unknownFacts(
  record: LedgerRecord,
  intent: Intent,
  knownIds: readonly string[],
): FactsOf<'OutcomeUnknown'> {
  const { key, service, file, former, platformName } = record
  return {
    ...attemptFacts(intent),
    key,
    name: platformName ?? nameOf(key),
    service: service && { name: service.name, serviceId: service.serviceId },
    file,
    olderIds: [...(former === undefined ? [] : [former.remote.id]), ...knownIds].slice(0, IDS_SHOWN),
    createdAfter: intent.openedAt - CLOCKS_APART_MS,
    retryFrom: retryFrom(intent) + Math.max(0, intent.openedAt + SEND_WITHIN_MS - intent.sendBy),
    saidEarlyAt: intent.saidEarlyAt,
  }
}

export function unknownOutcomeFacts(input: DecideInput): FactsOf<'OutcomeUnknown'> | undefined {
  const intent = unansweredIntent(input)
  return intent && unknownFacts(input.recorded, intent, input.surroundings.knownIds)
}
