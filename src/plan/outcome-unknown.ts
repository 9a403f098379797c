import { nameOf } from '../kinds/key.ts'
import { sameId } from '../lib/same-id.ts'
import type { DecideInput, CreateOnceInput } from './input.ts'
import { wasGivenUp } from './missing.ts'
import type { UnknownAttempt, UnknownOutcome } from './reasons/unknown.ts'
import type { Intent, LedgerRecord } from './record.ts'

/** After a retry is said, nothing of the attempt can still be on its way when so long has passed since `sendBy`: ms. */
const ENDED_MS = 2 * 60_000
/**
 * The same, when the process that sent it never said that it ended: its kernel, or itself, may still deliver. And when it went
 * through a proxy: a reset ends the connection to that one only. No time is long enough for a proxy that keeps it longer.
 */
const NEVER_ENDED_MS = 15 * 60_000

/** The last attempt of a key, when it may have created something and nobody knows (design §5). */
export function undecidedIntent({ intent }: Pick<LedgerRecord, 'intent'>): Intent | undefined {
  return intent?.state === 'open' || intent?.state === 'unknown' ? intent : undefined
}

/** From when on a person may say that an attempt created nothing; on the steady clock, ms since the epoch. */
export function retryFrom({ state, sendBy, seen }: Intent): number {
  return sendBy + (state === 'unknown' && seen?.proxy === undefined ? ENDED_MS : NEVER_ENDED_MS)
}

/**
 * The pipe that a manifest or a Lock names for a key that has none. A pipe that was given up for a create says nothing of the
 * outcome of that create: its line was there before.
 */
export function namedId({ policy, surroundings, recorded }: CreateOnceInput): string | undefined {
  const former = undecidedIntent(recorded) === undefined ? undefined : recorded.former?.remote.id
  return [policy.adopt, surroundings.lockedId].find(
    (id) => id !== undefined && !sameId(id, former) && !wasGivenUp(recorded, id),
  )
}

/** The last attempt of a key as {@link undecidedIntent}, until a person has said in Git what became of it: also where that waits for the end of a suspension. */
export function unansweredIntent(input: DecideInput): Intent | undefined {
  if (input.lifecycle !== 'create-once') return undefined
  const intent = undecidedIntent(input.recorded)
  // Whatever Git says is about a manifest that is there, and of a checkout that may be older it may be taken back by now.
  if (input.desired.state === 'absent' || input.surroundings.olderThan !== undefined) return intent
  return namedId(input) !== undefined || isDismissed(input, intent) ? undefined : intent
}

/** Whether a person said in Git that an attempt created nothing, not too early, and does not say so in an older checkout only. */
export function isDismissed(
  { policy, steadyNow, surroundings }: CreateOnceInput,
  intent: Intent | undefined,
): boolean {
  if (intent === undefined || !sameId(policy.retryCreate, intent.id)) return false
  if (surroundings.olderThan !== undefined) return false
  return intent.saidEarlyAt === undefined && retryFrom(intent) <= steadyNow
}

/** What is known of an attempt whose outcome is not: time, intent, request, and what was seen. */
export function attemptFacts({ id, openedAt, seen }: Intent): UnknownAttempt {
  return {
    intentId: id,
    openedAt,
    requestId: seen?.requestId,
    seen: seen?.what ?? 'Pipewright was stopped before it knew the outcome',
  }
}

/** So many ids that it is not are named, at most. */
const IDS_SHOWN = 5

/** A platform whose clock is a little behind ours says an earlier time. */
export const CLOCKS_APART_MS = 60_000

/**
 * All that is known of an unknown outcome, for every place that tells it.
 * @param knownIds ids of pipes of the same name in the same service that are known to be other ones
 */
export function unknownFacts(
  record: LedgerRecord,
  intent: Intent,
  knownIds: readonly string[],
): UnknownOutcome {
  const { key, service, file, former, platformName } = record
  return {
    ...attemptFacts(intent),
    key,
    name: platformName ?? nameOf(key),
    service: service && { name: service.name, serviceId: service.serviceId },
    file,
    olderIds: [...(former === undefined ? [] : [former.remote.id]), ...knownIds].slice(0, IDS_SHOWN),
    createdAfter: intent.openedAt - CLOCKS_APART_MS,
    retryFrom: retryFrom(intent),
    saidEarlyAt: intent.saidEarlyAt,
  }
}

/** The same while nobody has said what became of it. */
export function unknownOutcomeOf(input: DecideInput): UnknownOutcome | undefined {
  const intent = unansweredIntent(input)
  return intent && unknownFacts(input.recorded, intent, input.surroundings.knownIds)
}
