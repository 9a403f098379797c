import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Finale } from './finale.ts'
import type { Options } from './options.ts'
import type { UnknownVerdict } from './judge.ts'
import type { Parts } from './storm.ts'

export type Report = ReturnType<typeof reportOf>

export function reportOf(
  parts: Parts,
  about: {
    readonly options: Options
    readonly startedAt: number
    readonly duplicates: number
    readonly unknown: UnknownVerdict
    readonly finale: Finale
  },
) {
  const { platform, killer, runner, journal, leaks, vanishings, outages, person, ledger } = parts
  const { options, unknown, finale } = about
  const { violations } = journal
  return {
    minutes: options.minutes,
    seed: options.seed,
    manifests: options.manifests,
    seconds: Math.round((Date.now() - about.startedAt) / 1_000),
    kills: killer.counts.kills,
    /** Of them, before the daemon listened. */
    earlyKills: killer.counts.early,
    terms: killer.counts.terms,
    doubleSignals: killer.counts.doubles,
    secondDaemons: killer.counts.seconds,
    starts: runner.runs.length,
    edits: journal.notes.filter(({ what }) => what.startsWith('edit: ')).length,
    vanished: vanishings.length,
    replaced: ledger.history.filter(({ message }) => message.includes(' was created in place of pipe '))
      .length,
    requests: platform.requests,
    outages: sorted(outages.counts),
    words: sorted(person.said),
    held: sorted(heldIn(ledger.history)),
    faults: sorted(platform.faults),
    posts: platform.posts.length,
    pipes: platform.sandbox.pipes().length,
    duplicates: about.duplicates,
    lost: violations.filter(({ law }) => law === 'lost').length,
    unknownOutcomes: [...unknown.causes.values()].reduce((sum, count) => sum + count, 0),
    unknownCauses: sorted(unknown.causes),
    wronglyUnknown: unknown.wrongly,
    leaks: leaks.found,
    charactersScanned: leaks.scanned,
    slowestSettleMs: finale.slowestSettleMs,
    slowestSettle: finale.slowest,
    violations,
  }
}

export function reportAsText(report: Report): string {
  const { violations, faults, outages, words, held, unknownCauses, ...facts } = report
  const lines = Object.entries(facts).map(([name, value]) => `${name.padEnd(18)} ${value ?? 'never'}`)
  const verdict =
    violations.length === 0
      ? ['No law was broken.']
      : [
          `${violations.length} VIOLATIONS:`,
          ...violations.map(({ law, subject, what }) => `  ${law} ${subject ?? ''} ${what}`),
        ]
  return [
    ...lines,
    ...countsAsText('faults', faults),
    ...countsAsText('outages', outages),
    ...countsAsText('words of persons', words),
    ...countsAsText('why nothing was created, as told', held),
    ...countsAsText('unknown outcomes, by what the platform saw', unknownCauses),
    ...verdict,
  ].join('\n')
}

function countsAsText(title: string, counts: Readonly<Record<string, number>>): readonly string[] {
  return [title, ...Object.entries(counts).map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`)]
}

/** A kill this close to something of the pipe may have to do with it. */
const NEAR_MS = 1_500

/** Everything that has to do with one pipe, in the order of time: the shrunk history of a failure. */
export function timelineOf({ journal, platform, ledger, model }: Parts, platformName: string): string {
  const lineage = model.lineage(platformName)
  const keys = new Set([lineage?.name, ...(lineage?.formerNames ?? [])].map((name) => `Pipe/${name}`))
  const own = [
    ...journal.notes.flatMap(({ at, subject, what }) => (subject === platformName ? [{ at, what }] : [])),
    ...platform.posts.flatMap((post) =>
      post.platformName === platformName
        ? [
            {
              at: post.at,
              what: `platform: create ${post.seq}, intent ${post.intentId}: ${post.created ? 'done' : 'not done'}, status ${post.status ?? 'none'}, fault ${post.fault ?? 'none'}`,
            },
          ]
        : [],
    ),
    ...ledger.history.flatMap((entry) =>
      keys.has(entry.key) ? [{ at: entry.at, what: `ledger: ${wordsOf(entry)}` }] : [],
    ),
  ]
  const all = journal.notes.filter(
    ({ subject, at }) => subject === undefined && own.some((event) => Math.abs(event.at - at) < NEAR_MS),
  )
  return [...own, ...all]
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, what }) => `  ${new Date(at).toISOString().slice(11, 23)}  ${what}`)
    .join('\n')
}

function wordsOf(entry: HistoryEntry): string {
  const what =
    entry.type === 'action'
      ? `${entry.action} ${entry.result}${entry.intentId === undefined ? '' : `, intent ${entry.intentId}`}`
      : `${entry.condition} is ${entry.status}`
  return `${entry.key} ${what}, ${entry.reason}: ${entry.message}`
}

const HELD: ReadonlySet<string> = new Set(['NeverSeen', 'Missing', 'MissingUnconfirmed', 'MassMissing'])

/** How often each reason was told that has to do with what is not found, or not known. */
function heldIn(history: readonly HistoryEntry[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { reason } of history) if (HELD.has(reason)) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return counts
}

function sorted(counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
