import type { Key } from '../kinds/key.ts'
import type { ObservedPipe } from '../kinds/observed.ts'
import { withSecrets } from '../kinds/secrets-in.ts'
import { sha256 } from '../lib/digest.ts'
import type { Outcome } from '../plan/outcome.ts'
import type { Fingerprint, Intent, LedgerRecord, ServiceIdentity } from '../plan/record.ts'
import { attemptDigest } from '../plan/gates.ts'
import { outcomeUnknownWords } from '../plan/outcome-unknown.ts'
import { failIntent, leaveIntentUnknown, openIntent, succeedIntent } from '../plan/transitions.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Deps, Turn } from './deps.ts'
import type { HistoryEntry } from './history.ts'
import { createOutcomeOf } from './outcome.ts'
import type { CreatePermit, Reply, ServiceAccess } from './ports.ts'
import type { Rescue, Unsaved } from './rescue.ts'
import type { BodySecrets } from './secrets.ts'

/** What is to be created. */
export interface Creation {
  readonly key: Key
  readonly record: LedgerRecord
  readonly access: ServiceAccess
  readonly service: ServiceIdentity
  readonly platformName: string
  readonly body: JsonObject
  readonly secrets: BodySecrets
  readonly fingerprint: Fingerprint
  readonly revision: string
  readonly giveUp: string | undefined
  readonly approved: string | undefined
  /** Whether the manifest that this was decided from is still there, as it was. */
  readonly isWanted: () => boolean
}

/** The manifest changed while a create waited for its turn: nothing was sent, and it is decided anew. */
export class DecisionOutdated extends Error {
  constructor(key: Key) {
    super(`the manifest of ${key} changed before its create was sent`)
    this.name = 'DecisionOutdated'
  }
}

export interface Created {
  readonly record: LedgerRecord
  readonly outcome: Outcome
  readonly pipe: ObservedPipe | undefined
}

/**
 * Creates one pipe, exactly once (design §5): a place in the budget, a durable intent, one POST, a durable outcome.
 * The stop signal is heard only before the intent; from there on the request ends by its own deadline.
 * @throws {LedgerError} {@link LedgerConflict} {@link DecisionOutdated} before anything was sent
 */
export async function createOnce(
  deps: Deps,
  rescue: Rescue,
  creation: Creation,
  turn: Turn,
): Promise<Created> {
  const { access } = creation
  const permit = await deps.platform.admitCreate(access, { priority: turn.priority, signal: turn.stopping })
  const text = JSON.stringify(withSecrets(creation.body, (path) => revealed(creation.secrets, path)))
  await deps.fail?.('before-intent')
  turn.stopping.throwIfAborted()
  // The wait may have been long. A manifest that was renamed meanwhile is another key's to create.
  if (!creation.isWanted()) throw new DecisionOutdated(creation.key)
  return rescue.during(creation.key, () => sendOnce(deps, rescue, creation, { permit, text }))
}

async function sendOnce(
  deps: Deps,
  rescue: Rescue,
  creation: Creation,
  { permit, text }: { readonly permit: CreatePermit; readonly text: string },
): Promise<Created> {
  const { key } = creation
  const intentId = deps.newId()
  const opened = await recordIntent(deps, rescue, creation, intentId)
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

  let reply: Reply<ObservedPipe>
  try {
    reply = await permit.send(text, intentId)
  } catch (error) {
    return settleFailure(deps, rescue, { creation, opened, intent }, createOutcomeOf(error, deps.clock.now()))
  }
  return settleSuccess(deps, rescue, { creation, opened, intent }, reply)
}

async function recordIntent(
  deps: Deps,
  rescue: Rescue,
  creation: Creation,
  intentId: string,
): Promise<LedgerRecord> {
  const opened = openIntent(creation.record, {
    intentId,
    requestDigest: sha256(attemptDigest(creation.fingerprint)),
    revision: creation.revision,
    service: creation.service,
    platformName: creation.platformName,
    fingerprint: creation.fingerprint,
    giveUp: creation.giveUp,
    approved: creation.approved,
    now: deps.clock.now(),
  })
  // Before it is written: from here on, a manifest that looks like this one is a rename, and waits.
  deps.world.note(opened)
  try {
    const written = await deps.ledger.swap(opened, [
      historyOf(deps, creation, {
        result: 'started',
        intentId,
        requestId: undefined,
        message: 'The intent is written.',
      }),
    ])
    deps.world.note(written)
    return written
  } catch (error) {
    if (creation.record.version > 0) deps.world.note(creation.record)
    else deps.world.drop(creation.key)
    // If the write reached the disk after all, nothing was sent: say so at the next turn, not OutcomeUnknown.
    const why = 'the intent could not be written'
    rescue.remember(creation.key, unsent(deps, { intentId, opened: undefined, why }))
    throw error
  }
}

