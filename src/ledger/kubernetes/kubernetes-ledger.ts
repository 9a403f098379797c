import type { Clock } from '../../lib/clock.ts'
import type { Key } from '../../kinds/key.ts'
import { sameId } from '../../lib/same-id.ts'
import type { LedgerRecord } from '../../plan/record.ts'
import type { Activity } from '../../contract/activity.ts'
import type { Emit } from '../../contract/events.ts'
import type { NewEntry } from '../../contract/history.ts'
import { LedgerConflict, LedgerError, type Ledger } from '../../contract/ledger.ts'
import { decodeEntry, encodeRecord } from '../codec.ts'
import { hasArrived, storedOf, withLines, type Kept, type KeptLine, type Moved } from './record-object.ts'
import type { ClusterApi } from './cluster-api.ts'
import type { createKubernetesLease } from './kubernetes-lease.ts'
import { readMirror, throwAsUnreadable, type Mirror, type Mirrored } from './record-mirror.ts'
import type { createLedgerRollback } from './ledger-rollback.ts'

interface KubernetesLedgerParts {
  readonly mirror: Mirror
  readonly api: Pick<ClusterApi, 'aheadMs'>
  readonly hashKey: Uint8Array
  readonly rollback: Pick<ReturnType<typeof createLedgerRollback>, 'assertNone' | 'known'>
  /** If `lapsed` gives a reason, this process writes only outcomes of sent requests. */
  readonly lease: Pick<ReturnType<typeof createKubernetesLease>, 'lapsed' | 'failing'>
  readonly isOwner: boolean
  readonly clock: Pick<Clock, 'monotonic'>
  readonly emit: Emit
  readonly activity: {
    note(activity: Activity): void
    read(): Promise<{ readonly last: Activity | undefined; readonly isOwned: boolean }>
  }
  /** Marks the ledger as used: if it is empty later, its records were lost. */
  readonly noteRecords: () => Promise<void>
}

const STILL = { movedFrom: undefined, before: undefined, movedTo: undefined }

