import { hostname } from 'node:os'
import { HEARTBEAT_MS, type Activity, type WholeFacts } from '../contract/activity.ts'
import { withoutManifestDigest } from '../contract/without-manifest.ts'
import { LedgerError, type Ledger } from '../contract/ledger.ts'
import type { Key } from '../kinds/key.ts'
import type { Conditions } from '../plan/condition.ts'
import type { Clock } from '../lib/clock.ts'
import type { StateStore } from '../reconcile/state/store.ts'

export interface HeartbeatParts {
  readonly command: Activity['command']
  readonly ledger: Ledger
  readonly store: StateStore
  readonly clock: Clock
  /** The page's address. Undefined: no page. */
  readonly url: string | undefined
  readonly worksWith: Pick<Activity, 'manifests' | 'baseUrl' | 'credentialsDir' | 'secretsDir'>
  readonly whole: () => WholeFacts
}

/** Interval of checks for news. Without news, writes wait for HEARTBEAT_MS. */
const NEWS_MS = 5_000

/** Requests within this time share a write. */
const GATHER_MS = 100

/** Signs of life and check times in the ledger, for `status`. */
export interface Heartbeat {
  readonly before: Activity | undefined
  /** Writes now: a person asked for a check. */
  noteChecks(): Promise<void>
  /** The process ends normally. */
  stop(): Promise<void>
}

/** Writes the first entry before it returns. The next reconcile reports a broken ledger. */
export async function startHeartbeat({
  command,
  ledger,
  store,
  clock,
  url,
  worksWith,
  whole,
}: HeartbeatParts): Promise<Heartbeat> {
  const startedAt = clock.now()
  const { last: before, checkedAt } = await ledger.activity()
  const written = new Map(checkedAt ?? [])
  let said: WholeFacts = {}
  let cancel: (() => void) | undefined
  let isStopped = false
  // Each write to a busy ledger blocks the process. After a failure, only the regular heartbeat writes.
  let isFailing = false
  let noting: Promise<void> | undefined

  async function beat(stoppedAt: number | undefined): Promise<void> {
    const checked = new Map<Key, number>()
    for (const { key } of store.records()) {
      const at = store.checkedAt(key)
      if (at !== undefined && at !== written.get(key)) checked.set(key, at)
    }
    const seenAt = clock.now()
    const who = { command, process: process.pid, host: hostname(), url, ...worksWith }
    const about = { ...who, startedAt, seenAt, stoppedAt }
    // Until the first read, the previous process's findings are the latest.
    const facts = store.catalog === undefined ? { ...whole(), findings: before?.findings } : whole()
    try {
      await ledger.noteActivity({ ...about, revision: store.revision || undefined, ...facts }, checked)
      said = facts
      isFailing = false
      for (const [key, at] of checked) written.set(key, at)
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
      isFailing = true
    }
  }

  function isNews(): boolean {
    const now = whole()
    const { problem, errors, findings, overdue, unreconciled, revisionSince } = now
    const { withoutLock, withoutManifest } = now
    if (revisionSince !== said.revisionSince) return true
    if (findings !== undefined && findings !== said.findings) return true
    if (problem !== said.problem || errors !== said.errors || unreconciled !== said.unreconciled) return true
    if (withoutLock !== said.withoutLock) return true
    if (withoutManifestDigest(withoutManifest) !== withoutManifestDigest(said.withoutManifest)) return true
    // Each check lowers the count. Only a change from or to zero is news.
    if ((overdue ?? 0) > 0 !== (said.overdue ?? 0) > 0) return true
    for (const { key, conditions } of store.records()) {
      const at = store.checkedAt(key)
      if (at === undefined || at === written.get(key)) continue
      if (isNewer(conditions, written.get(key))) return true
    }
    return false
  }

  /** @param sinceMs since the last write */
  function wait(sinceMs: number): void {
    if (isStopped) return
    cancel = clock.after(NEWS_MS, () => {
      const nowMs = sinceMs + NEWS_MS
      if (nowMs < HEARTBEAT_MS && (isFailing || !isNews())) wait(nowMs)
      else void beat(undefined).finally(() => wait(0))
    })
  }

  async function beatSoon(): Promise<void> {
    await new Promise<void>((resolve) => clock.after(GATHER_MS, resolve))
    noting = undefined
    if (!isStopped && !isFailing) await beat(undefined)
  }

  store.noteChecked(written)
  await beat(undefined)
  wait(0)
  return {
    before,
    noteChecks: () => (noting ??= beatSoon()),
    async stop() {
      isStopped = true
      cancel?.()
      await beat(clock.now())
    },
  }
}

function isNewer(conditions: Conditions | undefined, writtenAt: number | undefined): boolean {
  if (writtenAt === undefined) return true
  return Object.values(conditions ?? {}).some(({ since }) => since > writtenAt)
}
