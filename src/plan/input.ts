import type { RawText, SecretMask } from '../lib/mask/secret-mask.ts'
import type { Compared } from '../kinds/changes.ts'
import type { Difference } from '../kinds/difference.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Key } from '../kinds/key.ts'
import type { CreateOnceKind, ReadOnlyKind, ReferenceKind, UpsertKind } from '../kinds/definition.ts'
import type { Policy } from '../kinds/manifest.ts'
import type { HealthyStates, KnownStates } from '../kinds/state.ts'
import type { MassMissing, Misses, Witness } from './missing.ts'
import type { FactsOf } from './reason.ts'
import type { MissingSecret } from './reasons/missing-secret.ts'
import type { Fingerprint, LedgerRecord } from './record.ts'

/** What the manifest asks for, as far as a decision needs it. */
export interface Desired {
  readonly key: Key
  /** As `Entry.state`, and `absent` once three readings agreed that the manifest is gone. */
  readonly state: 'valid' | 'invalid' | 'missing' | 'absent'
  /** What is wrong with an invalid one, in words, with its place; undefined otherwise. */
  readonly problem: string | undefined
  /** The same without its place. */
  readonly mistake: string | undefined
  /** Of the (last valid) manifest; undefined when there is none. */
  readonly fingerprint: Fingerprint | undefined
  /** The service is another one than the record says. */
  readonly otherService: boolean
}

/** What the platform says now. */
export type Observed =
  /** It was not asked: there is nothing to ask for yet, or it cannot be asked. */
  | { readonly status: 'unseen' }
  | {
      readonly status: 'found'
      readonly state: RawText | undefined
      readonly differences: readonly Difference[]
      /** As it came, where what is found can be changed; never shown. */
      readonly there?: JsonObject | undefined
    }
  /** A 404 of the platform's own. */
  | {
      readonly status: 'missing'
      /** With this one; undefined when it came too soon after the creation to count. */
      readonly misses: Misses | undefined
      readonly witness: Witness
    }

/** A pipe of the name that is asked for, or that it had before, or listed without one, which no record holds. */
export interface Candidate {
  readonly id: string
  /** Its name, if it is listed with one. */
  readonly listedAs: string | undefined
  /** Fields that it returns with another value than the manifest has. */
  readonly differs: readonly string[]
}

/** What a list of all pipes of the service says, for a key without a pipe, or whose pipe is not found or may be replaced. */
export interface Listed {
  /** The name that is asked for. */
  readonly name: string
  readonly candidates: readonly Candidate[]
  /** The pipe that was not found is in the list. */
  readonly hasOwn: boolean
  /** How many recorded pipes are not in the list, when that is too many to believe it. */
  readonly doubtful: MassMissing | undefined
}

/** What else bears on a decision: the rest of the catalog, the ledger and the mounted secrets. */
export interface Surroundings {
  /** Why the Service cannot be used; undefined when it can. */
  readonly serviceProblem: string | undefined
  /** The id that a Lock names for this key. */
  readonly lockedId: string | undefined
  /** Files that may hold a Lock which nobody has read; an empty text is the whole directory. */
  readonly hiddenLocks: readonly string[]
  /** A recorded pipe of another key that this one may be; only for a key without a pipe, or whose pipe is not found or may be replaced. */
  readonly similar: Similar | undefined
  /** Whether the last reading did not find the manifest, and is not believed. */
  readonly unfound: boolean
  /** Whether the last reading of the directory is not accepted. */
  readonly isDoubted: boolean
  /** What another process acted on, where that may be newer than the manifests here. */
  readonly olderThan: string | undefined
  /** Keys of `policy.dependsOn` that are not ready. */
  readonly notReady: readonly Key[]
  /** Files that were looked for in vain. */
  readonly missingSecrets: readonly MissingSecret[]
  /** Those that the body refers to, by the dotted path of each reference. */
  readonly missingAt: ReadonlyMap<string, MissingSecret>
  /** What the create limit says of its service; undefined when it is not reached. */
  readonly createLimit: FactsOf<'CreateLimit'> | undefined
  /** How many pipes of the service, or of its credential, are not found, when that is too many to believe. */
  readonly massMissing: (MassMissing & { readonly group: 'service' | 'credential' }) | undefined
  /** Ids of other pipes of the same name in the same service; only while an outcome is unknown. */
  readonly knownIds: readonly string[]
  /** Undefined: the platform has no list, or was not asked for it. */
  readonly listed: Listed | undefined
}

