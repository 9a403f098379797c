import type { Finding, Position } from '../kinds/finding.ts'
import type { Key } from '../kinds/key.ts'
import type { ResourceManifest } from '../kinds/manifest.ts'

export interface Entry {
  readonly key: Key
  /**
   * `invalid`: the manifest has errors, or its file could not be read. `missing`: the last one or two reads of the
   * directory did not find it. In both cases, `manifest` is the last valid version.
   */
  readonly state: 'valid' | 'invalid' | 'missing'
  /** Undefined only if this process never saw a valid manifest. */
  readonly manifest: ResourceManifest | undefined
  /** Of the invalid document. */
  readonly stated: Stated | undefined
  readonly position: Position
  readonly digest: string
  /** Revision at which `digest` was first read. */
  readonly revision: string
  readonly findings: readonly Finding[]
}

export interface Stated {
  readonly labels: Readonly<Record<string, string>>
  /** `spec.service`. That Service might not exist. */
  readonly service: string | undefined
  /** `policy.renamedFrom` and `policy.adopt`. */
  readonly claims: readonly string[]
}

export interface Catalog {
  readonly revision: Revision
  readonly entries: ReadonlyMap<Key, Entry>
  readonly locks: ReadonlyMap<Key, string>
  /**
   * Paths that could not be read completely and might hold a `Lock`. A folder ends in `/`. An empty path
   * means the whole directory.
   */
  readonly hiddenLocks: readonly string[]
  /** Paths that could not be read. They might hold manifests that `entries` lacks. A folder ends in `/`. */
  readonly unread: readonly string[]
  readonly findings: readonly Finding[]
  /** Keys with a removed manifest: three reads in a row did not find it. */
  readonly deleted: ReadonlySet<Key>
  readonly problem: SourceProblem | undefined
}

export interface Recorded {
  readonly file: string | undefined
  readonly digest: string | undefined
  readonly validIn: string | undefined
  readonly pipeId: string | undefined
  /** Whether a create of unknown outcome might have made a pipe. */
  readonly isAwaiting: boolean
  /** `organizationId/serviceId`, lower case: the service whose endpoint this key upserted last. */
  readonly endpointOf: string | undefined
}

/** Why the last read of the directory was rejected. The previous catalog stays in force. */
export interface SourceProblem {
  readonly reason: 'SourceUnreadable' | 'SourceEmpty' | 'SourceShrunk' | 'SourceUnstable'
  readonly message: string
  /** Keys that this read did not find. Their resources are not created or changed. */
  readonly unfound: ReadonlySet<Key> | 'all'
}

export interface Revision {
  /** A commit, or `content-<12 hex digits>` without Git. */
  readonly id: string
  readonly from: 'git-sync' | 'git' | 'content'
  readonly commit?: { readonly author: string; readonly subject: string } | undefined
}

export function shortRevision(revision: string): string {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}
