import { platformNameOf } from '../kinds/kept-manifest.ts'
import type { Difference } from '../kinds/difference.ts'
import { comparePipe } from '../kinds/pipe/compare.ts'
import { compareEndpoint } from '../kinds/query-endpoint/compare.ts'
import type { Action } from '../plan/action.ts'
import type { Done, Outcome } from '../plan/outcome.ts'
import { driftWords } from '../plan/drift-words.ts'
import { NOTHING_TO_DO } from '../plan/outcome.ts'
import type { LedgerRecord } from '../plan/record.ts'
import type { Assessment } from './assess.ts'
import { createOnce } from './create.ts'
import type { Deps, Turn } from './deps.ts'
import type { HistoryEntry } from './history.ts'
import { kinOf } from './kin.ts'
import { noteFound } from './looks.ts'
import type { Rescue } from './rescue.ts'
import { takeOver } from './take-over.ts'

/** What an action did: the outcome, and the record as it is to be (not yet written, but for a create). */
export interface Acted {
  readonly outcome: Outcome
  readonly record: LedgerRecord
  readonly history: readonly HistoryEntry[]
}

/** Carries out an action; at once when the platform is not needed. Failures are thrown, and become outcomes in `outcome.ts`. */
export function act(
  deps: Deps,
  rescue: Rescue,
  assessment: Assessment,
  action: Action,
  turn: Turn,
): Acted | Promise<Acted> {
  const record = assessment.input.recorded
  switch (action.type) {
    case 'create':
      return create(deps, rescue, assessment, action, turn)
    case 'adopt':
      return adopt(deps, assessment, action, turn)
    case 'upsert':
      return upsert(deps, assessment, action, turn)
    case 'observe':
      return { outcome: NOTHING_TO_DO, record: accepted(record, assessment, action), history: [] }
    case 'report':
    case 'hold':
    case 'refuse':
      return { outcome: NOTHING_TO_DO, record, history: [] }
  }
}

/** An edit that the platform already has becomes what we compare with from now on. */
function accepted(record: LedgerRecord, { input }: Assessment, action: Action): LedgerRecord {
  const { fingerprint } = input.desired
  return action.reason === 'Accepted' && fingerprint !== undefined
    ? { ...record, applied: fingerprint }
    : record
}

async function create(
  deps: Deps,
  rescue: Rescue,
  assessment: Assessment,
  action: Action & { readonly type: 'create' },
  turn: Turn,
): Promise<Acted> {
  const { input, entry, body, secrets, service } = assessment
  const { fingerprint, key } = input.desired
  const manifest = entry?.manifest
  if (manifest?.kind !== 'Pipe' || body === undefined || fingerprint === undefined || !service.usable) {
    throw new Error(`a create of ${key} was decided without a valid manifest`)
  }
  const { record, outcome, pipe } = await createOnce(
    deps,
    rescue,
    {
      key,
      record: input.recorded,
      access: service.access,
      service: service.identity,
      platformName: platformNameOf(manifest),
      body,
      secrets,
      fingerprint,
      revision: entry?.revision ?? '',
      giveUp: action.reason === 'Missing' ? input.recorded.pipe?.id : undefined,
      approved: action.reason === 'RetryApproved' ? input.recorded.intent?.id : undefined,
      isWanted: () => {
        if (deps.world.entry(key)?.digest !== entry?.digest) return false
        if (input.recorded.pipe !== undefined || action.reason === 'RetryApproved') return true
        const kin = kinOf(deps.world, { manifest, desired: input.desired, service })
        return kin?.key === input.surroundings.kin?.key
      },
    },
    turn,
  )
  if (pipe === undefined || outcome.result !== 'done') return { outcome, record, history: [] }
  // The reply is the first look at the pipe: no GET is spent on what it says.
  const differences = comparePipe(body, pipe)
  const state = pipe.state ?? undefined
  noteFound(deps, key, { state, reply: pipe, desired: body, record, entry })
  deps.emit({ type: 'Observed', key, state, differences })
  return { outcome: withDrift(outcome, differences), record, history: [] }
}

