import { NOTHING_SAID_BEFORE, type SaidBefore, type WatchMode } from '../contract/events.ts'
import { aborted } from 'node:util'
import { nameOf, type Key } from '../kinds/key.ts'
import { isReference } from '../kinds/lookup.ts'
import type { Catalog } from '../contract/catalog.ts'
import type { LoadResult, Source } from '../manifest/source.ts'
import type { Priority } from '../contract/platform.ts'
import { seedStatus, type WritableBoard } from '../reconcile/state/status-board.ts'
import { catchUp } from '../reconcile/state/current-record.ts'
import type { ReconcileContext } from '../reconcile/context.ts'
import type { Reconciler } from '../reconcile/reconciler.ts'
import { isSuspended } from '../contract/status.ts'
import { concerned } from './catalog-changes.ts'
import { startActing, type Acting } from './acting.ts'
import { createLimitChanges } from './limit-changes.ts'
import { serviceQueueOf } from './service-queue.ts'
import { createReadings, type ReadingContext } from './readings.ts'
import { createRequests } from './reconcile-tokens.ts'
import type { TriggerCause, Watcher } from './watcher.ts'

export interface DaemonParts {
  /** Whether it reconciles from the start, or reads and shows only until {@link Daemon.act}. */
  readonly isActing: boolean
  readonly context: ReconcileContext
  readonly board: WritableBoard
  readonly reconciler: Reconciler
  readonly source: Source
  readonly concurrency: number
  /** As `ActingParts.lateForMs`, whenever it begins to act. */
  readonly lateForMs: () => number | undefined
  /** Services, and `alerts`, whose credentials were refused and are others by now. */
  readonly renewed: () => Promise<readonly string[]>
  /** A person asks about this service, or `alerts`: refused credentials are tried now. */
  readonly probeNow: (service: string) => void
  /** A person asks for a check: what it is made with is read from the files again. */
  readonly forgetSecrets: () => void
  /** What was asked for is checked: writes down when, so that whoever asked finds it in the ledger. */
  readonly noteChecks: () => Promise<void>
  /** A person takes the manifests as they are. */
  readonly onAccept: () => void
  /** Whether an earlier process said the same of the manifests. */
  readonly saidBefore: (catalog: Catalog) => SaidBefore
  /** Watches the directory from now on; the triggers are the daemon's. */
  readonly watch: (onTrigger: (cause: TriggerCause) => void) => Promise<Watcher>
}

/** When things happen: readings, reconciles, and the end of both. */
export interface Daemon {
  /**
   * Reads the directory and reconciles everything; or one resource, as its manifest was last read.
   * @param accept `force`: a person accepts the directory as it is, even if most manifests are gone
   */
  request(
    key: Key | undefined,
    accept: 'force' | 'normal',
  ): {
    readonly token: string
    readonly accepted: readonly Key[] | 'all'
    readonly suspended: readonly Key[]
  }
  progress(token: string): { readonly done: boolean; readonly pending: number } | undefined
  health(): { readonly ok: boolean; readonly detail: string }
  ready(): { readonly ok: boolean; readonly detail: string }
  /** Resolves when a first reading was tried; never, if the daemon is stopped before. */
  readonly firstReading: Promise<void>
  queueDepth(): Readonly<Record<Priority, number>>
  watchMode(): WatchMode
  readonly catalog: Catalog | undefined
  /** ms since the epoch. */
  readonly lastLoadAt: number | undefined
  /** Since when the revision in force is there: ms since the epoch. Undefined: nobody knows. */
  readonly revisionSince: number | undefined
  /** Why the last reading failed or is not believed, in words. */
  readonly sourceProblem: string | undefined
  /** Reconciles from now on, what was read so far and what will be: this process is the one that acts. */
  act(): Promise<void>
  /**
   * Starts nothing new, and waits for what runs until `deadline` is aborted.
   * @returns how many reconciles had not ended by then
   */
  stop(deadline: AbortSignal): Promise<{ readonly unfinished: number }>
}

