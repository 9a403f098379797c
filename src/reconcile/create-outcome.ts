import type { Key } from '../kinds/key.ts'
import type { RemoteResource } from '../kinds/remote-resource.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Failed, Outcome, Unknown } from '../plan/outcome.ts'
import { unknownFacts } from '../plan/outcome-unknown.ts'
import { messageOf, type Because, type Reason } from '../plan/reason.ts'
import type {
  Fingerprint,
  Intent,
  LedgerRecord,
  RecordedPipe,
  Seen,
  ServiceIdentity,
} from '../plan/record.ts'
import type { Deps, Turn } from './deps.ts'
import { readRepliedId, type ReadOfId } from './found-by-read.ts'
import type { HistoryEntry } from './history.ts'
import type { RemoteFailure } from './outcome.ts'
import { forgetMisses } from './looks.ts'
import type { Reply, ServiceAccess } from './ports.ts'
import type { CreateEnd, Rescue, Unsaved } from './rescue.ts'
import type { BodySecrets } from './secrets.ts'
import { knownIds } from './surroundings.ts'
import { unsavedBecause, unsavedOutcome } from './unsaved-words.ts'

/* What a request to create a pipe came to: written down before it is told (design §5.3, §5.4). */

/** What is to be created. */
export interface Creation {
  readonly key: Key
  readonly reason: Reason
  readonly record: LedgerRecord
  readonly service: ServiceIdentity
  readonly platformName: string
  readonly body: JsonObject
  readonly secrets: BodySecrets
  readonly fingerprint: Fingerprint
  readonly revision: string
  /** When it was begun to gather what this was decided on; on the monotonic clock, ms. */
  readonly since: number
}

export interface Created {
  readonly record: LedgerRecord
  readonly outcome: Outcome
  /** The reply, when the pipe is known to be there, and is not recorded by somebody else. */
  readonly reply: Reply<RemoteResource> | undefined
}

/** A request that was sent, once. */
export interface Attempt {
  readonly creation: Creation
  readonly opened: LedgerRecord
  readonly intent: Intent
  readonly access: ServiceAccess
  readonly turn: Turn
}

/** The platform says that there is a new pipe, and nothing speaks against it. */
export function settleSuccess(
  deps: Deps,
  rescue: Rescue,
  attempt: Attempt,
  reply: Reply<RemoteResource>,
): Promise<Created> {
  const { creation } = attempt
  const { requestId, value } = reply
  const pipe: RecordedPipe = {
    id: value.id,
    origin: 'created',
    at: deps.clock.now(),
    revision: creation.revision,
    requestId,
    seenAt: undefined,
    saidGoneAt: undefined,
    refutedAt: undefined,
  }
  const facts = { pipeId: value.id, inPlaceOf: creation.record.pipe?.id }
  return settleCreated(deps, rescue, attempt, { pipe, reply, why: { reason: 'Created', facts } })
}

/** The id is durable before anything else happens to it. */
async function settleCreated(
  deps: Deps,
  rescue: Rescue,
  attempt: Attempt,
  created: {
    readonly pipe: RecordedPipe
    readonly reply: Reply<RemoteResource>
    readonly why: Because<'Created' | 'FoundByRead'>
  },
): Promise<Created> {
  const { creation, opened, intent } = attempt
  const { pipe, reply, why } = created
  const message = messageOf(why)
  const { key, revision } = creation
  const { requestId } = reply
  const end = { type: 'created', pipe } as const
  const reason = why.reason === 'FoundByRead' ? why.reason : creation.reason
  const unsaved = unsavedOf(
    deps,
    { ...attempt, creation: { ...creation, reason } },
    { end, requestId, message },
  )
  // Whatever goes wrong from here on, the id is not forgotten.
  rescue.remember(key, unsaved)
  await deps.fail?.('before-id')
  const record = await rescue.persist(key, unsaved)
  if (record !== undefined) await deps.fail?.('after-id')
  await deps.fail?.('before-outcome')
  const facts = { key, intentId: intent.id, pipeId: pipe.id, requestId, revision } as const
  if (record === undefined) {
    const lost = unsavedBecause(key, unsaved.end)
    deps.emit({ type: 'CreateFinished', outcome: 'unknown', message: messageOf(lost), ...facts })
    await deps.fail?.('after-outcome')
    return { record: opened, outcome: unsavedOutcome(lost, requestId), reply: undefined }
  }
  deps.emit({ type: 'CreateFinished', outcome: 'created', message, ...facts })
  await deps.fail?.('after-outcome')
  const outcome: Outcome = { result: 'done', ...why, differences: [], requestId }
  return { record, outcome, reply: record.pipe?.id === pipe.id ? reply : undefined }
}

