/** `good`: nobody has to look. `bad`: somebody has to. `between`: on its way; what was sent about it stays true until it settles. */
export type Wellness = 'good' | 'between' | 'bad'

/** One word for a resource, worst first, and whether it is well; the label values of `pipewright_resources{status}`. */
const WELLNESS = {
  OutcomeUnknown: 'bad',
  Invalid: 'bad',
  Missing: 'bad',
  Failed: 'bad',
  Refused: 'bad',
  Drifted: 'bad',
  NotReady: 'bad',
  Orphaned: 'bad',
  // Somebody wanted it so, and it ends by itself.
  Suspended: 'good',
  // Its manifest asks for that, and can be removed.
  Absent: 'good',
  Progressing: 'between',
  Ready: 'good',
} as const satisfies Readonly<Record<string, Wellness>>

export type Status = keyof typeof WELLNESS

export const STATUSES = Object.keys(WELLNESS) as readonly Status[] // the keys of an object literal

export function wellnessOf(status: Status): Wellness {
  return WELLNESS[status]
}

/** Does nobody have to look at it? */
export function isWell({ status }: { readonly status: Status }): boolean {
  return WELLNESS[status] !== 'bad'
}

/** How much a problem matters, least first. */
export const SEVERITIES = ['info', 'warning', 'critical'] as const

/** `critical`: data may be missing, or doubled by a wrong step. `warning`: somebody should look. `info`: nobody has to. */
export type Severity = (typeof SEVERITIES)[number]
