import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce, isResource, remoteNameOf } from '../../kinds/lookup.ts'
import { type CrossReport, RELATED, groupsOf, listed, whereOf } from './cross-finding.ts'
import type { Path } from '../../kinds/finding.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { refusedClaims, type Contradiction, type OwnershipEvidence, type ServiceIs } from './ownership.ts'

/* Services are compared by their ids, because two Service manifests can name the same service. */

/**
 * Reports manifests of the same endpoint, because their upserts would replace each other. The earlier owner is valid.
 * @returns the key that owns each endpoint
 */
export function checkEndpoints(standing: OwnershipEvidence, report: CrossReport): ReadonlyMap<string, Key> {
  const refused = refusedClaims(SHARED_ENDPOINT, standing.endpoints, standing.hadEndpoint, report)
  const accepted = standing.endpoints.filter((claim) => !refused.has(claim))
  return new Map(accepted.map(({ id, key }) => [id, key]))
}

const SHARED_ENDPOINT: Contradiction = {
  same: 'id',
  other: 'key',
  code: 'endpoint-repeated',
  wordsOn: ({ key }, { holder, named }) =>
    holder?.isAway === true
      ? {
          message:
            `${holder.key} at ${whereOf(holder)} just disappeared, but still has the query endpoint of the service. ` +
            `This manifest is not applied until three reads confirm that ${holder.key} was removed.`,
          hint: `If you removed ${holder.key} on purpose, wait a moment. If not, restore it.`,
        }
      : {
          message:
            holder === undefined
              ? `This service can have only one query endpoint. Another is in ${listed(named, key, ', ')}.`
              : `This service has ${holder.key} at ${whereOf(holder)}, and can have only one query endpoint. This manifest is not used.`,
          hint: 'Put all roles, keys and origins into one QueryEndpoint, and remove the other manifests.',
        },
  related: () => 'the same service',
}

type NamedPipe = ParsedDocument & { readonly key: Key; readonly manifest: ResourceManifest }

/**
 * Two pipes with the same name in a service are usually a copy or a half-finished rename. This is only a
 * warning, because existing pipes are unaffected.
 */
export function checkPipeNames(
  documents: readonly ParsedDocument[],
  serviceIs: ServiceIs,
  report: CrossReport,
): void {
  // Skips duplicate keys: another rule reports them.
  const pipes = new Map<Key, NamedPipe>()
  for (const pipe of documents.filter(isNamedPipe)) pipes.getOrInsert(pipe.key, pipe)
  const serviceIn = ({ manifest }: NamedPipe) => `${manifest.kind} ${serviceIs(serviceOf(manifest) ?? '')}`
  const byName = groupsOf([...pipes.values()], ({ manifest }) => remoteNameOf(manifest))
  for (const [, group] of byName.flatMap(([, ofName]) => groupsOf(ofName, serviceIn))) {
    for (const pipe of group) {
      const others = group
        .values()
        .filter((other) => isCopy(pipe, other))
        .take(RELATED)
        .toArray()
      const [first] = others
      if (first === undefined) continue
      const path = namePath(pipe)
      report.add({ document: pipe, path, severity: 'warning', code: 'pipe-name-repeated' }, () => ({
        message: `${first.key} has the same name in the same service: "${remoteNameOf(pipe.manifest)}".`,
        hint: `Give one of the two another spec.name. If both should have this name, set policy.replaces: ${first.key} here. Until then, only one is created.`,
        others: others.map((other) => ({
          document: other,
          path: namePath(other),
          message: 'the same name',
        })),
      }))
    }
  }
}

function isNamedPipe(document: ParsedDocument): document is NamedPipe {
  const { key, manifest } = document
  return key !== undefined && isResource(manifest) && isCreateOnce(manifest)
}

function isCopy({ key, manifest }: NamedPipe, other: NamedPipe): boolean {
  return (
    key !== other.key && manifest.policy?.replaces !== other.key && other.manifest.policy?.replaces !== key
  )
}

function namePath({ manifest }: NamedPipe): Path {
  return manifest.spec['name'] === undefined ? ['metadata', 'name'] : ['spec', 'name']
}