/** Reads come from `mirror`, a copy in memory. A write of an outdated record throws {@link LedgerConflict}. */
export function createKubernetesLedger(parts: KubernetesLedgerParts): Ledger {
  const { api, mirror, hashKey, clock, emit } = parts
  const { recordOf, versionOf, records, findRecord, written } = readMirror(mirror)
  let isClosed = false

  function assertOpen(): void {
    if (isClosed) throw new LedgerError('io', 'the ledger is closed')
  }

  function linesOf(entries: readonly NewEntry[]): readonly KeptLine[] {
    return entries.map((entry) => ({ seq: mirror.nextSeq(), body: JSON.stringify(entry) }))
  }

  function compare(seen: LedgerRecord): Mirrored | undefined {
    const mirrored = mirror.get(seen.key)
    if ((versionOf(mirrored) ?? 0) !== seen.version) throw new LedgerConflict(seen.key, seen.version)
    return mirrored
  }

  /** Otherwise, the next write to the old key of a completed move would hide the moved record. */
  async function settleMoveTo(moved: Moved | undefined): Promise<void> {
    const there = moved && mirror.get(moved.key)
    if (there?.movedFrom === undefined || !hasArrived(there, mirror.get)) return
    await mirror.write(there, { ...there, movedFrom: undefined, before: undefined }, recordOf(there))
  }

  async function report<T>(changes: readonly LedgerRecord[], work: () => Promise<T>): Promise<T> {
    const started = clock.monotonic()
    const said = (result: 'written' | 'conflict' | 'failed', message: string | undefined) =>
      emit({ type: 'LedgerWritten', result, durationMs: clock.monotonic() - started, message })
    try {
      assertOpen()
      const result = await work()
      said('written', undefined)
      return result
    } catch (error) {
      for (const { key } of changes) mirror.toRead.set(key, {})
      const message = error instanceof Error ? error.message : String(error)
      said(error instanceof LedgerConflict ? 'conflict' : 'failed', message)
      throw error
    }
  }

  function keptWith(
    over: Mirrored | undefined,
    next: LedgerRecord,
    history: readonly NewEntry[],
    atLeast = 0,
  ): { readonly kept: Kept; readonly record: LedgerRecord } {
    const record = { ...next, version: Math.max(over?.version ?? 0, atLeast) + 1 }
    const { body, version } = encodeRecord(record)
    const lines = withLines(over?.history ?? [], linesOf(history))
    return {
      record,
      kept: { ...STILL, key: next.key, version, body, history: lines },
    }
  }

  /** Cancels an incomplete move to this key: its late last write fails. @returns the new record of the old key */
  async function keepAway(over: Mirrored | undefined): Promise<LedgerRecord | undefined> {
    const from = over && !hasArrived(over, mirror.get) ? over.movedFrom : undefined
    const there = from && mirror.get(from.key)
    const record = recordOf(there)
    if (record === undefined || there?.version !== from?.version) return undefined
    return write(record, [])
  }

  async function write(next: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord> {
    const over = compare(next)
    const { kept, record } = keptWith(over, next, history)
    await keepAway(over)
    await settleMoveTo(over?.movedTo)
    await mirror.write(over, kept, record)
    await parts.noteRecords()
    return written(record)
  }

  /** Ignores unreadable records. */
  async function relist(): Promise<void> {
    await mirror.relist().catch(throwAsUnreadable).catch(ignoreCorrupt)
  }

  /** After the Lease lapsed, another leader might have given the pipe to another key. */
  async function settle(next: LedgerRecord, history: readonly NewEntry[]): Promise<LedgerRecord> {
    const id = next.remote?.id
    if (id !== undefined && parts.lease.lapsed() !== undefined) {
      await relist()
      const isHolder = ({ key, remote, former }: LedgerRecord) =>
        key !== next.key && sameId((remote ?? former?.remote)?.id, id)
      if (findRecord(isHolder) !== undefined) throw new LedgerConflict(next.key, next.version)
    }
    return write(next, history)
  }

  function forgotten(over: Mirrored, history: readonly NewEntry[], movedTo: Moved | undefined): Kept {
    const { key, version } = over
    const lines = withLines(over.history, linesOf(history))
    // A removal also raises the version, because a rollback is detected by a lower version.
    return { ...STILL, key, version: version + 1, body: undefined, movedTo, history: lines }
  }

  async function move(
    from: LedgerRecord,
    to: LedgerRecord,
    history: readonly NewEntry[],
  ): Promise<LedgerRecord> {
    if (from.key === to.key) throw new Error(`bug: ${from.key} cannot move to itself`)
    const stayed = await keepAway(compare(to))
    const seen = stayed?.version === from.version + 1 && stayed.key === from.key ? stayed : from
    await settleMoveTo(compare(to)?.movedTo)
    const [source, target] = [compare(seen), compare(to)]
    if (source === undefined) throw new LedgerConflict(from.key, from.version)
    const { kept, record } = keptWith(target, to, history, source.version)
    const before = target && storedOf(target, mirror.get)?.body
    const movedFrom = { key: from.key, version: source.version }
    await mirror.write(target, { ...kept, movedFrom, before }, record)
    await mirror.write(source, forgotten(source, [], { key: to.key, version: record.version }), undefined)
    return record
  }

  async function remove(record: LedgerRecord, history: readonly NewEntry[]): Promise<void> {
    const over = compare(record)
    await keepAway(over)
    if (over !== undefined) await mirror.write(over, forgotten(over, history, undefined), undefined)
  }

  function whileActing<T>(changes: readonly LedgerRecord[], work: () => Promise<T>): Promise<T> {
    return report(changes, async () => {
      const why = parts.lease.lapsed()
      if (why !== undefined)
        throw new LedgerError(
          'io',
          `${why}. Until the Lease is renewed, only outcomes of sent requests are written to the ledger`,
        )
      return work()
    })
  }

  return {
    hashKey,
    isShared: true,
    toRead: mirror.toRead,
    get rollback() {
      return parts.rollback.known()
    },
    get aheadMs() {
      return api.aheadMs()
    },
    async get(key) {
      assertOpen()
      return recordOf(mirror.get(key))
    },
    async list() {
      assertOpen()
      return records()
    },
    async withIntent(intentId) {
      assertOpen()
      const isAsked = ({ intent }: LedgerRecord) => intent?.id === intentId
      const heard = findRecord(isAsked)
      if (heard !== undefined) return heard
      await relist()
      return findRecord(isAsked)
    },
    swap: (next, history) => whileActing([next], () => write(next, history)),
    settle: (next, history) => report([next], () => settle(next, history)),
    move: (from, to, history) => whileActing([from, to], () => move(from, to, history)),
    remove: (record, history) => whileActing([record], () => remove(record, history)),
    async assertCanSettle() {
      assertOpen()
      // Throws before the intent is written, because without a renewal the create could not be sent.
      const failing = parts.lease.failing()
      if (failing !== undefined) throw new LedgerError('io', `the Lease cannot be renewed: ${failing}`)
      await parts.rollback.assertNone()
    },
    async history({ key, limit }) {
      assertOpen()
      const lines: (KeptLine & { readonly key: Key })[] = []
      for (const kept of mirror.all())
        if (key === undefined || kept.key === key)
          for (const line of kept.history) lines.push({ ...line, key: kept.key })
      return lines
        .toSorted((a, b) => b.seq - a.seq)
        .slice(0, Math.max(1, Math.floor(limit)))
        .map((line) => decodeEntry(line.key, line.body))
    },
    async noteActivity(activity) {
      assertOpen()
      parts.activity.note(activity)
    },
    async activity() {
      assertOpen()
      // A reader does not know when each key was checked, because the leader does not publish that.
      const checkedAt = parts.isOwner ? new Map<Key, number>() : undefined
      return { last: (await parts.activity.read()).last, checkedAt }
    },
    async owned() {
      assertOpen()
      return (await parts.activity.read()).isOwned
    },
    async watch(onWritten) {
      let running = Promise.resolve()
      let isWaiting = false
      return mirror.onOthers(() => {
        if (isWaiting) return
        isWaiting = true
        running = running.then(() => {
          isWaiting = false
          return followOthers(onWritten, emit)
        })
      })
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
    },
  }
}

/** Ignores a {@link LedgerError}, because the next reconcile reports it. */
async function followOthers(follow: () => Promise<void>, emit: Emit): Promise<void> {
  try {
    await follow()
  } catch (error) {
    if (error instanceof LedgerError) return
    const bug = error instanceof Error ? error : new Error('no error was thrown', { cause: error })
    emit({
      type: 'Bug',
      message: 'Pipewright could not process a change that another process made to the ledger',
      error: bug,
    })
  }
}

function ignoreCorrupt(error: unknown): void {
  if (!(error instanceof LedgerError && error.code === 'corrupt')) throw error
}