async function adopt(
  deps: Deps,
  assessment: Assessment,
  action: Action & { readonly type: 'adopt' },
  turn: Turn,
): Promise<Acted> {
  const { input, entry, body, service } = assessment
  const { fingerprint, key } = input.desired
  const manifest = entry?.manifest
  const { recorded } = input
  if (manifest?.kind !== 'Pipe' || body === undefined || fingerprint === undefined) {
    throw new Error(`an adoption of ${key} was decided without a valid manifest`)
  }
  if (!service.usable) return refusedAdoption(recorded, service.problem, 'ServiceInvalid')
  const taken = await takeOver(
    deps,
    {
      recorded,
      pipeId: action.pipeId,
      access: service.access,
      service: service.identity,
      platformName: platformNameOf(manifest),
      fingerprint,
      revision: entry?.revision ?? '',
    },
    { priority: turn.priority, signal: turn.stopping },
  )
  if (!taken.taken) return refusedAdoption(recorded, taken.why)
  const { pipe, requestId, message, record, history } = taken
  const differences = comparePipe(body, pipe)
  const state = pipe.state ?? undefined
  noteFound(deps, key, { state, reply: pipe, desired: body, record, entry })
  deps.emit({ type: 'Observed', key, state, differences })
  const done: Done = { result: 'done', reason: 'Adopted', message, differences: [], requestId }
  return { outcome: withDrift(done, differences), record, history }
}

function refusedAdoption(
  record: LedgerRecord,
  message: string,
  reason: 'AdoptRefused' | 'ServiceInvalid' = 'AdoptRefused',
): Acted {
  const outcome: Outcome = {
    result: 'failed',
    reason,
    message,
    requestId: undefined,
    retryAfterMs: undefined,
  }
  return { outcome, record, history: [] }
}

async function upsert(
  deps: Deps,
  assessment: Assessment,
  action: Action & { readonly type: 'upsert' },
  turn: Turn,
): Promise<Acted> {
  const { input, entry, body, service } = assessment
  const { fingerprint, key } = input.desired
  if (body === undefined || fingerprint === undefined || !service.usable) {
    throw new Error(`an upsert of ${key} was decided without a valid manifest`)
  }
  const options = { priority: turn.priority, signal: turn.stopping }
  const { value, requestId } = await deps.platform.upsertQueryEndpoint(
    service.access,
    JSON.stringify(body),
    options,
  )
  const at = deps.clock.now()
  const revision = entry?.revision ?? ''
  noteFound(deps, key, { state: undefined, reply: value, desired: body, record: input.recorded, entry })
  const differences = compareEndpoint(body, value)
  const reply = {
    id: value.id,
    roles: value.roles ?? [],
    openApiKeys: value.openApiKeys ?? [],
    allowedOrigins: value.allowedOrigins ?? '',
  }
  const record: LedgerRecord = {
    ...input.recorded,
    service: service.identity,
    applied: fingerprint,
    backoff: undefined,
    upsert: { at, revision, requestId, reply },
  }
  const stalled = differences.length > 0
  const fields = differences.map((d) => d.field).join(', ')
  const message = stalled
    ? `It was applied, but the platform answered with other values for ${fields}. It is applied again at its interval.`
    : 'It was applied.'
  const result = { result: 'done' as const, reason: stalled ? ('Stalled' as const) : ('Applied' as const) }
  const history: HistoryEntry = {
    type: 'action',
    action: 'upsert',
    reason: action.reason,
    result: 'done',
    intentId: undefined,
    key,
    at,
    revision,
    requestId,
    message,
  }
  // A resync that changed nothing is no news.
  const news = action.reason === 'Resync' && !stalled ? [] : [history]
  return { outcome: { ...result, message, differences, requestId }, record, history: news }
}

function withDrift(outcome: Done, differences: readonly Difference[]): Done {
  if (differences.length === 0) return outcome
  return { ...outcome, reason: 'Drifted', differences, message: driftWords(differences) }
}
