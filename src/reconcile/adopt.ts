import { isCreateOnce, remoteNameOf } from '../kinds/lookup.ts'
import type { Action } from '../plan/action.ts'
import type { Done, Outcome } from '../plan/outcome.ts'
import { undecidedIntent, unknownFacts } from '../plan/outcome-unknown.ts'
import { messageOf } from '../plan/reason.ts'
import type { LedgerRecord } from '../plan/record.ts'
import { replacedAfter } from '../plan/replacement.ts'
import { disprovePipeId, succeedIntent } from '../plan/transitions.ts'
import { recordedAccess } from './access.ts'
import { DecisionOutdated, type Acted } from './acted.ts'
import type { Assessment } from './assess.ts'
import type { Deps, Turn } from './deps.ts'
import { readRepliedId } from './found-by-read.ts'
import type { HistoryEntry } from './history.ts'
import { noteReply } from './looks.ts'
import { takeOver } from './take-over.ts'

/** Takes over the pipe that a manifest, a Lock or an unfinished reply names. */
export async function adopt(
  deps: Deps,
  assessment: Assessment,
  action: Action & { readonly type: 'adopt' },
  turn: Turn,
): Promise<Acted> {
  const { input, entry, body, service } = assessment
  const { fingerprint, key } = input.desired
  const manifest = entry?.manifest
  const { recorded } = input
  if (manifest === undefined || !isCreateOnce(manifest) || body === undefined || fingerprint === undefined) {
    throw new Error(`an adoption of ${key} was decided without a valid manifest`)
  }
  if (action.reason === 'FoundByRead') return adoptByRead(deps, assessment, action, turn)
  if (!service.usable) return refusedAdoption(recorded, service.problem, 'ServiceInvalid')
  const taken = await takeOver(
    deps,
    {
      recorded,
      pipeId: action.pipeId,
      access: service.access,
      service: service.identity,
      platformName: remoteNameOf(manifest),
      fingerprint,
      revision: entry?.revision ?? '',
    },
    { priority: turn.priority, signal: turn.stopping },
  )
  // The answer took its time: the manifest, or a Lock, may name another pipe by now.
  if (!isStillAsked(deps, assessment)) throw new DecisionOutdated(key)
  if (!taken.taken) return refusedAdoption(recorded, taken.why)
  const { reply, because, record, history } = taken
  const { requestId } = reply
  const done: Done = { result: 'done', ...because, differences: [], requestId }
  return { outcome: noteReply(deps, { key, entry, body, reply }, done), record, history }
}

function isStillAsked({ world }: Deps, { input, entry }: Assessment): boolean {
  const { key, state } = input.desired
  const isSame = world.entry(key)?.digest === entry?.digest && world.desiredState(key) === state
  return isSame && world.catalog?.locks.get(key) === input.surroundings.lockedId
}

/** One reading settles a create whose reply held an id, and was no proof (design §5.4). */
async function adoptByRead(
  deps: Deps,
  { input, entry, body = {}, service }: Assessment,
  action: Action & { readonly type: 'adopt' },
  turn: Turn,
): Promise<Acted> {
  const { recorded, desired, surroundings } = input
  const { key } = desired
  const intent = undecidedIntent(recorded)
  const access = recordedAccess(deps.world, recorded, service)
  if (intent === undefined) throw new Error(`${key} was decided to be read, and has no unknown outcome`)
  const { pipeId } = action
  const revision = entry?.revision ?? ''
  const options = { priority: turn.priority, signal: turn.stopping }
  const read =
    access === undefined
      ? ({ is: 'not known' } as const)
      : await readRepliedId(deps, { recorded, intent, access, pipeId, revision }, options)
  if (read.is !== 'the new pipe') {
    const record = read.is === 'another' ? disprovePipeId(recorded, intent) : recorded
    const facts = unknownFacts(recorded, intent, surroundings.knownIds)
    const seen = intent.seen ?? {
      at: deps.clock.now(),
      httpStatus: undefined,
      requestId: undefined,
      what: '',
      pipeId,
    }
    return { outcome: { result: 'unknown', facts, requestId: seen.requestId, seen }, record, history: [] }
  }
  const { pipe, reply } = read
  const { requestId } = reply
  const replaced = replacedAfter(recorded.replaced, recorded.former?.pipe.id, deps.world.steadyNow())
  const record = succeedIntent(recorded, intent, { pipe, replaced })
  const because = { reason: 'FoundByRead', facts: { pipeId: pipe.id } } as const
  const history: HistoryEntry = {
    type: 'action',
    action: 'adopt',
    reason: because.reason,
    result: 'done',
    intentId: intent.id,
    key,
    at: pipe.at,
    revision,
    requestId,
    message: messageOf(because),
  }
  const done: Done = { result: 'done', ...because, differences: [], requestId }
  return { outcome: noteReply(deps, { key, entry, body, reply }, done), record, history: [history] }
}

function refusedAdoption(
  record: LedgerRecord,
  said: string,
  reason: 'AdoptRefused' | 'ServiceInvalid' = 'AdoptRefused',
): Acted {
  const outcome: Outcome = {
    result: 'failed',
    reason,
    facts: { said },
    requestId: undefined,
    retryAfterMs: undefined,
  }
  return { outcome, record, history: [] }
}
