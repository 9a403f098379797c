import { isWell, type Status } from '../plan/severity.ts'
import { REASONS, type Reason } from '../plan/reason.ts'
import type { Key } from '../kinds/key.ts'
import { isUnseen, type ResourceView } from '../contract/resource-view.ts'
import { boundedLabel, boundLabels, type Instruments } from './instruments.ts'
import { OTHER } from './metric-definitions.ts'

/** Per label. */
const MOST_GROUPS = 100

interface Said {
  readonly status: Status
  readonly reason: Reason
}

/** Rebuilt at each scrape to remove deleted resources. */
export interface ResourceInfo {
  update(resources: readonly ResourceView[]): void
}

export function createResourceInfo(
  gauge: Instruments['resource_info'],
  namedResources: number,
): ResourceInfo {
  const teams = boundLabels(MOST_GROUPS)
  const services = boundLabels(MOST_GROUPS)
  /** Last known status of each resource with a problem. */
  let seen: ReadonlyMap<Key, Said> = new Map()
  return {
    update(resources) {
      seen = new Map(
        resources.flatMap((resource): readonly (readonly [Key, Said])[] => {
          const last = isUnseen(resource) ? seen.get(resource.key) : resource
          return last === undefined || isWell(last) ? [] : [[resource.key, last]]
        }),
      )
      gauge.reset()
      teams.retain(new Set(resources.map(teamOf)))
      services.retain(new Set(resources.map(serviceOf)))
      const named = namedFirst(resources, namedResources)
      for (const resource of resources) {
        const labels = {
          kind: resource.kind,
          name: named.has(resource) ? resource.name : OTHER,
          service_name: boundedLabel(serviceOf(resource), services),
          team: boundedLabel(teamOf(resource), teams),
        }
        for (const { status, reason } of allSaid(resource, seen.get(resource.key)))
          gauge.inc({ ...labels, status, reason })
      }
    },
  }
}

/** A worse problem or a failed look ends no problem. */
function allSaid(resource: ResourceView, before: Said | undefined): readonly Said[] {
  if (isWell(resource)) return [resource]
  const { Valid, Synced, Ready } = resource.conditions
  const hidden = [Valid, Synced, Ready]
    .filter(({ status }) => status !== 'True')
    .map(({ reason }) => ({ status: REASONS[reason].status, reason }))
    .concat(before === undefined || !isUnseen(resource) ? [] : before)
    .filter((one) => !isWell(one))
  // The resource's own status wins.
  return [...new Map([...hidden, resource].toReversed().map((one) => [one.reason, one])).values()]
}

/** Resources with problems come first. */
function namedFirst(resources: readonly ResourceView[], limit: number): ReadonlySet<ResourceView> {
  if (resources.length <= limit) return new Set(resources)
  const inNeed = resources.filter((resource) => !isWell(resource))
  return new Set([...inNeed, ...resources.filter(isWell)].slice(0, limit))
}

function teamOf({ labels }: ResourceView): string {
  return (Object.hasOwn(labels, 'team') ? labels['team'] : undefined) ?? ''
}

function serviceOf({ service }: ResourceView): string {
  return service ?? ''
}
