import type { Finding, Position } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import type { Manifest } from '../../kinds/lookup.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import type { Stated } from '../../contract/catalog.ts'
import type { Chunk } from '../yaml/parse-yaml.ts'

/** One document of a file, with all that can be said of it alone. */
export interface ParsedDocument {
  readonly kind: string | undefined
  /** `metadata.name`, when it is one. */
  readonly name: string | undefined
  /** Undefined for a `Lock`, and where kind or name is not known. */
  readonly key: Key | undefined
  /** Where its content begins. */
  readonly position: Position
  /** Undefined when there are errors. */
  readonly manifest: Manifest | undefined
  /** What is right in a document with errors, as far as that is a manifest: for what else is to be said of it, and for nothing else. */
  readonly rest: ResourceManifest | undefined
  /** Whose it is by its own word, where there are errors. */
  readonly stated: Stated | undefined
  /** Digest of the manifest; equal exactly when the manifests mean the same. */
  readonly meaning: string | undefined
  /** Errors and warnings, in order. */
  readonly findings: readonly Finding[]
  /** What a `Lock` says, as far as it can be read: also of one with errors, since it keeps pipes from being created. */
  readonly locks: ReadonlyMap<Key, string>
  /** False when it is not YAML, so that something it says may have gone unseen. */
  readonly readable: boolean
  /** The part of the file's text that it stands in, and where in that part it begins. */
  readonly chunk: Chunk
  readonly start: number
}