interface Attempt {
  readonly creation: Creation
  readonly opened: LedgerRecord
  readonly intent: Intent
}

async function settleSuccess(
  deps: Deps,
  rescue: Rescue,
  { creation, opened, intent }: Attempt,
  reply: Reply<ObservedPipe>,
): Promise<Created> {
  const { key, revision } = creation
  const { requestId, value } = reply
  const pipe = { id: value.id, origin: 'created' as const, at: deps.clock.now(), revision, requestId }
  const message = `Pipe ${value.id} was created.`
  const unsaved: Unsaved = {
    intentId: intent.id,
    opened,
    settle: (current, own) => succeedIntent(current, own, pipe),
    history: [historyOf(deps, creation, { result: 'done', intentId: intent.id, requestId, message })],
  }
  // Whatever goes wrong from here on, the id is not forgotten.
  rescue.remember(key, unsaved)
  await deps.fail?.('before-id')
  const record = await rescue.persist(key, unsaved)
  if (record !== undefined) await deps.fail?.('after-id')
  await deps.fail?.('before-outcome')
  const facts = { key, intentId: intent.id, pipeId: value.id, requestId, revision } as const
  if (record === undefined) {
    const lost = `Pipe ${value.id} was created, but the ledger cannot be written; the id is kept in memory and tried again.`
    deps.emit({ type: 'CreateFinished', outcome: 'unknown', message: lost, ...facts })
    await deps.fail?.('after-outcome')
    const outcome: Outcome = {
      result: 'failed',
      reason: 'LedgerFailed',
      message: lost,
      requestId,
      retryAfterMs: 1_000,
    }
    return { record: opened, outcome, pipe: undefined }
  }
  deps.emit({ type: 'CreateFinished', outcome: 'created', message, ...facts })
  await deps.fail?.('after-outcome')
  const outcome: Outcome = { result: 'done', reason: 'Created', message, differences: [], requestId }
  return { record, outcome, pipe: value }
}

async function settleFailure(
  deps: Deps,
  rescue: Rescue,
  { creation, opened, intent }: Attempt,
  outcome: Outcome,
): Promise<Created> {
  if (outcome.result !== 'failed' && outcome.result !== 'unknown')
    throw new Error('a failed create has no other outcome')
  const { key, revision } = creation
  const { requestId, result } = outcome
  const seen =
    outcome.result === 'unknown'
      ? outcome.seen
      : { at: deps.clock.now(), httpStatus: undefined, requestId, what: outcome.message }
  // Whoever reads of it, in the log, the history or the status, reads the ways out with it.
  const message = result === 'unknown' ? outcomeUnknownWords(key, { ...intent, seen }) : outcome.message
  const settle = result === 'unknown' ? leaveIntentUnknown : failIntent
  const record = await rescue.persist(key, {
    intentId: intent.id,
    opened,
    settle: (current, own) => settle(current, own, seen),
    history: [historyOf(deps, creation, { result, intentId: intent.id, requestId, message })],
  })
  await deps.fail?.('before-outcome')
  deps.emit({
    type: 'CreateFinished',
    key,
    intentId: intent.id,
    outcome: result,
    pipeId: undefined,
    requestId,
    message,
    revision,
  })
  await deps.fail?.('after-outcome')
  return { record: record ?? opened, outcome: { ...outcome, message }, pipe: undefined }
}

function historyOf(
  deps: Deps,
  { key, revision }: Creation,
  what: {
    readonly result: 'started' | 'done' | 'failed' | 'unknown'
    readonly intentId: string
    readonly requestId: string | undefined
    readonly message: string
  },
): HistoryEntry {
  const action = what.result === 'started' ? 'intent' : 'create'
  return { type: 'action', action, reason: 'New', key, at: deps.clock.now(), revision, ...what }
}

/** The outcome of an intent after which nothing was sent. */
function unsent(
  { clock }: Deps,
  about: Pick<Unsaved, 'intentId' | 'opened'> & { readonly why: string },
): Unsaved {
  const { intentId, opened, why } = about
  const seen = {
    at: clock.now(),
    httpStatus: undefined,
    requestId: undefined,
    what: `${why}, and nothing was sent`,
  }
  return { intentId, opened, settle: (record, own) => failIntent(record, own, seen), history: [] }
}

function revealed(secrets: BodySecrets, path: string): string {
  const secret = secrets.values.get(path)
  if (secret === undefined) throw new Error(`no value for the secret at ${path}`)
  return secret.reveal()
}
