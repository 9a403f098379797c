/** `between`: the status is still changing, so it neither opens nor resolves a problem. */
type Wellness = 'good' | 'between' | 'bad'

/** Worst first. Label values of `pipewright_resources{status}`. */
const WELLNESS = {
  OutcomeUnknown: 'bad',
  Invalid: 'bad',
  Missing: 'bad',
  Failed: 'bad',
  Refused: 'bad',
  Drifted: 'bad',
  NotReady: 'bad',
  Orphaned: 'bad',
  Suspended: 'good',
  Absent: 'good',
  Progressing: 'between',
  Ready: 'good',
} as const satisfies Readonly<Record<string, Wellness>>

export type Status = keyof typeof WELLNESS

export const STATUSES = Object.keys(WELLNESS) as readonly Status[] // the keys of an object literal

export function wellnessOf(status: Status): Wellness {
  return WELLNESS[status]
}

export function isWell({ status }: { readonly status: Status }): boolean {
  return WELLNESS[status] !== 'bad'
}

export const SEVERITIES = ['info', 'warning', 'critical'] as const

/** `critical`: data might be missing, or duplicated by a wrong step. `warning`: needs attention. */
export type Severity = (typeof SEVERITIES)[number]
