import { isWell, type Status } from '../plan/severity.ts'
import { REASONS, type Reason } from '../plan/reason.ts'
import type { Key } from '../kinds/key.ts'
import { isUnseen } from '../contract/cause.ts'
import type { ResourceStatus } from '../contract/status.ts'
import { boundedLabel, boundLabels, type Instruments } from './instruments.ts'
import { OTHER } from './metric-definitions.ts'

/** Different values of the label `team`, and of `service_name`. */
const MOST_GROUPS = 100

/** What a resource is said to have. */
interface Said {
  readonly status: Status
  readonly reason: Reason
}

/** `pipewright_resource_info`, made anew for each scrape, so that a resource that is gone disappears. */
export interface ResourceInfo {
  update(resources: readonly ResourceStatus[]): void
}

/** @param namedResources how many resources may appear by name */
export function createResourceInfo(
  gauge: Instruments['resource_info'],
  namedResources: number,
): ResourceInfo {
  const teams = boundLabels(MOST_GROUPS)
  const services = boundLabels(MOST_GROUPS)
  /** What each one that is not well was said to have when it was last looked at. */
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

/** Its status, and what that hides: a problem is not over because another one is worse, or because nobody can look. */
function allSaid(resource: ResourceStatus, before: Said | undefined): readonly Said[] {
  if (isWell(resource)) return [resource]
  const { Valid, Synced, Ready } = resource.conditions
  const hidden = [Valid, Synced, Ready]
    .filter(({ status }) => status !== 'True')
    .map(({ reason }) => ({ status: REASONS[reason].status, reason }))
    .concat(before === undefined || !isUnseen(resource) ? [] : before)
    .filter((one) => !isWell(one))
  // The first of each reason: that of the resource itself comes first.
  return [...new Map([...hidden, resource].toReversed().map((one) => [one.reason, one])).values()]
}

/** Which are named where there is not room for all: those that somebody has to look at come first. */
function namedFirst(resources: readonly ResourceStatus[], limit: number): ReadonlySet<ResourceStatus> {
  if (resources.length <= limit) return new Set(resources)
  const inNeed = resources.filter((resource) => !isWell(resource))
  return new Set([...inNeed, ...resources.filter(isWell)].slice(0, limit))
}

/** Whom an alert is for; empty where the manifest does not say. */
function teamOf({ labels }: ResourceStatus): string {
  return (Object.hasOwn(labels, 'team') ? labels['team'] : undefined) ?? ''
}

/** Empty where it is of none. */
function serviceOf({ service }: ResourceStatus): string {
  return service ?? ''
}
