import { platformNameOf, serviceOf } from '../kinds/manifest.ts'
import type { PipeManifest } from '../kinds/pipe/schema.ts'
import type { CrossFinding } from './cross-finding.ts'
import { crossFinding, groupsOf } from './cross-finding.ts'
import type { Path } from './findings.ts'
import type { ParsedDocument } from './parse-document.ts'

/*
 * What may be there only once in a service. Two Service manifests may mean the same service.
 */

const SERVICE: Path = ['spec', 'service']

/** One endpoint a service: its upsert replaces the whole configuration. */
export function repeatedEndpoints(documents: readonly ParsedDocument[]): readonly CrossFinding[] {
  const identityOf = serviceIdentities(documents)
  const all = documents.filter(({ manifest }) => manifest?.kind === 'QueryEndpoint')
  const service = ({ manifest }: ParsedDocument) =>
    manifest?.kind === 'QueryEndpoint' ? identityOf(serviceOf(manifest) ?? '') : ''
  return groupsOf(all, service).flatMap(([, group]) =>
    group.flatMap((document) => {
      const others = group.filter((other) => other !== document && other.key !== document.key)
      if (others.length === 0) return []
      return [
        crossFinding(
          document,
          SERVICE,
          {
            severity: 'error',
            code: 'endpoint-repeated',
            message: `The service has another query endpoint in ${others.map((other) => other.key).join(', ')}; it can have one.`,
            hint: 'Put all roles, keys and origins into one QueryEndpoint, and remove the rest.',
          },
          others.map((other) => ({ document: other, path: SERVICE, message: 'the same service' })),
        ),
      ]
    }),
  )
}

interface NamedPipe {
  readonly document: ParsedDocument
  readonly position: ParsedDocument['position']
  readonly manifest: PipeManifest
}

/**
 * Two pipes with one name in one service are a copy, or a rename of which half is done. A warning: of those without a
 * pipe only one is created, and one that exists is none the worse for it.
 */
export function repeatedPipeNames(documents: readonly ParsedDocument[]): readonly CrossFinding[] {
  const identityOf = serviceIdentities(documents)
  const pipes = documents.flatMap((document): readonly NamedPipe[] => {
    const { manifest, position } = document
    return manifest?.kind === 'Pipe' ? [{ document, position, manifest }] : []
  })
  return groupsOf(
    pipes,
    ({ manifest }) => `${identityOf(serviceOf(manifest) ?? '')} ${platformNameOf(manifest)}`,
  ).flatMap(([, group]) =>
    group.flatMap((pipe) => {
      const others = group.filter((other) => isCopy(pipe, other))
      const [first] = others
      if (first === undefined) return []
      return [
        crossFinding(
          pipe.document,
          namePath(pipe),
          {
            severity: 'warning',
            code: 'pipe-name-repeated',
            message: `${first.document.key} has the same service and the same name there, "${platformNameOf(pipe.manifest)}".`,
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

/** Not the document itself, nor one of the same key, which is another mistake, nor one that is meant to be beside it. */
function isCopy(pipe: NamedPipe, other: NamedPipe): boolean {
  const key = pipe.document.key
  const otherKey = other.document.key
  return (
    key !== otherKey && pipe.manifest.policy?.replaces !== otherKey && other.manifest.policy?.replaces !== key
  )
}

function namePath({ manifest }: NamedPipe): Path {
  return manifest.spec.name === undefined ? ['metadata', 'name'] : ['spec', 'name']
}

/** Which service a name means: its ids, or the name itself where no manifest says them. */
function serviceIdentities(documents: readonly ParsedDocument[]): (name: string) => string {
  const identities = new Map<string, string>()
  for (const { manifest } of documents) {
    if (manifest?.kind !== 'Service') continue
    const { organizationId, serviceId } = manifest.spec
    identities.set(manifest.metadata.name, `${organizationId}/${serviceId}`.toLowerCase())
  }
  return (name) => identities.get(name) ?? name
}
