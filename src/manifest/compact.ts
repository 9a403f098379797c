import type { KeptParts } from '../kinds/kept-manifest.ts'
import { keptManifest } from '../kinds/kept-manifest.ts'
import type { Manifest } from '../kinds/manifest.ts'
import { shared, sharedText } from '../lib/shared.ts'
import type { ParsedDocument } from './parse-document.ts'
import type { ParsedFile } from './parse-file.ts'

/**
 * A parsed file in as little room as it takes, to be kept. Through a copy, since what the parser takes out of a text are
 * slices, each of which keeps all of it.
 */
export function compact(parsed: ParsedFile): ParsedFile {
  return fromCopy(structuredClone(parsed))
}

/** The same of what is a copy already. */
function fromCopy(copy: ParsedFile): ParsedFile {
  return { ...copy, documents: copy.documents.map((document) => compactDocument(document, copy.file)) }
}

function compactDocument(copy: ParsedDocument, file: string): ParsedDocument {
  return {
    ...copy,
    kind: shared(copy.kind),
    position: { ...copy.position, file },
    manifest: copy.manifest && revived(copy.manifest),
    findings: shared(copy.findings),
    locks: copy.locks.size === 0 ? NO_LOCKS : copy.locks,
    secretRefs: shared(copy.secretRefs),
  }
}

/** A copy of what is kept of a manifest has its parts, but not what makes it one. */
function revived(manifest: Manifest): Manifest {
  if (!('packedSpec' in manifest)) return manifest
  const parts = manifest as unknown as KeptParts // as it was before it was copied
  const { apiVersion, kind, metadata, policy, service } = parts
  const { name, labels } = metadata
  const { shape, values } = parts.packedSpec
  return keptManifest({
    ...parts,
    apiVersion: shared(apiVersion),
    kind: shared(kind),
    metadata: labels === undefined ? { name } : { name, labels: shared(labels) },
    policy: shared(policy),
    packedSpec: { shape: sharedText(shape), values },
    service: shared(service),
  })
}

const NO_LOCKS: ParsedDocument['locks'] = new Map()
