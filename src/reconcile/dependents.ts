import type { Catalog } from '../kinds/catalog.ts'
import type { Key } from '../kinds/key.ts'
import { serviceOf, type ResourceManifest } from '../kinds/manifest.ts'
import { serviceKey } from '../kinds/service/kind.ts'

/** Keys by what each of them waits for: the keys of its `policy.dependsOn`, and its Service. */
export function indexDependents(catalog: Catalog): Map<string, Key[]> {
  const index = new Map<string, Key[]>()
  for (const { key, manifest } of catalog.entries.values()) {
    for (const needed of manifest === undefined ? [] : dependenciesOf(manifest)) {
      const keys = index.get(needed)
      if (keys === undefined) index.set(needed, [key])
      else keys.push(key)
    }
  }
  return index
}

/** Keys whose readiness a manifest waits for, and the Service whose manifest it needs. */
function dependenciesOf(manifest: ResourceManifest): readonly string[] {
  const named = manifest.policy?.dependsOn ?? []
  const service = serviceOf(manifest)
  return service === undefined ? named : [...named, serviceKey(service)]
}
