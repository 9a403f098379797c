import type { Finding, Position } from '../../kinds/finding.ts'
import type { Key } from '../../kinds/key.ts'
import { isResource, type Manifest } from '../../kinds/lookup.ts'
import type { ResourceManifest } from '../../kinds/manifest.ts'
import { sha256 } from '../../lib/digest.ts'
import { stableJson } from '../../lib/json.ts'
import type { Stated } from '../../contract/catalog.ts'
import type { Document } from 'yaml'
import { byPosition, findingAt, positionOf } from '../diagnostics/diagnostic.ts'
import type { SourceText } from '../diagnostics/source-text.ts'
import type { Range } from '../yaml/node-range.ts'
import type { YamlFinding } from '../yaml/syntax-findings.ts'
import { manifestIdentity, statedIn, type Identity } from './outline.ts'

export interface ParsedDocument extends Identity {
  readonly position: Position
  /** Undefined if there are errors. */
  readonly manifest: Manifest | undefined
  /** The valid part of a document with errors, to find further mistakes. */
  readonly rest: ResourceManifest | undefined
  readonly stated: Stated | undefined
  /** Digest that is equal exactly if two manifests mean the same. */
  readonly digest: string | undefined
  readonly findings: readonly Finding[]
  /** Ids in a Lock, even in a Lock with errors, because they prevent creates. */
  readonly locks: ReadonlyMap<Key, string>
  readonly readable: boolean
  /** The part of the file with the document. `start` is an offset in this part. */
  readonly chunk: Range
  readonly start: number
}

/** Digest of the content. Sorts labels and Locks, because zod sorts only the fields that the schema names. */
export function contentDigest(manifest: Manifest): string {
  if (!isResource(manifest)) return sha256(stableJson(manifest))
  const { apiVersion, kind, metadata, policy, spec } = manifest
  return sha256(JSON.stringify([apiVersion, kind, metadata.name, stableJson(metadata.labels), policy, spec]))
}

export const NO_LOCKS: ReadonlyMap<Key, string> = new Map()

export function unreadable(
  source: SourceText,
  chunk: Range,
  unplaced: readonly YamlFinding[],
  parsed?: { readonly document: Document; readonly value: unknown; readonly most: number },
): ParsedDocument {
  const { document, value, most = 1 } = parsed ?? {}
  const identity = manifestIdentity(value)
  // A place after the last character would be in the next document.
  const last = Math.max(0, source.text.slice(chunk.start, chunk.end).trimEnd().length - 1)
  const place = (range: Range) => {
    const start = chunk.start + Math.min(range.start, last)
    const end = chunk.start + Math.min(range.end, last + 1)
    return source.place(start, Math.max(end, endOfWord(source.text, start)))
  }
  const findings = unplaced.slice(0, Math.max(1, most)).map((finding) => {
    const { range, first } = finding
    const related =
      first === undefined ? [] : [{ ...positionOf(place(first)), message: 'the first of the two' }]
    return findingAt(place(range), finding, { key: identity.key, related })
  })
  return {
    ...identity,
    position: startOf(source, chunk, document),
    manifest: undefined,
    rest: undefined,
    stated: statedIn(value),
    digest: undefined,
    findings: findings.toSorted(byPosition),
    locks: NO_LOCKS,
    readable: false,
    chunk,
    start: document?.range?.[0] ?? 0,
  }
}

/** Extends a mark to the end of a word, because the parser often marks only the start. */
function endOfWord(text: string, start: number): number {
  const word = /[\w$.-]{1,80}/y
  word.lastIndex = start
  return start + (word.exec(text)?.[0].length ?? 0)
}

export function startOf(source: SourceText, chunk: Range, document: Document | undefined): Position {
  const start = chunk.start + (document?.contents?.range?.[0] ?? document?.range?.[0] ?? 0)
  return { file: source.file, ...source.position(start) }
}
