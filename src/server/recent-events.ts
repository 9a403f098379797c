import type { Key } from '../kinds/key.ts'
import type { Revision } from '../contract/catalog.ts'
import type { Event, WatchMode } from '../contract/events.ts'

/** Something that is shown is other than before. */
export interface Change {
  readonly type: (typeof CHANGE_TYPES)[number]
  /** Empty: not about single resources. */
  readonly keys: readonly Key[]
}

export const CHANGE_TYPES = ['resources', 'source', 'history'] as const

/** Readings and the like that are remembered. */
const SOURCE_ENTRIES = 200

/** Keys that one entry names. */
const KEYS_NAMED = 20

/** States that are remembered of one resource. */
const STATES_PER_KEY = 50

/** Resources of which states are remembered: far above what one daemon looks after. */
const KEYS_WITH_STATES = 50_000

/** What happened to the source or to the whole, and stands in no ledger. `at`: ms since the epoch. */
export type SourceEntry = { readonly at: number } & (
  | {
      /** A reading found something else than the one before. */
      readonly type: 'revision'
      readonly revision: string
      readonly from: Revision['from']
      /** The first of them, at most 20. */
      readonly keys: readonly Key[]
      readonly changed: number
      /** How many of them have no manifest any more. */
      readonly removed: number
      readonly errors: number
      readonly warnings: number
    }
  | {
      /** The source can, or can no longer, be relied on, or is watched in another way. */
      readonly type: 'source'
      readonly what: 'problem' | 'recovered' | 'watch'
      readonly message: string
    }
  | { readonly type: 'create-limit'; readonly on: boolean; readonly message: string }
)

/** A state of a pipe or an alert, as the platform reported it. */
export interface StateSpan {
  /** `undefined`: the reply carried none. */
  readonly state: string | undefined
  /** When it was first seen: ms since the epoch. */
  readonly from: number
  /** When it was last seen. */
  readonly until: number
}

/** Kept and changed in place: one that stays what it is takes no more room. */
type OpenSpan = { -readonly [K in keyof StateSpan]: StateSpan[K] }

export interface LastReading {
  /** ms since the epoch. */
  readonly at: number
  readonly durationMs: number
  readonly ok: boolean
}

/**
 * The past that the page tells and no ledger keeps: readings, and the states of pipes and alerts. It is in memory,
 * bounded, and begins with the process. Who subscribes hears what is shown otherwise because of an event.
 */
export interface RecentEvents {
  add(event: Event): void
  /** @returns a function that ends the subscription */
  subscribe(listener: (change: Change) => void): () => void
  /** Newest first. */
  source(): readonly SourceEntry[]
  /** Oldest first; empty when nothing was seen yet. */
  states(key: Key): readonly StateSpan[]
  readonly lastReading: LastReading | undefined
  readonly watch: { readonly mode: WatchMode; readonly message: string } | undefined
  /** Changes that no watcher event announced. */
  readonly missedChanges: number
}

const SOURCE: Change = { type: 'source', keys: [] }

function resources(...keys: readonly Key[]): Change {
  return { type: 'resources', keys }
}

