import { aborted } from '../lib/clock.ts'
import { NOTHING_SAID_BEFORE, type SaidBefore, type WatchMode } from '../contract/events.ts'
import { nameOf, type Key } from '../kinds/key.ts'
import { isReference } from '../kinds/lookup.ts'
import type { Catalog } from '../contract/catalog.ts'
import type { LoadResult, Source } from '../manifest/source.ts'
import type { Priority } from '../contract/platform.ts'
import { isSuspensionOver } from '../reconcile/state/entry-policy.ts'
import { seedStatus, type WritableBoard } from '../reconcile/state/status-board.ts'
import { syncStoreFromLedger } from '../reconcile/state/record-io.ts'
import type { OperatorCommand } from '../contract/person-command.ts'
import { startLeaderLoop, type Acting } from './leader-loop.ts'
import { keysOf } from './pass.ts'
import { serviceQueueOf } from './service-queue.ts'
import { createReadings, type ReadingContext, listAffected, createRequests } from './readings.ts'
import type { TriggerCause, Watcher } from './watcher.ts'

interface DaemonParts extends Omit<
  Parameters<typeof startLeaderLoop>[0],
  'lateForMs' | 'isUnconfirmed' | 'onRun' | 'onRan'
> {
  readonly source: Source
  readonly lateForMs: () => number | undefined
  readonly probeNow: (service: string) => void
  readonly forgetSecrets: () => void
  readonly onAccept: () => void
  readonly saidBefore: (catalog: Catalog) => SaidBefore
  readonly watch: (onTrigger: (cause: TriggerCause) => void) => Promise<Watcher>
}

export type Daemon = ReturnType<typeof createDaemon>

