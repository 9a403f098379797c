import type { WholeFacts } from '../contract/activity.ts'
import { overdueChecks } from '../reconcile/overdue.ts'
import type { Engine } from './compose.ts'

/** What is not said of one resource, for whoever reads the ledger. @param problem of the last reading, in words */
export function wholeFacts({ context }: Engine, problem: string | undefined): WholeFacts {
  const { store } = context
  const { findings = [], entries } = store.catalog ?? {}
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return {
    problem: problem === undefined ? undefined : notAccepted(problem),
    errors,
    overdue: overdueChecks(context),
    unreconciled: [...(entries?.values() ?? [])].filter(
      ({ key, state }) => state === 'valid' && store.record(key)?.conditions === undefined,
    ).length,
  }
}

/** @param problem why, in words */
export function notAccepted(problem: string): string {
  return `Manifests not accepted; keeping the last state. ${problem}`
}

/** The same, in sentences; none when nothing is amiss. */
export function wholeSentences({ problem, errors = 0, overdue = 0 }: WholeFacts): readonly string[] {
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(errors === 0
      ? []
      : [`${errors} ${errors === 1 ? 'error' : 'errors'} in manifests: see "pipewright validate".`]),
    ...(overdue === 0
      ? []
      : [
          `${overdue} ${overdue === 1 ? 'resource was' : 'resources were'} not checked since the daemon started: what is said of ${overdue === 1 ? 'it' : 'them'} is from before.`,
        ]),
  ]
}
