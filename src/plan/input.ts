import type { RawText, SecretMask } from '../lib/mask/secret-mask.ts'
import type { Changes, Compared } from '../kinds/changes.ts'
import type { Difference } from '../kinds/difference.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Key } from '../kinds/key.ts'
import type { CreateOnceKind, ReadOnlyKind, ReferenceKind, UpsertKind } from '../kinds/definition.ts'
import type { Policy } from '../kinds/manifest.ts'
import type { HealthyStates, KnownStates } from '../kinds/state.ts'
import type { MassMissing, Misses } from './missing.ts'
import type { FactsOf } from './reason.ts'
import type { MissingSecret } from './reasons/requests.ts'
import type { ServiceProblem } from './reasons/refusing.ts'
import type { Fingerprint, LedgerRecord } from './record.ts'

export interface Desired {
  readonly key: Key
  /** `missing`: one or two reads did not find the manifest. `absent`: three reads did not. */
  readonly state: 'valid' | 'invalid' | 'missing' | 'absent'
  readonly problem: string | undefined
  readonly mistake: string | undefined
  readonly fingerprint: Fingerprint | undefined
  /** The hash of a field's value that counts as not set. */
  readonly unsetHash: (field: string) => string | undefined
  readonly otherService: boolean
}

export type Observed =
  | { readonly status: 'unseen' }
  | {
      readonly status: 'found'
      readonly state: RawText | undefined
      readonly differences: readonly Difference[]
      /** The unmasked reply. Used for changes, never shown. */
      readonly there?: JsonObject | undefined
    }
  /** A 404 of the platform, not of a proxy. */
  | {
      readonly status: 'missing'
      /** Includes this 404. Undefined if the pipe was recorded less than a minute ago. */
      readonly misses: Misses | undefined
      readonly isAlone: boolean
    }

export function stateIn(observed: Observed): RawText | undefined {
  return observed.status === 'found' ? observed.state : undefined
}

export function differencesIn(observed: Observed): readonly Difference[] {
  return observed.status === 'found' ? observed.differences : []
}

/** A listed pipe without a record that might be this key's pipe. */
export interface ListedCandidate {
  readonly id: string
  readonly listedAs: string | undefined
  readonly differs: readonly string[]
}

/** The list of the service, read if the pipe is missing, unrecorded or to be replaced. */
export interface Listed {
  readonly name: string
  readonly candidates: readonly ListedCandidate[]
  readonly hasOwn: boolean
  /** Set if the list lacks too many recorded pipes. */
  readonly doubtful: MassMissing | undefined
}

export interface Surroundings {
  readonly serviceProblem: ServiceProblem | undefined
  readonly claim: Claim | undefined
  /** Another key that has or had the recorded pipe. */
  readonly holder: Key | undefined
  readonly lockedId: string | undefined
  readonly hiddenLocks: readonly string[]
  readonly similar: Similar | undefined
  readonly unfound: boolean
  readonly isDoubted: boolean
  /** A file that could not be read might claim the pipe. */
  readonly isPartlyRead: boolean
  /** Two documents contradict each other: one is not used. */
  readonly hasTwins: boolean
  /** The revision that another process acted on, if this checkout might be older. */
  readonly olderThan: string | undefined
  readonly notReady: readonly Key[]
  readonly missingSecrets: readonly MissingSecret[]
  readonly missingAt: ReadonlyMap<string, MissingSecret>
  readonly createLimit: FactsOf<'CreateLimit'> | undefined
  readonly massMissing: (MassMissing & { readonly group: 'service' | 'credential' }) | undefined
  /** Recorded pipes with the same name and service. Empty, unless the outcome of a create is unknown. */
  readonly knownIds: readonly string[]
  readonly listed: Listed | undefined
}

/**
 * Another key's record that blocks a create.
 * - `unclaimed`: the record has a similar pipe, and no manifest.
 * - `claimed`: the record has a similar pipe, and a manifest.
 * - `renamed-from`: this manifest names the record or its pipe, but the record cannot move to this key yet.
 */
export interface Similar {
  readonly key: Key
  readonly how: 'unclaimed' | 'claimed' | 'renamed-from'
  readonly file: string | undefined
  readonly platformName?: string | undefined
  readonly foreign?: readonly string[] | undefined
  /** Has the body or pipe of this manifest. It moves to this key once its manifest is removed. */
  readonly isSame?: boolean | undefined
  readonly by?: 'policy.renamedFrom' | 'policy.adopt' | 'a Lock' | undefined
  readonly rival?: Key | undefined
}

/** Another key whose manifest claims this pipe `by` its id, or only by an equal spec. */
export interface Claim {
  readonly key: Key
  readonly by: Similar['by']
}

export interface Timing {
  readonly intervalMs: number
  readonly resyncMs: number
}

interface Common {
  readonly policy: Policy
  readonly desired: Desired
  readonly recorded: LedgerRecord
  readonly observed: Observed
  readonly surroundings: Surroundings
  readonly timing: Timing
  readonly healthyStates: HealthyStates | undefined
  readonly knownStates: KnownStates | undefined
  /** ms since the epoch. */
  readonly now: number
  /** Masks texts that are shown. Decisions use the raw texts. */
  readonly mask: SecretMask['mask']
  /** ms since the epoch, unaffected by later clock changes. */
  readonly steadyNow: number
  /** A person asked for this reconcile, or credentials changed. Ends the back-off. */
  readonly isAsked?: boolean | undefined
}

export interface ChangeContext {
  readonly changes: Changes
  readonly compared: Compared
}

export interface CreateOnceInput extends Common {
  readonly lifecycle: 'create-once'
  readonly kind: CreateOnceKind
  readonly compared?: Compared | undefined
  /** Fields that changed since the pipe was last in sync. Undefined: it never was. */
  readonly changedSince?: readonly string[] | undefined
  readonly removal?: DeletionFacts | undefined
  /** Fields that an undone edit added. */
  readonly added?: readonly string[] | undefined
  /** Whether the list might show the missing pipe, before its record is removed. */
  readonly mightBeListed?: boolean | undefined
}

export interface UpsertInput extends Common {
  readonly lifecycle: 'upsert'
  readonly kind: UpsertKind
  readonly replyDiffers: readonly Difference[]
  readonly takesAway: readonly string[]
  readonly gives: readonly string[]
  /** Whether the last read equals the reply to the last upsert. */
  readonly isAsLeft: boolean
  /** Whether a late request of the previous leader might have changed the resource. */
  readonly isOvertaken: boolean
  readonly removal: DeletionFacts
}

export interface DeletionFacts {
  readonly claimant: Key | undefined
  readonly limit: FactsOf<'DeleteLimit'> | undefined
  readonly isAllowed: boolean
}

export interface ReadOnlyInput extends Common {
  readonly lifecycle: 'read-only'
  readonly kind: ReadOnlyKind
  readonly watchedId: string | undefined
}

export interface ReferenceInput extends Common {
  readonly lifecycle: 'reference'
  readonly kind: ReferenceKind
  readonly contact: Reachability | undefined
}

/** The end of the last request. `edited`: since then, the Service has other ids or credentials. */
export type Reachability =
  | { readonly type: 'answered' | 'edited' }
  | { readonly type: 'refused'; readonly what: 'the credentials' | 'an operation'; readonly said: string }
  | { readonly type: 'unreachable'; readonly said: string }

export type DecideInput = CreateOnceInput | UpsertInput | ReadOnlyInput | ReferenceInput
