import { REASON_SAMPLES } from '../../docs/reason-samples.ts'
import { createSecretMask } from '../../src/lib/mask/secret-mask.ts'
import { ALERT } from '../../src/kinds/profiles/default/alert/kind.ts'
import { PIPE } from '../../src/kinds/profiles/default/pipe/kind.ts'
import { QUERY_ENDPOINT } from '../../src/kinds/profiles/default/query-endpoint/kind.ts'
import { SERVICE } from '../../src/kinds/service/kind.ts'
import { healthyStatesFor } from '../../src/kinds/state.ts'
import type { Difference } from '../../src/kinds/difference.ts'
import type { Key } from '../../src/kinds/key.ts'
import type {
  Reachability,
  ReadOnlyInput,
  Desired,
  UpsertInput,
  Observed,
  CreateOnceInput,
  ReferenceInput,
  Surroundings,
} from '../../src/plan/input.ts'
type Witness = 'answered' | 'silent' | 'nobody'
import type { Because, Reason } from '../../src/plan/reason.ts'
import {
  blankRecord,
  type Fingerprint,
  type Intent,
  type LedgerRecord,
  type Remote,
} from '../../src/plan/record.ts'

export function because(reason: Reason): Because {
  return { reason, facts: REASON_SAMPLES[reason] } as Because // of the same row
}

/** A round moment to count from: ms since the epoch. */
export const NOW = Date.parse('2026-11-21T12:00:00Z')
export const MINUTE = 60_000
export const HOUR = 60 * MINUTE

export const PIPE_ID = '11111111-1111-4111-8111-111111111111'
export const OTHER_ID = '22222222-2222-4222-8222-222222222222'
export const INTENT_ID = '33333333-3333-4333-8333-333333333333'

export const FIELDS: Fingerprint = {
  digest: 'body-1',
  fields: {
    name: 'h-orders',
    'source.kafka.topics': 'h-orders',
    'source.kafka.credentials.password': 'h-ref',
  },
  secrets: { 'source.kafka.credentials.password': 'h-secret-1' },
}

export const EDITED: Fingerprint = {
  ...FIELDS,
  digest: 'body-2',
  fields: { ...FIELDS.fields, 'source.kafka.topics': 'h-returns' },
}

export const ROTATED: Fingerprint = {
  ...FIELDS,
  secrets: { 'source.kafka.credentials.password': 'h-secret-2' },
}

export const DIFFERENCE: Difference = { field: 'scaling.replicas', desired: '2', observed: '1' }

export const FOUND: Observed = { status: 'found', state: 'Running', differences: [] }
export const DIFFERS: Observed = { status: 'found', state: 'Running', differences: [DIFFERENCE] }
/** Three 404s over a minute, and another pipe of the service was found meanwhile. */
export const MISSING: Observed = missed(3, MINUTE)

const ALONE: Surroundings = {
  serviceProblem: undefined,
  claim: undefined,
  holder: undefined,
  lockedId: undefined,
  hiddenLocks: [],
  similar: undefined,
  notReady: [],
  missingSecrets: [],
  missingAt: new Map(),
  createLimit: undefined,
  massMissing: undefined,
  unfound: false,
  isDoubted: false,
  isPartlyRead: false,
  hasTwins: false,
  olderThan: undefined,
  knownIds: [],
  listed: undefined,
}

export function intent(state: Intent['state'], changes: Partial<Intent> = {}): Intent {
  return {
    id: INTENT_ID,
    attempt: 1,
    reason: 'New',
    requestDigest: 'digest',
    revision: 'abc',
    openedAt: NOW - HOUR,
    sendBy: NOW - HOUR + 5_000,
    endBy: NOW - HOUR + 30_000,
    state,
    seen: undefined,
    saidEarlyAt: undefined,
    ...changes,
  }
}

/** A record of a pipe that was created an hour ago, in sync with `FIELDS`. */
export function created(changes: Partial<LedgerRecord> = {}): LedgerRecord {
  return {
    ...blankRecord('Pipe/orders'),
    version: 3,
    remote: recordedPipe(PIPE_ID),
    intent: intent('succeeded'),
    applied: FIELDS,
    ...changes,
  }
}

/** A pipe that was created an hour ago, and seen since. */
export function recordedPipe(id: string, changes: Partial<Remote> = {}): Remote {
  return {
    id,
    origin: 'created',
    at: NOW - HOUR,
    revision: 'abc',
    requestId: undefined,
    seenAt: NOW - HOUR,
    saidGoneAt: undefined,
    refutedAt: undefined,
    ...changes,
  }
}

