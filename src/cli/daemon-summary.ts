import { countFindings } from '../server/api/overview.ts'
import {
  findingsDigest,
  reportedIn,
  withoutManifestSentence,
  type Activity,
  type DaemonSummary,
} from '../contract/activity.ts'
import type { Catalog } from '../contract/catalog.ts'
import type { SaidBefore } from '../contract/events.ts'
import { withoutManifestTold } from '../reconcile/gather/pipes-without-manifest.ts'
import { pipesWithoutLock } from '../reconcile/state/recorded.ts'
import { agoOf } from './render/terminal.ts'
import type { Engine } from './compose.ts'
import { withCommands, type StepContext } from '../plan/step.ts'

export function wholeFacts({ context }: Engine, problem: string | undefined): DaemonSummary {
  const { store } = context
  const { findings = [] } = store.catalog ?? {}
  return {
    problem:
      problem === undefined ? undefined : notAccepted(problem, !Iterator.from(store.records()).next().done),
    errors: countFindings(findings).error,
    findings: store.catalog && findingsDigest(findings),
    withoutLock: pipesWithoutLock(store),
    withoutManifest: withoutManifestTold(context),
  }
}

export function saidBefore(last: Activity | undefined, { findings, problem }: Catalog): SaidBefore {
  return {
    findings: reportedIn(last?.findings ?? '', findings),
    problem: problem !== undefined && last?.problem?.endsWith(problem.message) === true,
  }
}

export function notAccepted(problem: string, hasState: boolean): string {
  return `Manifests not accepted${hasState ? '; keeping the last state' : ''}. ${problem}`
}

export function wholeSentences(whole: DaemonSummary, commands: StepContext): readonly string[] {
  const { problem, errors = 0, overdue = 0 } = whole
  const sentences = [
    ...(problem === undefined ? [] : [problem]),
    ...(errors === 0 ? [] : [`Errors in manifests: ${errors}. See "pipewright validate".`]),
    ...(overdue === 0 ? [] : [`Resources not checked since the daemon started (old status): ${overdue}.`]),
  ]
  return sentences.map((text) => withCommands(text, commands))
}

/** @param now ms since the epoch */
export function wholeHints(
  { withoutLock = 0, withoutManifest = [] }: DaemonSummary,
  now: number,
  commands: StepContext,
): readonly string[] {
  const ofLock =
    withoutLock === 0
      ? []
      : [
          `Pipes in no Lock: ${withoutLock}. If the ledger is lost, Pipewright might create them again. Run "pipewright lock", and commit its output. If a Lock has another id for a pipe, first find out which id is right.`,
        ]
  const ofManifests = withoutManifest.map(
    (each) => `${withoutManifestSentence(each)} Listed ${agoOf(each.listedAt, now)}.`,
  )
  return [...ofLock, ...ofManifests].map((text) => withCommands(text, commands))
}