/** @param now ms since the epoch */
export function createRecentEvents(now: () => number): RecentEvents {
  const entries: SourceEntry[] = []
  /** A span, or spans where there was more than one: of most resources the state never changes. */
  const spans = new Map<Key, OpenSpan | OpenSpan[]>()
  let lastReading: LastReading | undefined
  let lastRevision: string | undefined
  let problem: string | undefined
  let watch: RecentEvents['watch']
  let missedChanges = 0
  const listeners = new Set<(change: Change) => void>()

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
      message: message ?? 'The directory can be read and believed again.',
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
    // To a process that has just started an unchanged directory is no news.
    if (isFirst && changed.length === 0) return
    const errors = findings.filter(({ severity }) => severity === 'error').length
    note({
      at: now(),
      type: 'revision',
      revision: revision.id,
      from: revision.from,
      keys: changed.slice(0, KEYS_NAMED),
      changed: changed.length,
      removed,
      errors,
      warnings: findings.length - errors,
    })
  }

  function noteFailure({ durationMs, message }: Extract<Event, { type: 'SourceFailed' }>): readonly Change[] {
    lastReading = { at: now(), durationMs, ok: false }
    noteProblem(message)
    return [SOURCE]
  }

  function noteWatchMode({ mode, message }: Extract<Event, { type: 'WatchModeChanged' }>): readonly Change[] {
    watch = { mode, message }
    note({ at: now(), type: 'source', what: 'watch', message })
    return [SOURCE]
  }

  function noteCreateLimit({
    on,
    service,
    wanted,
    made,
    limit,
  }: Extract<Event, { type: 'CreateLimitChanged' }>): readonly Change[] {
    const before = made === 0 ? '' : ` ${made} were made within the last hour,`
    const message = on
      ? `In service ${service}, ${wanted} creations are pending,${before} and the create limit is ${limit}.`
      : `Creations in service ${service} are allowed again.`
    note({ at: now(), type: 'create-limit', on, message })
    return [SOURCE]
  }

  /** @returns whether it is another one than before */
  function noteState(key: Key, state: string | undefined): boolean {
    const at = now()
    const known = spans.get(key)
    const last = Array.isArray(known) ? known.at(-1) : known
    if (last?.state === state && last !== undefined) {
      last.until = at
      return false
    }
    const span = { state, from: at, until: at }
    if (known === undefined) {
      if (spans.size < KEYS_WITH_STATES) spans.set(key, span)
      return false
    }
    spans.set(key, [known, span].flat().slice(-STATES_PER_KEY))
    return true
  }

  function tell(change: Change): void {
    for (const listener of listeners) listener(change)
  }

  /** What is remembered and shown of each event; `undefined`: nothing. */
  const shown: { readonly [E in Event as E['type']]: ((event: E) => readonly Change[]) | undefined } = {
    ReconcileFinished: ({ key, changed }) =>
      changed ? [resources(key), { type: 'history', keys: [key] }] : [],
    ConditionChanged: ({ key }) => [resources(key)],
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
    SourceFailed: noteFailure,
    WatchModeChanged: noteWatchMode,
    CreateLimitChanged: noteCreateLimit,
    ProblemFound: undefined,
    ProblemGrew: undefined,
    ProblemOver: undefined,
    CreateStarted: undefined,
    CreateFinished: undefined,
    RequestFinished: undefined,
    BudgetWaited: undefined,
    RateLimited: undefined,
    RateLimitOver: undefined,
    ShortSecretFound: undefined,
    ListItemsOdd: undefined,
    ServicePaused: undefined,
    ServiceResumed: undefined,
    LedgerWritten: undefined,
    LedgerRead: undefined,
    LedgerPutBack: () => [SOURCE],
    LeadershipChanged: () => [SOURCE],
    LeaseRenewed: undefined,
    QueueChanged: undefined,
    QueueWaited: undefined,
    NotificationSent: undefined,
    NotificationFailed: undefined,
    NotificationsWaiting: undefined,
    NotificationsForgotten: undefined,
    Started: undefined,
    CredentialsMisplaced: undefined,
    CredentialsExposed: undefined,
    TlsFilesUnusable: undefined,
    ConnectionsLimited: undefined,
    SandboxReady: undefined,
    FailpointSet: undefined,
    Stopping: undefined,
    Stopped: undefined,
    OutcomeLost: undefined,
    Bug: undefined,
  }

  return {
    add(event) {
      const changesOf = shown[event.type] as ((event: Event) => readonly Change[]) | undefined // the one of its type
      for (const change of changesOf?.(event) ?? []) tell(change)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    source: () => entries.toReversed(),
    states: (key) => [spans.get(key) ?? []].flat().map((span) => ({ ...span })),
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
