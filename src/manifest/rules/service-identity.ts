import type { Catalog } from '../../contract/catalog.ts'
import type { Key } from '../../kinds/key.ts'
import { kindNamed } from '../../kinds/lookup.ts'
import { serviceOf, type ResourceManifest } from '../../kinds/manifest.ts'
import { asService, serviceIdentity } from '../../kinds/service/kind.ts'

/** Which service a name means: its ids, or the name itself where no manifest says them. */
export type ServiceIs = (name: string) => string

export function serviceIdentities(manifests: Iterable<ResourceManifest>): ServiceIs {
  const identities = new Map<string, string>()
  for (const manifest of manifests) {
    const service = asService(manifest)
    if (service === undefined) continue
    identities.set(service.metadata.name, serviceIdentity(service.spec))
  }
  return (name) => identities.get(name) ?? name
}

/** The endpoint that a manifest asks for: of which kind, and in which service. */
export function endpointIn(manifest: ResourceManifest, serviceIs: ServiceIs): string {
  return `${manifest.kind} ${serviceIs(serviceOf(manifest) ?? '')}`
}

export function isUpserted(manifest: ResourceManifest): boolean {
  return kindNamed(manifest.kind)?.lifecycle === 'upsert'
}

/** Which key had which endpoint in a catalog. */
export function endpointsIn({ entries }: Catalog): ReadonlyMap<string, Key> {
  const manifests = [...entries.values()].flatMap(({ manifest }) => manifest ?? [])
  const serviceIs = serviceIdentities(manifests)
  const upserted = [...entries.values()].flatMap(({ key, manifest }) =>
    manifest !== undefined && isUpserted(manifest) ? [[endpointIn(manifest, serviceIs), key] as const] : [],
  )
  return new Map(upserted)
}