/** It certainly had no effect. The id that was to be replaced is the key's again. */
export async function settleFailure(
  deps: Deps,
  rescue: Rescue,
  attempt: Attempt,
  outcome: RemoteFailure,
): Promise<Created> {
  const { creation, opened } = attempt
  const { requestId } = outcome
  const kept = creation.record.pipe === undefined ? '' : ` Pipe ${creation.record.pipe.id} is kept.`
  const said = messageOf(outcome)
  const message = `${said}${kept}`
  const seen: Seen = {
    at: deps.clock.now(),
    httpStatus: undefined,
    requestId,
    what: said,
    pipeId: undefined,
  }
  const unsaved = unsavedOf(deps, attempt, { end: { type: 'failed', seen }, requestId, message })
  const record = await rescue.persist(creation.key, unsaved)
  forgetMisses(deps, creation.key)
  return finish(deps, attempt, {
    outcome: { ...outcome, facts: { said: message } },
    record: record ?? opened,
    pipeId: undefined,
  })
}

/** It may have worked. Where the reply held an id, one reading tells whether it did. */
export async function settleUnknown(
  deps: Deps,
  rescue: Rescue,
  attempt: Attempt,
  outcome: Omit<Unknown, 'facts'>,
): Promise<Created> {
  const { creation, opened, intent } = attempt
  const { key } = creation
  const { requestId } = outcome
  const { pipeId } = outcome.seen
  const isFree = pipeId !== undefined && deps.world.holderOf(pipeId, key) === undefined
  const seen = { ...outcome.seen, pipeId: isFree ? pipeId : undefined }
  const facts = unknownFacts(opened, { ...intent, state: 'unknown', seen }, knownIds(deps.world, opened))
  // Whoever reads of it, in the log, the history or the status, reads the ways out with it.
  const message = messageOf({ reason: 'OutcomeUnknown', facts })
  const unsaved = unsavedOf(deps, attempt, { end: { type: 'unknown', seen }, requestId, message })
  const record = await rescue.persist(key, unsaved)
  if (record !== undefined && isFree) {
    const read = await readAtOnce(deps, { ...attempt, opened: record }, pipeId)
    if (read?.is === 'the new pipe') {
      const why = { reason: 'FoundByRead', facts: { pipeId } } as const
      return settleCreated(deps, rescue, { ...attempt, opened: record }, { ...read, why })
    }
  }
  return finish(deps, attempt, {
    outcome: { ...outcome, seen, facts },
    record: record ?? opened,
    pipeId: seen.pipeId,
  })
}

/** So long a create waits for the reading of an id that its reply held, ms; then the next look at the key does it. */
const READ_WITHIN_MS = 30_000

async function readAtOnce(
  deps: Deps,
  { creation, opened, intent, turn, access }: Attempt,
  pipeId: string,
): Promise<ReadOfId | undefined> {
  const limit = new AbortController()
  const cancel = deps.clock.after(READ_WITHIN_MS, () =>
    limit.abort(new DOMException('too late', 'AbortError')),
  )
  try {
    const signal = AbortSignal.any([turn.stopping, limit.signal])
    const replied = { recorded: opened, intent, access, pipeId, revision: creation.revision }
    return await readRepliedId(deps, replied, { priority: turn.priority, signal })
  } catch (error) {
    if (turn.stopping.aborted || limit.signal.aborted) return undefined
    throw error
  } finally {
    cancel()
  }
}

async function finish(
  deps: Deps,
  { creation, intent }: Attempt,
  settled: {
    readonly outcome: Failed | Unknown
    readonly record: LedgerRecord
    readonly pipeId: string | undefined
  },
): Promise<Created> {
  const { key, revision } = creation
  const { outcome, record, pipeId } = settled
  await deps.fail?.('before-outcome')
  const { result, requestId } = outcome
  const message = messageOf(outcome.result === 'failed' ? outcome : { reason: 'OutcomeUnknown', ...outcome })
  deps.emit({
    type: 'CreateFinished',
    key,
    intentId: intent.id,
    outcome: result,
    pipeId,
    requestId,
    message,
    revision,
  })
  await deps.fail?.('after-outcome')
  return { record, outcome, reply: undefined }
}

function unsavedOf(
  deps: Deps,
  { creation, opened, intent }: Attempt,
  about: { readonly end: CreateEnd; readonly requestId: string | undefined; readonly message: string },
): Unsaved {
  const { end, requestId, message } = about
  const result = end.type === 'created' ? 'done' : end.type
  const history = historyOf(deps, creation, { result, intentId: intent.id, requestId, message })
  return { intentId: intent.id, opened, end, history: [history] }
}

export function historyOf(
  deps: Deps,
  { key, revision, reason }: Creation,
  what: {
    readonly result: 'started' | 'done' | 'failed' | 'unknown'
    readonly intentId: string
    readonly requestId: string | undefined
    readonly message: string
  },
): HistoryEntry {
  const action = what.result === 'started' ? 'intent' : 'create'
  return { type: 'action', action, reason, key, at: deps.clock.now(), revision, ...what }
}