/**
 * A record of another key, and why it keeps this one from being created. `unclaimed`: it is similar, and its
 * manifest is missing or gone. `claimed`: it is similar, and has a manifest. `renamed-from`: this manifest names it, or its pipe, and
 * it cannot move yet.
 */
export interface Similar {
  readonly key: Key
  readonly how: 'unclaimed' | 'claimed' | 'renamed-from'
  /** Where its manifest is, or was. */
  readonly file: string | undefined
  /** Its name on the platform, where this manifest asks for another one. */
  readonly platformName?: string | undefined
  /** What this one asks for is what it asked for, or what its pipe is: it moves once its manifest is gone for good. */
  readonly isSame?: boolean | undefined
  /** How this manifest names it. */
  readonly by?: 'policy.renamedFrom' | 'policy.adopt' | 'a Lock' | undefined
  /** Another manifest that names it in `policy.renamedFrom`. */
  readonly rival?: Key | undefined
}

export interface Timing {
  /** Interval of drift checks unless `policy.interval` says otherwise: ms. */
  readonly intervalMs: number
  /** Interval of the resync of a query endpoint unless `policy.interval` says otherwise: ms. */
  readonly resyncMs: number
}

interface Common {
  readonly policy: Policy
  readonly desired: Desired
  readonly recorded: LedgerRecord
  readonly observed: Observed
  readonly surroundings: Surroundings
  readonly timing: Timing
  /** Which states somebody said are healthy; undefined: nobody said. */
  readonly healthyStates: HealthyStates | undefined
  /** What the service documents of its states; undefined: nothing. */
  readonly knownStates: KnownStates | undefined
  /** ms since the epoch. */
  readonly now: number
  /** Masks a text of the platform, to be told. What is decided on is not masked. */
  readonly mask: SecretMask['mask']
  /** The same by the steady clock, which no wall clock moves: for what has to have been a while ago. */
  readonly steadyNow: number
  /** A person asked, or the credentials are others now: an earlier failure is not waited out. */
  readonly isAsked?: boolean | undefined
}

export interface CreateOnceInput extends Common {
  readonly lifecycle: 'create-once'
  readonly kind: CreateOnceKind
  /** What is asked for and what was found, where the one can be made of the other. */
  readonly compared?: Compared | undefined
  /** Fields that are not as they were when it was last in sync; undefined: nobody knows. */
  readonly changedSince?: readonly string[] | undefined
  /** Undefined: no manifest asks to delete it, and no request was sent. */
  readonly removal?: DeletionFacts | undefined
  /** It is not found by its id, and the list of its service shows it, or is not to be believed. Asked for only where it would be forgotten. */
  readonly mayBeThere?: boolean | undefined
}

export interface UpsertInput extends Common {
  readonly lifecycle: 'upsert'
  readonly kind: UpsertKind
  /** What the manifest asks for against the reply of the last upsert. */
  readonly replyDiffers: readonly Difference[]
  /** What an upsert would take away from what is there, or, where that cannot be read, from what the last reply said. */
  readonly takesAway: readonly string[]
  /** What it would give beside. */
  readonly gives: readonly string[]
  /** Whether what is there is what the last upsert was answered; false where nothing was read. */
  readonly isAsLeft: boolean
  /** A late request of a process that acted before this one may have been applied since: it is applied once more. */
  readonly isOvertaken: boolean
}

/** What bears on a deletion that a manifest asks for. Worked out when it is looked at. */
export interface DeletionFacts {
  /** Another manifest that names the pipe: by its id, in a Lock, or as what it was renamed from. */
  readonly claimant: Key | undefined
  /** Undefined: the limit is not reached. */
  readonly limit: FactsOf<'DeleteLimit'> | undefined
  /** A person let it pass, whatever the limit says. */
  readonly isAllowed: boolean
}

export interface ReadOnlyInput extends Common {
  readonly lifecycle: 'read-only'
  readonly kind: ReadOnlyKind
  /** The one that the manifest names; undefined: there is none. */
  readonly watchedId: string | undefined
}

export interface ReferenceInput extends Common {
  readonly lifecycle: 'reference'
  readonly kind: ReferenceKind
  /** Undefined: nothing was asked there since this process started. */
  readonly contact: Contact | undefined
}

/** What came of the last requests to a service. */
export type Contact =
  | { readonly type: 'answered' }
  /** It refused the credentials (401), or forbids them an operation (403). */
  | { readonly type: 'refused'; readonly what: 'the credentials' | 'an operation'; readonly said: string }
  /** No reply came, or none that the interface knows. */
  | { readonly type: 'unreachable'; readonly said: string }

export type DecideInput = CreateOnceInput | UpsertInput | ReadOnlyInput | ReferenceInput
