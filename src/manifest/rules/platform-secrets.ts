import { asService } from '../../kinds/service/kind.ts'
import type { Catalog } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import type { SecretRef } from '../../kinds/secret-ref.ts'
import { crossFinding, type CrossFinding } from './cross-finding.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'

/** One file of a mounted secret. */
export type SecretFile = SecretRef['secretRef']

/** Files below the secrets directory that Pipewright itself signs in with, unless the settings say otherwise. */
export const OWN_SECRETS: readonly SecretFile[] = [{ name: 'alerts', key: 'token' }]

interface Input {
  readonly documents: readonly ParsedDocument[]
  /** The catalog of the reading before: a Service that is not valid now keeps its last credentials. */
  readonly previous: Catalog
  readonly own: readonly SecretFile[]
}

/**
 * A manifest must not send the platform's own credentials elsewhere: to a broker of its author's choice
 * (design §2, law 6). What is the platform's is what any Service names, in whatever state its manifest is.
 */
export function platformSecretFindings({ documents, previous, own }: Input): readonly CrossFinding[] {
  const owners = ownersOf(documents, previous)
  const found: CrossFinding[] = []
  for (const document of documents) {
    for (const { path, ref } of document.secretRefs) {
      const whose = owners.get(ref.name) ?? (isOwn(ref, own) ? 'Pipewright itself' : undefined)
      if (whose === undefined) continue
      found.push(
        crossFinding(document, ['spec', ...path.split('.'), 'secretRef', 'name'], {
          severity: 'error',
          code: 'platform-secret',
          message: `The secret "${ref.name}" holds credentials of ${whose}, which go to the platform and nowhere else.`,
          hint: 'Mount a secret of its own for this source, and name that one.',
        }),
      )
    }
  }
  return found
}

/** The mounted secrets that Services sign in with, each with one of the Services. */
function ownersOf(documents: readonly ParsedDocument[], previous: Catalog): ReadonlyMap<string, Key> {
  const owners = new Map<string, Key>()
  const valid = new Set<Key>()
  for (const { key, credentials, manifest } of documents) {
    if (key === undefined) continue
    if (asService(manifest) !== undefined) valid.add(key)
    if (credentials !== undefined) owners.set(credentials, key)
  }
  for (const { key, manifest } of previous.entries.values()) {
    const service = asService(manifest)
    if (service === undefined || valid.has(key)) continue
    owners.set(service.spec.credentials.secretRef.name, key)
  }
  return owners
}

function isOwn(ref: SecretFile, own: readonly SecretFile[]): boolean {
  return own.some(({ name, key }) => name === ref.name && key === ref.key)
}