/** So many 404s in a row over so long, with another pipe found beside all of them unless the witness says otherwise. */
export function missed(count: number, overMs: number, witness: Witness = 'answered'): Observed {
  const besideSince = witness === 'answered' ? 0 : undefined
  const misses = { count, firstAt: 0, lastAt: overMs, besideSince, credential: 'key-1' }
  return { status: 'missing', misses: count === 0 ? undefined : misses, isAlone: witness === 'nobody' }
}

interface Changes {
  readonly desired?: Partial<Desired>
  readonly recorded?: LedgerRecord
  readonly observed?: Observed
  readonly surroundings?: Partial<Surroundings>
}

function common(key: Key, changes: Changes) {
  return {
    desired: {
      key,
      state: 'valid' as const,
      problem: undefined,
      mistake: undefined,
      fingerprint: FIELDS,
      unsetHash: () => undefined,
      otherService: false,
      ...changes.desired,
    },
    recorded: changes.recorded ?? blankRecord(key),
    observed: changes.observed ?? ({ status: 'unseen' } as const),
    surroundings: { ...ALONE, ...changes.surroundings },
    timing: { intervalMs: 5 * MINUTE, resyncMs: HOUR },
    healthyStates: undefined,
    knownStates: undefined,
    now: NOW,
    mask: createSecretMask().mask,
    steadyNow: NOW,
  }
}

export function pipe(
  changes: Changes & {
    readonly policy?: CreateOnceInput['policy']
    /** Of the installation. */
    readonly healthyStates?: readonly string[]
  } = {},
): CreateOnceInput {
  const policy = changes.policy ?? {}
  return {
    ...common('Pipe/orders', changes),
    lifecycle: 'create-once',
    kind: PIPE,
    policy,
    healthyStates: healthyStatesFor(policy.healthyStates, changes.healthyStates),
  }
}

type PipeChanges = NonNullable<Parameters<typeof pipe>[0]>

/** A pipe that was created, and is there as it was asked for. */
export function found(changes: PipeChanges = {}): CreateOnceInput {
  return pipe({ recorded: created(), observed: FOUND, ...changes })
}

/** A pipe that was created, and is gone. */
export function missing(changes: PipeChanges = {}): CreateOnceInput {
  return pipe({ recorded: created(), observed: MISSING, ...changes })
}

export function endpoint(
  changes: Changes &
    Partial<
      Pick<
        UpsertInput,
        'policy' | 'kind' | 'replyDiffers' | 'takesAway' | 'gives' | 'isAsLeft' | 'isOvertaken' | 'steadyNow'
      >
    > = {},
): UpsertInput {
  return {
    ...common('QueryEndpoint/analytics', changes),
    lifecycle: 'upsert',
    kind: changes.kind ?? QUERY_ENDPOINT,
    policy: changes.policy ?? {},
    replyDiffers: changes.replyDiffers ?? [],
    takesAway: changes.takesAway ?? [],
    gives: changes.gives ?? [],
    isAsLeft: changes.isAsLeft ?? false,
    isOvertaken: changes.isOvertaken ?? false,
    removal: { claimant: undefined, limit: undefined, isAllowed: false },
    steadyNow: changes.steadyNow ?? NOW,
  }
}

export function alert(
  changes: Changes & { readonly policy?: ReadOnlyInput['policy']; readonly watchedId?: string } = {},
): ReadOnlyInput {
  return {
    ...common('Alert/lag', changes),
    lifecycle: 'read-only',
    kind: ALERT,
    watchedId: changes.watchedId,
    policy: changes.policy ?? {},
    healthyStates: healthyStatesFor(changes.policy?.healthyStates, undefined),
  }
}

export function service(
  changes: Changes & { readonly contact?: Reachability | undefined } = {},
): ReferenceInput {
  return {
    ...common('Service/analytics', changes),
    lifecycle: 'reference',
    kind: SERVICE,
    policy: {},
    contact: 'contact' in changes ? changes.contact : { type: 'answered' },
  }
}

export function appliedEndpoint(agoMs: number): LedgerRecord {
  return {
    ...blankRecord('QueryEndpoint/analytics'),
    version: 2,
    applied: FIELDS,
    upsert: {
      at: NOW - agoMs,
      revision: 'abc',
      requestId: undefined,
      reply: { id: 'e1', roles: [], openApiKeys: [], allowedOrigins: '' },
    },
  }
}
