import type { Finding, Position } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'

export interface Entry {
  readonly key: Key
  /**
   * `invalid`: found errors or could not read the file; `manifest` is the last valid one, if any. `missing`:
   * fewer than three consecutive reads missed it; `manifest` is the last.
   */
  readonly state: 'valid' | 'invalid' | 'missing'
  /** Undefined only if this process never saw a valid manifest. */
  readonly manifest: ResourceManifest | undefined
  /** Only if the manifest was never valid. */
  readonly stated: Stated | undefined
  readonly position: Position
  /** Changes if and only if the state or the manifest changes. */
  readonly digest: string
  /** Revision of the last change of `digest`. */
  readonly revision: string
  /** Empty if `valid`. */
  readonly findings: readonly Finding[]
}

export interface Stated {
  readonly labels: Readonly<Record<string, string>>
  /** Name of its Service, which might not exist. */
  readonly service: string | undefined
}

export interface Catalog {
  readonly revision: Revision
  /** Sorted by key. */
  readonly entries: ReadonlyMap<Key, Entry>
  readonly locks: ReadonlyMap<Key, string>
  /**
   * Unreadable files, and folders ending in `/`, that might hold a `Lock` for an unrecorded key. An empty
   * text: the whole directory.
   */
  readonly hiddenLocks: readonly string[]
  /** Files that might hold manifests. As {@link hiddenLocks}. */
  readonly unread: readonly string[]
  readonly findings: readonly Finding[]
  /** Missed by three reads in a row. */
  readonly deleted: ReadonlySet<Key>
  /** Undefined if the read counts. */
  readonly problem: SourceProblem | undefined
}

export interface Recorded {
  readonly file: string | undefined
  readonly digest: string | undefined
  readonly validIn: string | undefined
  readonly pipeId: string | undefined
  /** A create might have made a pipe with an unknown id. */
  readonly isAwaiting: boolean
  /** `organizationId/serviceId` in lower case. */
  readonly endpointOf: string | undefined
}

/** The previous catalog stays in force. */
export interface SourceProblem {
  readonly reason: 'SourceUnreadable' | 'SourceEmpty' | 'SourceShrunk' | 'SourceUnstable'
  readonly message: string
  /** Pipewright creates and applies none of these. `all`: the read found no manifest. */
  readonly unfound: ReadonlySet<Key> | 'all'
}

export interface Revision {
  /** A commit, or `content-<12 hex digits>` without Git. */
  readonly id: string
  readonly from: 'git-sync' | 'git' | 'content'
  readonly commit?: { readonly author: string; readonly subject: string } | undefined
}

/** Shortens a commit id to 10 digits for display. */
export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}
