import type { Activity, WholeFacts } from '../contract/activity.ts'
import type { Catalog } from '../contract/catalog.ts'
import type { SaidBefore } from '../contract/events.ts'
import { findingsDigest, rememberedIn } from '../contract/findings-digest.ts'
import { overdueChecks } from '../reconcile/overdue.ts'
import { withoutManifestTold } from '../reconcile/gather/pipes-without-manifest.ts'
import { pipesWithoutLock } from '../reconcile/state/pipes-without-lock.ts'
import { withoutManifestSentence } from '../contract/without-manifest.ts'
import { agoOf } from './render/ago.ts'
import type { Engine } from './compose.ts'

/** What is not said of one resource, for whoever reads the ledger. @param problem of the last reading, in words */
export function wholeFacts({ context }: Engine, problem: string | undefined): WholeFacts {
  const { store } = context
  const { findings = [], entries } = store.catalog ?? {}
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return {
    problem: problem === undefined ? undefined : notAccepted(problem),
    errors,
    findings: store.catalog && findingsDigest(findings),
    overdue: overdueChecks(context),
    unreconciled: [...(entries?.values() ?? [])].filter(
      ({ key, state }) => state === 'valid' && store.record(key)?.conditions === undefined,
    ).length,
    withoutLock: pipesWithoutLock(store),
    withoutManifest: withoutManifestTold(context),
  }
}

/** What an earlier process, which wrote this down last, said of the manifests. */
export function saidBefore(last: Activity | undefined, { findings, problem }: Catalog): SaidBefore {
  const { known, gone } = rememberedIn(last?.findings ?? '', findings)
  return {
    findings: known,
    findingsOver: problem === undefined ? gone : 0,
    problem: problem !== undefined && last?.problem === notAccepted(problem.message),
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

/** What is worth knowing of the whole, and wrong with nothing. @param now ms since the epoch */
export function wholeHints(
  { withoutLock = 0, withoutManifest = [] }: WholeFacts,
  now: number,
): readonly string[] {
  const ofLock =
    withoutLock === 0
      ? []
      : [
          `${withoutLock === 1 ? 'The id of 1 pipe is' : `The ids of ${withoutLock} pipes are`} in no Lock: run "pipewright lock", and commit what it writes. If a Lock names another id for one, see first which of the two is right.`,
        ]
  const ofManifests = withoutManifest.map(
    (each) => `${withoutManifestSentence(each)} Listed ${agoOf(each.listedAt, now)}.`,
  )
  return [...ofLock, ...ofManifests]
}
