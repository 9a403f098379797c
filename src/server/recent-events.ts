import type { Key } from '../kinds/key.ts'
import type { Revision } from '../contract/catalog.ts'
import type { Event, ProblemFacts, WatchMode } from '../contract/events.ts'

export interface PageUpdate {
  readonly type: (typeof CHANGE_TYPES)[number]
  /** Empty: the change is not about single resources. */
  readonly keys: readonly Key[]
}

export const CHANGE_TYPES = ['resources', 'source', 'history'] as const

const SOURCE_ENTRIES = 200

const KEYS_NAMED = 20

const STATES_PER_KEY = 50

/** Kept in memory only. `at`: ms since the epoch. */
export type SourceEntry = { readonly at: number } & (
  | {
      readonly type: 'revision'
      readonly revision: string
      readonly from: Revision['from']
      readonly commit?: Revision['commit']
      readonly keys: readonly Key[]
      readonly changed: number
      readonly removed: number
      readonly errors: number
      readonly warnings: number
    }
  | {
      readonly type: 'source'
      readonly what: 'problem' | 'recovered' | 'watch'
      readonly message: string
    }
)

export type RecentEvents = ReturnType<typeof createRecentEvents>

const SOURCE: PageUpdate = { type: 'source', keys: [] }

function resources(...keys: readonly Key[]): PageUpdate {
  return { type: 'resources', keys }
}

function problemChanged({ keys }: Pick<ProblemFacts, 'keys'>): readonly PageUpdate[] {
  return [resources(...keys)]
}

export function createRecentEvents(now: () => number) {
  const entries: SourceEntry[] = []
  /** Each state was first seen at `from`, last at `until`: ms since the epoch. */
  const spans = new Map<
    Key,
    readonly { readonly state: string | undefined; readonly from: number; readonly until: number }[]
  >()
  /** `at`: ms since the epoch. */
  let lastReading: { readonly at: number; readonly durationMs: number; readonly ok: boolean } | undefined
  let lastRevision: string | undefined
  let problem: string | undefined
  let watch: { readonly mode: WatchMode; readonly message: string } | undefined
  let missedChanges = 0
  const listeners = new Set<(change: PageUpdate) => void>()

  function note(entry: SourceEntry): void {
    entries.push(entry)
    if (entries.length > SOURCE_ENTRIES) entries.shift()
  }

  function noteProblem(message: string | undefined): void {
    if (message === problem) return
    problem = message
    note({
      at: now(),
      type: 'source',
      what: message === undefined ? 'recovered' : 'problem',
      message: message ?? 'The manifests are accepted again.',
    })
  }

  function noteReading(event: Extract<Event, { type: 'SourceLoaded' }>): void {
    const { revision, changed, removed, findings, durationMs } = event
    const isFirst = lastRevision === undefined
    lastReading = { at: now(), durationMs, ok: event.problem === undefined }
    if (event.missedByWatcher) missedChanges += 1
    noteProblem(event.problem)
    if (event.problem !== undefined || (revision.id === lastRevision && changed.length === 0)) return
    lastRevision = revision.id
    // The first read of an unchanged directory is no news.
    if (isFirst && changed.length === 0) return
    const errors = findings.filter(({ severity }) => severity === 'error').length
    note({
      at: now(),
      type: 'revision',
      revision: revision.id,
      from: revision.from,
      commit: revision.commit,
      keys: changed.slice(0, KEYS_NAMED),
      changed: changed.length,
      removed,
      errors,
      warnings: findings.length - errors,
    })
  }

  function noteState(key: Key, state: string | undefined): boolean {
    const at = now()
    const known = spans.get(key) ?? []
    const last = known.at(-1)
    if (last !== undefined && last.state === state) {
      spans.set(key, [...known.slice(0, -1), { ...last, until: at }])
      return false
    }
    spans.set(key, [...known, { state, from: at, until: at }].slice(-STATES_PER_KEY))
    return last !== undefined
  }

  const changesOf: {
    readonly [T in Event['type']]?: (event: Extract<Event, { readonly type: T }>) => readonly PageUpdate[]
  } = {
    ReconcileFinished: ({ key, changed }) =>
      changed ? [resources(key), { type: 'history', keys: [key] }] : [],
    ConditionChanged: ({ key }) => [resources(key)],
    ProblemFound: problemChanged,
    ProblemGrew: problemChanged,
    ProblemOver: problemChanged,
    Observed: ({ key, state }) => (noteState(key, state) ? [resources(key)] : []),
    Forgotten({ key }) {
      spans.delete(key)
      return [resources(key)]
    },
    SourceLoaded(event) {
      noteReading(event)
      const { changed, missedByWatcher } = event
      return changed.length > 0 || missedByWatcher ? [SOURCE, resources(...changed)] : [SOURCE]
    },
    SourceFailed({ durationMs, message }) {
      lastReading = { at: now(), durationMs, ok: false }
      noteProblem(message)
      return [SOURCE]
    },
    WatchModeChanged({ mode, message }) {
      watch = { mode, message }
      note({ at: now(), type: 'source', what: 'watch', message })
      return [SOURCE]
    },
    LedgerRolledBack: () => [SOURCE],
    LeadershipChanged: () => [SOURCE],
  }

  return {
    add: (event: Event) => {
      const changes =
        (changesOf[event.type] as ((of: Event) => readonly PageUpdate[]) | undefined)?.(event) ?? [] // of its type
      for (const change of changes) for (const listener of listeners) listener(change)
    },
    subscribe(listener: (change: PageUpdate) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    source: () => entries.toReversed(),
    /** Oldest first. */
    states: (key: Key) => spans.get(key) ?? [],
    get lastReading() {
      return lastReading
    },
    get watch() {
      return watch
    },
    get missedChanges() {
      return missedChanges
    },
  }
}
