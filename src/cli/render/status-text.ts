import { formatDuration } from '../../lib/duration.ts'
import { isWell, type Status } from '../../plan/severity.ts'
import type { Intent } from '../../plan/record.ts'
import type { ResourceStatus } from '../../contract/status.ts'
import { type Paint, formatTable, printable } from './terminal.ts'

const STYLES: Readonly<Record<Status, Parameters<Paint>[0]>> = {
  OutcomeUnknown: ['red', 'bold'],
  Invalid: 'red',
  Missing: 'red',
  Failed: 'red',
  Refused: 'red',
  Drifted: 'yellow',
  NotReady: 'yellow',
  Orphaned: 'yellow',
  Suspended: 'dim',
  Progressing: 'cyan',
  Ready: 'green',
}

type Shown = Pick<
  ResourceStatus,
  'key' | 'status' | 'reason' | 'message' | 'file' | 'line' | 'conditions' | 'pipeId'
>

/** Resources side by side, then what is not well in full. */
export function statusTable(resources: readonly Shown[], paint: Paint): string {
  if (resources.length === 0) return 'Nothing is known yet.'
  const rows = resources.map(({ key, status, reason, file, line, pipeId }) => [
    key,
    paint(STYLES[status], status),
    reason,
    pipeId ?? '-',
    file === undefined ? '-' : `${file}:${line ?? 1}`,
  ])
  const head = ['RESOURCE', 'STATUS', 'REASON', 'PIPE', 'MANIFEST'].map((name) => paint('dim', name))
  const unwell = resources.filter((resource) => !isWell(resource))
  const details = unwell.map(({ key, status, message }) => `${paint(STYLES[status], key)}: ${message}`)
  const count = `${resources.length - unwell.length} of ${resources.length} are well.`
  return printable([formatTable([head, ...rows]), '', ...details, count].join('\n'))
}

/** All that is known of one resource. */
export function statusDetails(
  resource: Shown & { readonly intent: Intent | undefined },
  now: number,
  paint: Paint,
): string {
  const conditions = Object.entries(resource.conditions).map(([type, condition]) => [
    `  ${type}`,
    condition.status,
    condition.reason,
    `for ${formatDuration(Math.max(0, now - condition.since))}`,
    condition.message,
  ])
  const place = resource.file === undefined ? 'no manifest' : `${resource.file}:${resource.line ?? 1}`
  const lines = [
    `${paint('bold', resource.key)}  ${paint(STYLES[resource.status], resource.status)}`,
    `  manifest  ${place}`,
    ...(resource.pipeId === undefined ? [] : [`  pipe      ${resource.pipeId}`]),
    ...(resource.intent === undefined ? [] : [`  attempt   ${attemptLine(resource.intent)}`]),
    '',
    formatTable(conditions),
    ...(conditions.some((cells) => cells.includes(resource.message)) ? [] : ['', resource.message]),
  ]
  return printable(lines.join('\n'))
}

/** What a person needs to find the request on the other side. */
function attemptLine({ attempt, state, openedAt, id, seen }: Intent): string {
  const reply = [
    ...(seen?.requestId === undefined ? [] : [`request ${seen.requestId}`]),
    ...(seen?.httpStatus === undefined ? [] : [`HTTP ${seen.httpStatus}`]),
  ]
  return [`${attempt}, ${state}`, new Date(openedAt).toISOString(), `intent ${id}`, ...reply].join(', ')
}
