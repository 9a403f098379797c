import { isWell, STATUSES, type Status } from '../plan/severity.ts'
import type { ResourceStatus } from '../contract/status.ts'
import type { Health, Overview } from './parts.ts'

export type Counts = Readonly<Record<Status, number>>

/** Is all well? In a sentence, and for machines. */
export interface Verdict {
  readonly level: 'well' | 'waiting' | 'unwell'
  readonly sentence: string
}

export function countStatuses(resources: readonly ResourceStatus[]): Counts {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<Status, number> // of the same list
  for (const { status } of resources) counts[status] += 1
  return counts
}

/** The first sentence of the page: what is wrong with the whole, then with how many resources. */
export function judge(counts: Counts, overview: Overview, ready: Health): Verdict {
  const total = sum(counts, STATUSES)
  const unwell = sum(
    counts,
    STATUSES.filter((status) => !isWell({ status })),
  )
  const errors = overview.findings.filter(({ severity }) => severity === 'error').length
  const wrong = [
    overview.sourceProblem === undefined ? '' : 'the manifests cannot be relied on',
    overview.brake.on ? `the create brake is on, ${overview.brake.wanted} creations wait` : '',
    unwell > 0
      ? `${unwell} of ${plural(total, 'resource')} ${unwell === 1 ? 'needs' : 'need'} attention`
      : '',
    errors > 0 ? `${plural(errors, 'error')} in manifests` : '',
  ].filter((text) => text !== '')
  if (wrong.length > 0) return { level: 'unwell', sentence: `Not all is well: ${wrong.join('; ')}.` }

  if (overview.lastLoadAt === undefined) {
    return { level: 'waiting', sentence: 'Starting: the manifests were not read yet.' }
  }
  if (!ready.ok) return { level: 'waiting', sentence: `Not ready: ${ready.detail}.` }
  if (total === 0) return { level: 'waiting', sentence: 'Nothing to do: there are no resources.' }
  if (counts.Progressing > 0) {
    return {
      level: 'waiting',
      sentence: `${counts.Progressing} of ${plural(total, 'resource')} in progress, and nothing is wrong.`,
    }
  }
  const suspended = counts.Suspended > 0 ? `, ${counts.Suspended} of them suspended` : ''
  return { level: 'well', sentence: `All is well: ${plural(total, 'resource')}${suspended}.` }
}

function sum(counts: Counts, statuses: readonly Status[]): number {
  return statuses.reduce((total, status) => total + counts[status], 0)
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
