import { hostname } from 'node:os'
import { HEARTBEAT_MS, type Activity } from '../contract/activity.ts'
import { LedgerError, type Ledger } from '../contract/ledger.ts'
import type { Key } from '../kinds/key.ts'
import type { Clock } from '../lib/clock.ts'
import type { StateStore } from '../reconcile/state/store.ts'

export interface HeartbeatParts {
  readonly command: Activity['command']
  readonly ledger: Ledger
  readonly store: StateStore
  readonly clock: Clock
  /** Of the page; undefined where there is none. */
  readonly url: string | undefined
}

/** What was read for the first time ever does not wait longer than this to be written down. */
const FIRST_CHECK_MS = 5_000

/** Writes into the ledger now and then that this process lives, and when it last read which resources, for `status`. */
export interface Heartbeat {
  /** The last one: the process ends as it should. */
  stop(): Promise<void>
}

/** The first one is written before this returns. A ledger that cannot be written is told by the next reconcile, and not here. */
export async function startHeartbeat({
  command,
  ledger,
  store,
  clock,
  url,
}: HeartbeatParts): Promise<Heartbeat> {
  const startedAt = clock.now()
  const written = new Map((await ledger.activity()).checkedAt)
  let cancel: (() => void) | undefined
  let isStopped = false

  async function beat(stoppedAt: number | undefined): Promise<void> {
    const checked = new Map<Key, number>()
    for (const { key } of store.records()) {
      const at = store.checkedAt(key)
      if (at !== undefined && at !== written.get(key)) checked.set(key, at)
    }
    const seenAt = clock.now()
    const about = { command, process: process.pid, host: hostname(), startedAt, seenAt, stoppedAt, url }
    try {
      await ledger.noteActivity({ ...about, revision: store.revision || undefined }, checked)
      for (const [key, at] of checked) written.set(key, at)
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
    }
  }

  function isNews(): boolean {
    for (const { key } of store.records())
      if (!written.has(key) && store.checkedAt(key) !== undefined) return true
    return false
  }

  /** @param sinceMs since the last one */
  function wait(sinceMs: number): void {
    if (isStopped) return
    cancel = clock.after(FIRST_CHECK_MS, () => {
      const nowMs = sinceMs + FIRST_CHECK_MS
      if (nowMs < HEARTBEAT_MS && !isNews()) wait(nowMs)
      else void beat(undefined).finally(() => wait(0))
    })
  }

  store.noteChecked(written)
  await beat(undefined)
  wait(0)
  return {
    async stop() {
      isStopped = true
      cancel?.()
      await beat(clock.now())
    },
  }
}
