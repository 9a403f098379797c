import type { Finding, Position } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'

/** One key of the catalog. */
export interface Entry {
  readonly key: Key
  /**
   * `valid`: the manifest is what this reading found.
   * `invalid`: this reading found errors, or could not read the file; `manifest` is the last valid one, if any.
   * `missing`: this reading did not find it, and fewer than three agree so far; `manifest` is the last one.
   */
  readonly state: 'valid' | 'invalid' | 'missing'
  /** Undefined only when there never was a valid one in this process. */
  readonly manifest: ResourceManifest | undefined
  /** What a manifest that never was valid says of whose it is; undefined where there is a valid one, or it says nothing. */
  readonly stated: Stated | undefined
  /** Where the document begins. */
  readonly position: Position
  /** Changes exactly when the meaning of the entry changes: its state or its manifest. */
  readonly digest: string
  /** Revision at which the meaning last changed. */
  readonly revision: string
  /** Errors of this document; empty when `valid`. */
  readonly findings: readonly Finding[]
}

/** By what people look for a manifest that is not valid. */
export interface Stated {
  readonly labels: Readonly<Record<string, string>>
  /** The name of the Service that it asks for, whether or not there is one. */
  readonly service: string | undefined
}

/** All manifests of one reading of the directory, at one revision. */
export interface Catalog {
  readonly revision: Revision
  /** In the order of their keys. */
  readonly entries: ReadonlyMap<Key, Entry>
  /** Ids that `Lock` manifests name. */
  readonly locks: ReadonlyMap<Key, string>
  /**
   * Files, and folders with a `/` at the end, that may hold a `Lock` which could not be read: what has no record may exist
   * under an id that such a Lock names. An empty text: anywhere. Mostly empty.
   */
  readonly hiddenLocks: readonly string[]
  /** Files, and folders with a `/` at the end, that may hold manifests which nobody could read, or name. As {@link hiddenLocks}. */
  readonly unread: readonly string[]
  /** All findings, in the order of file, line and column. */
  readonly findings: readonly Finding[]
  /** Keys that three readings in a row did not find, counted from when they were last known. */
  readonly deleted: ReadonlySet<Key>
  /** Why this reading changed nothing, or `undefined` when it counts. */
  readonly problem: SourceProblem | undefined
}

/** What the ledger says of a key, as far as it bears on reading manifests. */
export interface Recorded {
  /** Where its manifest was last seen. */
  readonly file: string | undefined
  /** What its manifest last said: as {@link Entry.digest}. */
  readonly digest: string | undefined
  /** Where it was last valid. Undefined: it never was. */
  readonly validIn: string | undefined
  /** What was created or adopted. */
  readonly pipeId: string | undefined
  /** Whether something may have been created of which nobody knows the id. */
  readonly isAwaiting: boolean
  /** The service whose query endpoint it configured: both ids, in lower case, with a `/` between. */
  readonly endpointOf: string | undefined
}

/** A directory whose reading does not count: everything stays as it was. */
export interface SourceProblem {
  readonly reason: 'SourceUnreadable' | 'SourceEmpty' | 'SourceShrunk' | 'SourceUnstable'
  readonly message: string
  /** What this reading would have changed by not finding it: nothing is created or applied for it meanwhile. `all`: it found nothing. */
  readonly unfound: ReadonlySet<Key> | 'all'
}

/** Which state of the directory a reading saw. */
export interface Revision {
  /** A commit, from git-sync's root name or `.git`. Without one: `content-<12 hex digits>`. */
  readonly id: string
  readonly from: 'git-sync' | 'git' | 'content'
}
