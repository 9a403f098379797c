import type { WithoutManifest } from '../../contract/activity.ts'
import type { CreateOnceKind } from '../../kinds/definition.ts'
import { showName } from '../../kinds/difference.ts'
import { isReference } from '../../kinds/lookup.ts'
import { asService, type ServiceManifest } from '../../kinds/service/kind.ts'
import type { ReconcileContext } from '../context.ts'
import { pipeOwners } from '../state/pipe-owners.ts'
import type { Listing } from '../state/listings.ts'
import { isListable, nameOfListing } from './listing.ts'
import { accessOf } from './service-access.ts'

const PIPES_NAMED = 20

const SERVICES_TOLD = 20

type Context = Pick<ReconcileContext, 'profile' | 'store' | 'clock' | 'mask'>

/** Uses each service's last list, without a request. Undefined: the platform has no lists. */
export function pipesWithoutManifest(context: Context): readonly WithoutManifest[] | undefined {
  const { profile, store } = context
  // Excludes alerts, which are often created elsewhere on purpose.
  const kind = profile.kinds.find(isListable)
  if (kind === undefined) return undefined
  const listed = listedServices(context, kind)
  if (listed.length === 0) return []
  const held = pipeOwners(store, kind)
  return listed.map(({ service, listing }) => foundIn(context, { service, listing, held }))
}

export function withoutManifestTold(context: Context): readonly WithoutManifest[] | undefined {
  return pipesWithoutManifest(context)
    ?.filter(({ count }) => count > 0)
    .slice(0, SERVICES_TOLD)
}

interface ListedService {
  readonly service: ServiceManifest
  readonly listing: Listing
}

function listedServices({ store }: Context, kind: CreateOnceKind): readonly ListedService[] {
  const found = new Map<string, ListedService>()
  const services = [...(store.catalog?.entries.values() ?? [])]
    .filter(({ key }) => isReference(key))
    .flatMap(({ manifest }) => asService(manifest) ?? [])
  for (const service of services) {
    const { serviceId } = service.spec
    const listing = store.listings.last(nameOfListing(kind, accessOf(service)))
    const before = found.get(serviceId.toLowerCase())?.listing.askedAt ?? -Infinity
    if (listing !== undefined && listing.askedAt > before)
      found.set(serviceId.toLowerCase(), { service, listing })
  }
  return [...found.values()]
}

function foundIn(
  { store, clock, mask }: Context,
  { service, listing, held }: ListedService & { readonly held: ReturnType<typeof pipeOwners> },
): WithoutManifest {
  const { serviceId } = service.spec
  const free = [...listing.items.values()].filter(
    (pipe) => held.namedBy(pipe.id) === undefined && held.wantedBy(pipe, serviceId) === undefined,
  )
  return {
    service: service.metadata.name,
    listedAt: Math.round((store.steadyNow() - (clock.monotonic() - listing.askedAt)) / 1_000) * 1_000,
    count: free.length,
    pipes: free
      .toSorted((a, b) => (`${a.name ?? ''} ${a.id}` < `${b.name ?? ''} ${b.id}` ? -1 : 1))
      .slice(0, PIPES_NAMED)
      .map(({ id, name }) => ({ id, name: showName(mask.mask(name ?? '')) })),
  }
}
