import type { RemoteResource } from '../kinds/remote-resource.ts'
import { withSecrets } from '../kinds/secrets-in.ts'
import { sha256 } from '../lib/digest.ts'
import { attemptDigest } from '../plan/gates.ts'
import type { LedgerRecord, Seen } from '../plan/record.ts'
import { openIntent } from '../plan/transitions.ts'
import { DecisionOutdated } from './acted.ts'
import {
  historyOf,
  settleFailure,
  settleSuccess,
  settleUnknown,
  type Attempt,
  type Created,
  type Creation,
} from './create-outcome.ts'
import { doubtOf } from './created-id.ts'
import type { Deps, Turn } from './deps.ts'
import { createOutcomeOf } from './outcome.ts'
import type { CreatePermit, Reply } from './ports.ts'
import type { Rescue, Unsaved } from './rescue.ts'
import type { BodySecrets } from './secrets.ts'

/** So long after an intent was begun its request may go out, ms: later, too much may have changed. */
const SEND_WITHIN_MS = 5_000
/**
 * What was decided on is older than the last request for it at most by this when the intent is written, ms: a process may stand
 * still at any point.
 */
const GOOD_FOR_MS = 5_000
/** Time in which the outcome of a request that has ended is written down, even on a struggling disk: ms. */
const WRITTEN_MS = 5_000

/**
 * Creates one pipe, exactly once (design §5): a durable intent, one POST, a durable outcome. What is to be created was
 * gathered and decided while the permit was held.
 * The stop signal is heard only before the intent; from there on the request ends by its own deadline.
 * @throws {LedgerError} {@link LedgerConflict} before anything was sent
 */
export async function createOnce(
  deps: Deps,
  rescue: Rescue,
  creation: Creation,
  { permit, turn }: { readonly permit: CreatePermit; readonly turn: Turn },
): Promise<Created> {
  const text = JSON.stringify(withSecrets(creation.body, (path) => revealed(creation.secrets, path)))
  if (deps.fail !== undefined) await deps.fail('before-intent')
  turn.stopping.throwIfAborted()
  return rescue.during(creation.key, () => sendOnce(deps, rescue, creation, { permit, turn, text }))
}

async function sendOnce(
  deps: Deps,
  rescue: Rescue,
  creation: Creation,
  { permit, turn, text }: { readonly permit: CreatePermit; readonly turn: Turn; readonly text: string },
): Promise<Created> {
  const { key } = creation
  const intentId = deps.newId()
  const begunAt = deps.clock.monotonic()
  if (begunAt - creation.since > permit.deadlineMs + GOOD_FOR_MS) throw new DecisionOutdated(key)
  const notAfter = begunAt + SEND_WITHIN_MS
  const opened = await recordIntent(deps, rescue, creation, { intentId, deadlineMs: permit.deadlineMs })
  const intent = opened.intent
  if (intent === undefined) throw new Error('an opened record has an intent')
  try {
    deps.emit({ type: 'CreateStarted', key, intentId, attempt: intent.attempt, revision: creation.revision })
    await deps.fail?.('after-intent')
  } catch (error) {
    // Nothing was sent, and so the outcome is known.
    await rescue.persist(key, unsent(deps, { intentId, opened, why: 'Pipewright failed before it' }))
    throw error
  }

  const attempt: Attempt = { creation, opened, intent, access: permit.service, turn }
  let reply: Reply<RemoteResource>
  try {
    reply = await permit.send({ body: text, intentId, notAfter })
  } catch (error) {
    const outcome = createOutcomeOf(error, deps.clock.now())
    return outcome.result === 'failed'
      ? settleFailure(deps, rescue, attempt, outcome)
      : settleUnknown(deps, rescue, attempt, outcome)
  }
  const doubt = doubtOf(
    deps.world,
    { key, service: creation.service, name: creation.platformName },
    reply.value,
  )
  if (doubt === undefined) return settleSuccess(deps, rescue, attempt, reply)
  const { requestId } = reply
  const seen = { at: deps.clock.now(), httpStatus: 200, requestId, what: doubt, pipeId: undefined }
  return settleUnknown(deps, rescue, attempt, { result: 'unknown', requestId, seen })
}

async function recordIntent(
  deps: Deps,
  rescue: Rescue,
  creation: Creation,
  { intentId, deadlineMs }: { readonly intentId: string; readonly deadlineMs: number },
): Promise<LedgerRecord> {
  const { key, record, reason } = creation
  const sendBy = deps.world.steadyNow() + SEND_WITHIN_MS
  const opened = openIntent(record, {
    intentId,
    reason,
    requestDigest: sha256(attemptDigest(creation.fingerprint)),
    revision: creation.revision,
    service: creation.service,
    platformName: creation.platformName,
    fingerprint: creation.fingerprint,
    replaces: record.pipe?.id,
    now: deps.clock.now(),
    sendBy,
    endBy: sendBy + deadlineMs + WRITTEN_MS,
  })
  // Before it is written: from here on, a manifest that looks like this one is a rename, and waits.
  deps.world.note(opened)
  try {
    const message = `The intent is written.${keptWords(record)}`
    const started = historyOf(deps, creation, { result: 'started', intentId, requestId: undefined, message })
    const written = await deps.ledger.swap(opened, [started])
    deps.world.note(written)
    return written
  } catch (error) {
    if (record.version > 0) deps.world.note(record)
    else deps.world.drop(key)
    // If the write reached the disk after all, nothing was sent: say so at the next turn, not OutcomeUnknown.
    const why = 'the intent could not be written'
    rescue.remember(key, unsent(deps, { intentId, opened: undefined, why }))
    throw error
  }
}

/** An id that may be given up is told: it must not get lost silently. */
function keptWords({ pipe }: LedgerRecord): string {
  return pipe === undefined
    ? ''
    : ` Pipe ${pipe.id}, which is not found, is kept until the new one is recorded.`
}

/** The outcome of an intent after which nothing was sent. */
function unsent(
  { clock }: Deps,
  about: Pick<Unsaved, 'intentId' | 'opened'> & { readonly why: string },
): Unsaved {
  const { intentId, opened, why } = about
  const seen: Seen = {
    at: clock.now(),
    httpStatus: undefined,
    requestId: undefined,
    what: `${why}, and nothing was sent`,
    pipeId: undefined,
  }
  return { intentId, opened, end: { type: 'failed', seen }, history: [] }
}

function revealed(secrets: BodySecrets, path: string): string {
  const secret = secrets.values.get(path)
  if (secret === undefined) throw new Error(`no value for the secret at ${path}`)
  return secret.reveal()
}
