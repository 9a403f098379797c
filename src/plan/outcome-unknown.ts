import { nameOf, type Key } from '../kinds/key.ts'
import { sameId } from '../lib/same-id.ts'
import type { DecideInput, PipeInput } from './input.ts'
import type { Intent, LedgerRecord } from './record.ts'

/** After a retry is said, nothing of the attempt can still be on its way when so long has passed since `sendBy`: ms. */
const ENDED_MS = 2 * 60_000
/** The same, when the process that sent it never said that it ended: its kernel, or itself, may still deliver. */
const NEVER_ENDED_MS = 15 * 60_000

/** The last attempt of a key, when it may have created something and nobody knows (design §5). */
export function undecidedIntent({ intent }: Pick<LedgerRecord, 'intent'>): Intent | undefined {
  return intent?.state === 'open' || intent?.state === 'unknown' ? intent : undefined
}

/** From when on a person's word that an attempt created nothing is accepted; on the steady clock, ms since the epoch. */
export function retryFrom({ state, sendBy }: Intent): number {
  return sendBy + (state === 'unknown' ? ENDED_MS : NEVER_ENDED_MS)
}

/**
 * The pipe that a manifest or a Lock names for a key that has none. The one that was given up for a create says nothing of what
 * became of that create: its line was there before.
 */
export function namedPipe({ policy, surroundings, recorded }: PipeInput): string | undefined {
  const former = undecidedIntent(recorded) === undefined ? undefined : recorded.former?.pipe.id
  return [policy.adopt, surroundings.lockedId].find((id) => id !== undefined && !sameId(id, former))
}

/** The last attempt of a key as {@link undecidedIntent}, until a person has said in Git what became of it: also a word that waits for the end of a suspension. */
export function unansweredIntent(input: DecideInput): Intent | undefined {
  if (input.lifecycle !== 'create-once') return undefined
  const intent = undecidedIntent(input.recorded)
  if (input.desired.state === 'absent') return intent // whatever Git says is about a manifest that is there
  return namedPipe(input) !== undefined || isDismissed(input, intent) ? undefined : intent
}

/** Whether a person said in Git that an attempt created nothing, and not too early. */
export function isDismissed({ policy, steadyNow }: PipeInput, intent: Intent | undefined): boolean {
  if (intent === undefined || !sameId(policy.retryCreate, intent.id)) return false
  return intent.saidEarlyAt === undefined && retryFrom(intent) <= steadyNow
}

/** What is known of an attempt whose outcome is not: time, intent, request, and what was seen. */
export function attemptWords(intent: Intent): string {
  const { seen } = intent
  const request = seen?.requestId === undefined ? '' : `, request ${seen.requestId}`
  const what = seen?.what ?? 'Pipewright was stopped before it knew the outcome'
  return `sent at ${timeOf(intent.openedAt)} (intent ${intent.id}${request}): ${what}`
}

/** So many ids that it is not are named, at most. */
const IDS_SHOWN = 5

/** A platform whose clock is a little behind ours says an earlier time. */
export const CLOCKS_APART_MS = 60_000

/** What the message about an unknown outcome is made of. */
export interface UnknownOutcome {
  readonly key: Key
  readonly record: LedgerRecord
  readonly intent: Intent
  /** Ids of pipes of the same name in the same service that are known to be other ones. */
  readonly knownIds: readonly string[]
}

/**
 * What is known of it, how to tell the pipe from an older one, and each way out as a whole command and as a whole line of
 * the manifest. Read at three in the morning.
 */
export function outcomeUnknownWords({ key, record, intent, knownIds }: UnknownOutcome): string {
  const { service, file, former } = record
  const name = record.platformName ?? nameOf(key)
  const where = service === undefined ? '' : ` in service ${service.name} (${service.serviceId})`
  const known = [...(former === undefined ? [] : [former.pipe.id]), ...knownIds].slice(0, IDS_SHOWN)
  const others = known.length === 0 ? '' : `, and is none of these older ones: ${known.join(', ')}`
  const since = timeOf(intent.openedAt - CLOCKS_APART_MS)
  const inGit = `under policy: in ${file ?? 'its manifest'}`
  const from = timeOf(retryFrom(intent))
  const { saidEarlyAt } = intent
  const early =
    saidEarlyAt === undefined
      ? ''
      : ` The line "retryCreate: ${intent.id}" was there at ${timeOf(saidEarlyAt)} already, when the request could still arrive: ` +
        'look once more, take the line out, and write it again.'
  return (
    `Nobody knows whether the pipe "${name}" was created${where}. Its create was ${attemptWords(intent)}. ` +
    `Look in the console for a pipe "${name}" that was created after ${since}${others}. ` +
    `If it is there, run "pipewright resolve ${key} --adopt <its id>", or write this line ${inGit}: "adopt: <its id>". ` +
    `If it is not there after ${from}, run "pipewright resolve ${key} --retry", or write this line ${inGit}: ` +
    `"retryCreate: ${intent.id}".${early}`
  )
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}
