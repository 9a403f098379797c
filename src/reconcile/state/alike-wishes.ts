import type { Catalog, Entry } from '../../contract/catalog.ts'
import { kindOf, type Key } from '../../kinds/key.ts'
import { isCreateOnce } from '../../kinds/lookup.ts'
import type { Candidate } from '../../plan/rename-detection.ts'

interface AlikeWishes {
  setCatalog(catalog: Catalog): void
  /** Its own key included. */
  of(candidate: Candidate): readonly Key[]
}

/** Built on first use. @param askedOf undefined: the service is unknown */
export function createAlikeWishes(
  askedOf: (entry: Entry) => { readonly serviceId: string; readonly digest: string } | undefined,
): AlikeWishes {
  let catalog: Catalog | undefined
  let keysOf: Map<string, Key[]> | undefined

  function made(): Map<string, Key[]> {
    const index = new Map<string, Key[]>()
    for (const entry of catalog?.entries.values() ?? []) {
      if (entry.state !== 'valid' || entry.manifest === undefined || !isCreateOnce(entry.manifest)) continue
      if (entry.manifest.policy?.ensure === 'absent') continue
      const asked = askedOf(entry)
      if (asked === undefined) continue
      const name = nameOf(entry.key, asked)
      const keys = index.get(name)
      if (keys === undefined) index.set(name, [entry.key])
      else keys.push(entry.key)
    }
    return index
  }

  return {
    setCatalog(next) {
      catalog = next
      keysOf = undefined
    },
    of({ key, serviceId, fingerprint }) {
      keysOf ??= made()
      return keysOf.get(nameOf(key, { serviceId, digest: fingerprint.digest })) ?? []
    },
  }
}

function nameOf(
  key: Key,
  { serviceId, digest }: { readonly serviceId: string; readonly digest: string },
): string {
  return `${kindOf(key)} ${serviceId.toLowerCase()} ${digest}`
}
