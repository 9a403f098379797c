import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import type { Key } from '../../kinds/key.ts'
import { isCreateOnce, isResource, kindNamed, remoteNameOf } from '../../kinds/lookup.ts'
import { asService } from '../../kinds/service/kind.ts'
import { type CrossFinding, RELATED, crossFinding, groupsOf, listed, othersIn } from './cross-finding.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import type { ParsedDocument } from '../validate/parse-document.ts'

/*
 * What may be there only once in a service. Two Service manifests may mean the same service.
 */

const SERVICE: Path = ['spec', 'service']

/** One endpoint a service: its upsert replaces the whole configuration. */
export function repeatedEndpoints(
  documents: readonly ParsedDocument[],
  identityOf: ServiceIdentities,
): readonly CrossFinding[] {
  const all = documents.filter(({ manifest }) => isUpserted(manifest))
  const service = ({ manifest }: ParsedDocument) =>
    isResource(manifest) ? `${manifest.kind} ${identityOf(serviceOf(manifest) ?? '')}` : ''
  return groupsOf(all, service).flatMap(([, group]) => {
    const othersOf = othersIn(group, ({ key }) => key)
    const keys = new Set(group.map(({ key }) => key ?? ''))
    return group.flatMap((document) => {
      const others = othersOf(document)
      if (others.length === 0) return []
      return [
        crossFinding(
          document,
          SERVICE,
          {
            severity: 'error',
            code: 'endpoint-repeated',
            message: `The service has another query endpoint in ${listed(keys, document.key, ', ')}; it can have one.`,
            hint: 'Put all roles, keys and origins into one QueryEndpoint, and remove the rest.',
          },
          others.map((other) => ({ document: other, path: SERVICE, message: 'the same service' })),
        ),
      ]
    })
  })
}

function isUpserted(manifest: ParsedDocument['manifest']): boolean {
  return manifest !== undefined && kindNamed(manifest.kind)?.lifecycle === 'upsert'
}

interface NamedPipe {
  readonly document: ParsedDocument
  readonly position: ParsedDocument['position']
  readonly manifest: ResourceManifest
}

/**
 * Two pipes with one name in one service are a copy, or a rename of which half is done. A warning: of those without a
 * pipe only one is created, and one that exists is none the worse for it.
 */
export function repeatedPipeNames(
  documents: readonly ParsedDocument[],
  identityOf: ServiceIdentities,
): readonly CrossFinding[] {
  // Of those with the same key, which is another mistake, the first one.
  const pipes = new Map<Key, NamedPipe>()
  for (const document of documents) {
    const { key, manifest, position } = document
    if (key === undefined || !isResource(manifest) || !isCreateOnce(manifest) || pipes.has(key)) continue
    pipes.set(key, { document, position, manifest })
  }
  return groupsOf(
    [...pipes.values()],
    ({ manifest }) => `${manifest.kind} ${identityOf(serviceOf(manifest) ?? '')} ${remoteNameOf(manifest)}`,
  ).flatMap(([, group]) =>
    group.flatMap((pipe) => {
      const others = group
        .values()
        .filter((other) => isCopy(pipe, other))
        .take(RELATED)
        .toArray()
      const [first] = others
      if (first === undefined) return []
      return [
        crossFinding(
          pipe.document,
          namePath(pipe),
          {
            severity: 'warning',
            code: 'pipe-name-repeated',
            message: `${first.document.key} has the same service and the same name there, "${remoteNameOf(pipe.manifest)}".`,
            hint: `Give one of them another spec.name, or say with policy.replaces: ${first.document.key} that both are meant; until then only one is created.`,
          },
          others.map((other) => ({
            document: other.document,
            path: namePath(other),
            message: 'the same name',
          })),
        ),
      ]
    }),
  )
}

/** Not the document itself, nor one that is meant to be beside it. */
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

/** Which service a name means: its ids, or the name itself where no manifest says them. */
type ServiceIdentities = (name: string) => string

export function serviceIdentities(documents: readonly ParsedDocument[]): ServiceIdentities {
  const identities = new Map<string, string>()
  for (const { manifest } of documents) {
    const service = asService(manifest)
    if (service === undefined) continue
    const { organizationId, serviceId } = service.spec
    identities.set(service.metadata.name, `${organizationId}/${serviceId}`.toLowerCase())
  }
  return (name) => identities.get(name) ?? name
}
