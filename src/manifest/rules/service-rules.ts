import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce, isResource, remoteNameOf } from '../../kinds/lookup.ts'
import { type CrossReport, RELATED, groupsOf, listed, othersIn, whereOf } from './cross-finding.ts'
import type { Path } from '../../kinds/finding.ts'
import type { ParsedDocument } from '../validate/parsed-document.ts'
import { firstOf, type EndpointClaim, type ServiceIs, type OwnershipEvidence } from './ownership.ts'

/* Services are compared by their ids, because two Service manifests can name the same service. */

const SERVICE: Path = ['spec', 'service']

/**
 * Reports manifests of the same endpoint, because their upserts would replace each other. The earlier owner is valid.
 * @returns the key that owns each endpoint
 */
export function checkEndpoints(standing: OwnershipEvidence, report: CrossReport): ReadonlyMap<string, Key> {
  const holders = new Map(standing.endpoints.map(({ endpoint, key }) => [endpoint, key]))
  for (const [endpoint, group] of groupsOf(standing.endpoints, (claim) => claim.endpoint)) {
    const holder = firstOf(group, (claim) => standing.hadEndpoint(claim))
    if (holder === undefined) holders.delete(endpoint)
    else holders.set(endpoint, holder.key)
    const othersOf = othersIn(group, ({ key }) => key)
    const keys = new Set(group.map(({ key }) => key))
    for (const claim of group) {
      const { document } = claim
      if (document === undefined || claim === holder) continue
      const others = holder === undefined ? othersOf(claim) : [holder]
      if (others.length === 0) continue
      report.add({ document, path: SERVICE, severity: 'error', code: 'endpoint-repeated' }, () => ({
        ...wordsOf(claim, holder, keys),
        others: others.map((other) => ({
          document: other.document,
          path: SERVICE,
          message: 'the same service',
        })),
      }))
    }
  }
  return holders
}

function wordsOf(
  claim: EndpointClaim,
  holder: EndpointClaim | undefined,
  keys: ReadonlySet<string>,
): { readonly message: string; readonly hint: string } {
  if (holder?.isAway === true)
    return {
      message:
        `${holder.key} at ${whereOf(holder)} just disappeared, but still has the query endpoint of the service. ` +
        `This manifest is not applied until three reads confirm that ${holder.key} was removed.`,
      hint: `If you removed ${holder.key} on purpose, wait a moment. If not, restore it.`,
    }
  return {
    message:
      holder === undefined
        ? `This service can have only one query endpoint. Another is in ${listed(keys, claim.key, ', ')}.`
        : `This service has ${holder.key} at ${whereOf(holder)}, and can have only one query endpoint. This manifest is not used.`,
    hint: 'Put all roles, keys and origins into one QueryEndpoint, and remove the other manifests.',
  }
}

interface NamedPipe {
  readonly document: ParsedDocument
  readonly position: ParsedDocument['position']
  readonly manifest: ResourceManifest
}

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
  for (const document of documents) {
    const { key, manifest, position } = document
    if (key === undefined || !isResource(manifest) || !isCreateOnce(manifest) || pipes.has(key)) continue
    pipes.set(key, { document, position, manifest })
  }
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
      report.add(
        { document: pipe.document, path: namePath(pipe), severity: 'warning', code: 'pipe-name-repeated' },
        () => ({
          message: `${first.document.key} has the same name in the same service: "${remoteNameOf(pipe.manifest)}".`,
          hint: `Give one of the two another spec.name. If both should have this name, set policy.replaces: ${first.document.key} here. Until then, only one is created.`,
          others: others.map((other) => ({
            document: other.document,
            path: namePath(other),
            message: 'the same name',
          })),
        }),
      )
    }
  }
}

function isCopy(pipe: NamedPipe, other: NamedPipe): boolean {
  const key = pipe.document.key
  const otherKey = other.document.key
  return (
    key !== otherKey && pipe.manifest.policy?.replaces !== otherKey && other.manifest.policy?.replaces !== key
  )
}

function namePath({ manifest }: NamedPipe): Path {
  return manifest.spec['name'] === undefined ? ['metadata', 'name'] : ['spec', 'name']
}