/** Starts the daemon: reads once, then follows the watcher, the queue and the clock until it is stopped. */
export async function startDaemon(parts: DaemonParts): Promise<Daemon> {
  const { context, board, source } = parts
  const { store, ledger, clock, emit } = context
  const stopping = new AbortController()
  const requests = createRequests(context.newId, parts.noteChecks)
  const limitChanges = createLimitChanges(context)
  let acting = parts.isActing ? begin() : undefined
  let sourceProblem: string | undefined
  let revisionSince: number | undefined
  /** Keys of which further readings, which come soon, say whether they are gone. */
  let unconfirmed: ReadonlySet<Key> = new Set()

  // Before the records are read for the first time, so that nothing falls between.
  const endLedgerWatch = await ledger.watch(async () => {
    for (const key of await catchUp(context)) {
      // What another process or a person wrote is shown at once, and not when its turn comes; what is lost is shown no longer.
      const isThere = store.record(key) !== undefined || store.entry(key) !== undefined
      if (isThere && board.get(key) !== undefined) seedStatus(context, board, key)
      forgetIfGone(key)
      ask(key, 0)
    }
  })
  for (const record of await ledger.list()) store.note(record)
  const readings = createReadings({
    context,
    source,
    stopping: stopping.signal,
    onLoaded: take,
    onFailed(message, { durationMs, tokens }) {
      sourceProblem = message
      emit({ type: 'SourceFailed', reason: 'SourceUnreadable', message, durationMs })
      for (const token of tokens) requests.expect(token, [])
    },
  })
  const watcher = await parts.watch((cause) => readings.nudge(cause))
  readings.start()

  /** Reconciles from now on. */
  function begin(): Acting {
    return startActing({
      ...parts,
      lateForMs: parts.lateForMs(),
      isUnconfirmed: (key) => unconfirmed.has(key),
      onRun: (key) => requests.request(key),
      onRan(_key, isVanishing) {
        // A reconcile that began before its manifest was deleted may have recorded a key that no reading asks for any more.
        if (isVanishing) readAgainSoon()
        limitChanges.emitNew()
      },
    })
  }

  /** Takes over a reading: the catalog, what is shown, and what has to be reconciled. */
  function take(
    { state, changed: altered, counts, differs, since }: LoadResult,
    reading: ReadingContext,
  ): void {
    const first = store.catalog === undefined
    const wasOlder = store.olderThan !== undefined
    const { catalog } = state
    // To a process that has just started everything is new; to whoever reads what it says, only what another one has not seen.
    const changed = first ? altered.filter((key) => isOtherThanRecorded(catalog, key)) : altered
    // What an earlier process knew to be removed is removed anew for this one, and is no news.
    const news = changed.filter((key) => catalog.entries.has(key) || !isKnownOrphan(key))
    const also = differs ? concerned(store.catalog, catalog, store.records()) : []
    store.setCatalog(catalog)
    sourceProblem = catalog.problem?.message
    if (catalog.problem === undefined) revisionSince = since
    unconfirmed = catalog.problem === undefined ? state.pending : new Set()
    const late = reading.cause === 'poll' || reading.cause === 'full'
    emit({
      type: 'SourceLoaded',
      revision: catalog.revision,
      since,
      durationMs: reading.durationMs,
      changed: news,
      removed: news.filter((key) => !catalog.entries.has(key)).length,
      manifests: counts,
      findings: catalog.findings,
      problem: sourceProblem,
      saidBefore: first ? parts.saidBefore(catalog) : NOTHING_SAID_BEFORE,
      missedByWatcher: differs && !first && late && listens(watcher.mode()),
    })
    const isTrusted = wasOlder && store.olderThan === undefined
    const everything = first || isTrusted || reading.tokens.length > 0
    const keys = everything ? allKeys(catalog) : new Set([...changed, ...also])
    for (const key of changed) if (!first || !isSettled(key)) acting?.noteChange(key, reading.startedAt)
    for (const key of keys) {
      seedStatus(context, board, key)
      forgetIfGone(key)
      ask(key, first && isSettled(key) ? 2 : 0)
    }
    showPositions(board, catalog)
    for (const key of everything ? [] : keys) for (const other of store.dependents(key)) ask(other, 0)
    for (const token of reading.tokens) requests.expect(token, [...keys])
    if (state.pending.size > 0) readAgainSoon()
    limitChanges.emitNew()
  }

  /** While this process acts, a reconcile finds that out. */
  function forgetIfGone(key: Key): void {
    const isGone = store.record(key) === undefined && store.entry(key) === undefined
    if (isGone && acting === undefined) board.remove(key)
  }

  function isOtherThanRecorded({ entries }: Catalog, key: Key): boolean {
    const entry = entries.get(key)
    return entry !== undefined && entry.digest !== store.record(key)?.manifest?.digest
  }

  /** After a restart, what was settled before is no change, and is checked behind what never was. */
  function isSettled(key: Key): boolean {
    return store.record(key)?.conditions?.Synced.status === 'True'
  }

  function isKnownOrphan(key: Key): boolean {
    return store.record(key)?.conditions?.Valid.reason === 'Orphaned'
  }

  /** Reads again soon, unless the directory is not believed anyway. */
  function readAgainSoon(): void {
    if (sourceProblem === undefined) readings.readAgain()
  }

  function ask(key: Key, priority: Priority): void {
    acting?.ask(key, priority)
  }

  function allKeys(catalog: Catalog): Set<Key> {
    return new Set([...catalog.entries.keys(), ...[...store.records()].map((record) => record.key)])
  }

  return {
    request(key, accept) {
      const token = requests.open()
      parts.forgetSecrets()
      const suspended = (key === undefined ? board.list() : [board.get(key)]).flatMap((status) =>
        status !== undefined && isSuspended(status, clock.now()) ? [status.key] : [],
      )
      if (key === undefined) {
        if (accept === 'force') parts.onAccept()
        readings.request(token, accept)
        return { token, accepted: 'all', suspended }
      }
      requests.expect(token, [key])
      parts.probeNow(isReference(key) ? nameOf(key) : serviceQueueOf(store, key))
      acting?.askFor(key)
      return { token, accepted: [key], suspended }
    },
    progress: (token) => requests.progress(token),
    health: () => acting?.health() ?? { ok: true, detail: 'stands by' },
    ready: () =>
      readings.attempted
        ? { ok: true, detail: 'the directory was read, or was tried to be, and the ledger is open' }
        : { ok: false, detail: 'the directory was not read yet' },
    firstReading: readings.firstAttempt,
    queueDepth: () => acting?.queueDepth() ?? { 0: 0, 1: 0, 2: 0 },
    watchMode: () => watcher.mode(),
    get catalog() {
      return store.catalog
    },
    get lastLoadAt() {
      return readings.lastLoadAt
    },
    get revisionSince() {
      return revisionSince
    },
    get sourceProblem() {
      return sourceProblem
    },
    async act() {
      // What others have written since it was heard of last.
      for (const key of await catchUp(context)) forgetIfGone(key)
      if (stopping.signal.aborted) return
      acting = begin()
      if (store.catalog === undefined) return
      for (const key of allKeys(store.catalog)) {
        seedStatus(context, board, key)
        ask(key, isSettled(key) ? 2 : 0)
      }
      limitChanges.emitNew()
    },
    async stop(deadline) {
      stopping.abort(new DOMException('Pipewright is stopping', 'AbortError'))
      endLedgerWatch()
      const stopped = acting?.stop(deadline) ?? { unfinished: 0 }
      // A file system that hangs ends neither; what runs is waited for all the same, and no longer than said.
      await Promise.race([Promise.all([watcher.close(), readings.stop()]), aborted(deadline, deadline)])
      return stopped
    },
  }
}

/** A manifest that only moved is not reconciled, but shown where it stands now. */
function showPositions(board: WritableBoard, catalog: Catalog): void {
  for (const { key, position } of catalog.entries.values()) {
    const shown = board.get(key)
    if (shown === undefined || (shown.file === position.file && shown.line === position.line)) continue
    board.set({ ...shown, file: position.file, line: position.line })
  }
}

/** Whether the watcher is one that hears of changes; polling finds them late by nature. */
function listens(mode: WatchMode): boolean {
  return mode === 'recursive' || mode === 'parent'
}