export function createDaemon(parts: DaemonParts) {
  const { context, board, source } = parts
  const { store, ledger, clock, emit } = context
  const stopping = new AbortController()
  const requests = createRequests(context.newId)
  let acting: Acting | undefined
  let following: { readonly watcher: Watcher; readonly endLedgerWatch: () => void } | undefined
  let sourceProblem: string | undefined
  let revisionSince: number | undefined
  /** Keys whose manifest was missing in the last read, but not yet in three reads in a row. */
  let unconfirmed: ReadonlySet<Key> = new Set()

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
  function begin(): Acting {
    return startLeaderLoop({
      ...parts,
      lateForMs: parts.lateForMs(),
      isUnconfirmed: (key) => unconfirmed.has(key),
      onRun: (key) => requests.request(key),
      onRan(isVanishing) {
        // Reads again, because the last read might have begun before the ledger had the key.
        if (isVanishing) readAgainSoon()
      },
    })
  }

  function take({ state, changed: altered, differs, ...loaded }: LoadResult, reading: ReadingContext): void {
    const first = store.catalog === undefined
    const wasOlder = store.olderThan !== undefined
    const { catalog } = state
    const changed = first ? altered.filter((key) => isOtherThanRecorded(catalog, key)) : altered
    const news = changed.filter((key) => catalog.entries.has(key) || !isKnownOrphan(key))
    const also = differs ? listAffected(store.catalog, catalog, store.records()) : []
    store.setCatalog(catalog)
    sourceProblem = catalog.problem?.message
    if (catalog.problem === undefined) revisionSince = loaded.revisionSince
    unconfirmed = catalog.problem === undefined ? state.pending : new Set()
    const late = reading.cause === 'poll' || reading.cause === 'full'
    const isListening = watchMode() === 'recursive' || watchMode() === 'parent'
    emit({
      type: 'SourceLoaded',
      revision: catalog.revision,
      since: loaded.revisionSince,
      durationMs: reading.durationMs,
      changed: news,
      removed: news.filter((key) => !catalog.entries.has(key)).length,
      manifests: state.counts,
      findings: catalog.findings,
      problem: sourceProblem,
      saidBefore: first ? parts.saidBefore(catalog) : NOTHING_SAID_BEFORE,
      missedByWatcher: differs && !first && late && isListening,
    })
    const isTrusted = wasOlder && store.olderThan === undefined
    const everything = first || isTrusted || reading.tokens.length > 0
    const keys = everything ? new Set(keysOf(context)) : new Set([...changed, ...also, ...suspensionsOver()])
    for (const key of changed) if (!first || !wasSynced(key)) acting?.noteChange(key, reading.startedAt)
    for (const key of keys) {
      seedStatus(context, board, key)
      forgetIfGone(key)
      ask(key, first && wasSynced(key) ? 2 : 0)
    }
    showPositions(board, catalog)
    for (const key of everything ? [] : keys) for (const other of store.dependents(key)) ask(other, 0)
    for (const token of reading.tokens) requests.expect(token, [...keys])
    if (state.pending.size > 0) readAgainSoon()
  }

  /** Loads the records that other processes wrote, shows their status, and asks for their reconciles. */
  async function takeWritten(): Promise<void> {
    for (const key of await syncStoreFromLedger(context)) {
      const isThere = store.record(key) !== undefined || store.entry(key) !== undefined
      if (isThere && board.get(key) !== undefined) seedStatus(context, board, key)
      forgetIfGone(key)
      ask(key, 0)
    }
  }

  function watchMode(): WatchMode {
    return following?.watcher.mode() ?? 'none'
  }

  /** Only a standby removes the key here, because on the leader a reconcile removes the key. */
  function forgetIfGone(key: Key): void {
    const isGone = store.record(key) === undefined && store.entry(key) === undefined
    if (isGone && acting === undefined) board.remove(key)
  }

  function isOtherThanRecorded({ entries }: Catalog, key: Key): boolean {
    const entry = entries.get(key)
    return entry !== undefined && entry.digest !== store.record(key)?.manifest?.digest
  }

  /** After a restart, resources that were synced are reconciled last, because they are probably unchanged. */
  function wasSynced(key: Key): boolean {
    return store.record(key)?.conditions?.Synced.status === 'True'
  }

  /** Keys whose `suspend` or `resume` command ended, because the revision changed. */
  function suspensionsOver(): readonly Key[] {
    return [...store.records()].flatMap((record) => (isSuspensionOver(store, record) ? [record.key] : []))
  }

  function isKnownOrphan(key: Key): boolean {
    return store.record(key)?.conditions?.Valid.reason === 'Orphaned'
  }

  /** If the directory was rejected, no key counts as gone, so no further read is needed. */
  function readAgainSoon(): void {
    if (sourceProblem === undefined) readings.readAgain()
  }

  function ask(key: Key, priority: Priority): void {
    acting?.ask(key, priority)
  }

  return {
    get isStarted() {
      return following !== undefined
    },
    /** @param isActing false: this process only reads and shows, until {@link Daemon.act} */
    async start(isActing: boolean) {
      if (isActing) acting = begin()
      // The watch begins before the list, so no write is missed between them.
      const endLedgerWatch = await ledger.watch(takeWritten)
      for (const record of await ledger.list()) store.note(record)
      following = { endLedgerWatch, watcher: await parts.watch((cause) => readings.nudge(cause)) }
      readings.start()
    },
    /** @param accept `force`: a person accepts the directory even if most manifests are gone */
    request(key: Key | undefined, accept: 'force' | 'normal') {
      if (following === undefined) return { token: '', accepted: [], suspended: [] }
      const token = requests.open()
      parts.forgetSecrets()
      const suspended = (key === undefined ? board.list() : [board.get(key)]).flatMap((status) =>
        status?.suspendedUntil !== undefined && Date.parse(status.suspendedUntil) > clock.now()
          ? [status.key]
          : [],
      )
      if (key === undefined) {
        if (accept === 'force') parts.onAccept()
        readings.request(token, accept)
        return { token, accepted: 'all' as const, suspended }
      }
      requests.expect(token, [key])
      parts.probeNow(isReference(key) ? nameOf(key) : serviceQueueOf(store, key))
      acting?.askFor(key)
      return { token, accepted: [key], suspended }
    },
    /** Reads the directory, then carries out a person's command. @returns undefined before the start and on standby */
    operate(command: OperatorCommand) {
      const actor = acting
      if (actor === undefined || !readings.attempted) return undefined
      parts.forgetSecrets()
      return readings.refresh().then(() => actor.operate(command))
    },
    progress: (token: string) => requests.progress(token),
    health: () =>
      acting?.health() ?? { ok: true, detail: following === undefined ? 'starting' : 'on standby' },
    ready: () =>
      readings.attempted
        ? { ok: true, detail: 'the first read of the directory has ended, and the ledger is open' }
        : { ok: false, detail: following === undefined ? 'starting' : 'the directory was not read yet' },
    queueDepth: () => acting?.queueDepth() ?? { 0: 0, 1: 0, 2: 0 },
    watchMode,
    get catalog() {
      return store.catalog
    },
    get lastLoadAt() {
      return readings.lastLoadAt
    },
    /** When git-sync or Kubernetes published the last accepted revision, ms since the epoch. */
    get revisionSince() {
      return revisionSince
    },
    get sourceProblem() {
      return sourceProblem
    },
    async act() {
      await ledger.list() // throws if a record is unreadable, as at a start
      for (const key of await syncStoreFromLedger(context)) forgetIfGone(key)
      if (stopping.signal.aborted) return
      acting = begin()
      if (store.catalog === undefined) return
      for (const key of keysOf(context)) {
        seedStatus(context, board, key)
        ask(key, wasSynced(key) ? 2 : 0)
      }
    },
    async stop(deadline: AbortSignal) {
      stopping.abort(new DOMException('Pipewright is stopping', 'AbortError'))
      following?.endLedgerWatch()
      const stopped = acting?.stop(deadline) ?? { unfinished: 0 }
      // Waits at most until the deadline, because the file system can hang.
      await Promise.race([Promise.all([following?.watcher.close(), readings.stop()]), aborted(deadline)])
      return stopped
    },
  }
}

/** Updates file and line of manifests that only moved, because a move causes no reconcile. */
function showPositions(board: WritableBoard, catalog: Catalog): void {
  for (const { key, position } of catalog.entries.values()) {
    const shown = board.get(key)
    if (shown === undefined || (shown.file === position.file && shown.line === position.line)) continue
    board.set({ ...shown, file: position.file, line: position.line })
  }
}
