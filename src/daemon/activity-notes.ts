import { hostname } from 'node:os'
import type { Activity, DaemonSummary } from '../contract/activity.ts'
import { LedgerError, type Ledger } from '../contract/ledger.ts'
import type { Key } from '../kinds/key.ts'
import type { Clock } from '../lib/clock.ts'
import { sameJson } from '../lib/json.ts'
import type { StateStore } from '../reconcile/state/store.ts'

/**
 * Writes to the ledger which process uses the ledger, and what that process read last. Writes the first notes before it
 * returns. Ignores a failed write, because the next reconcile reports it.
 */
export async function startActivityNotes(parts: {
  readonly command: Activity['command']
  readonly ledger: Ledger
  readonly store: StateStore
  readonly clock: Pick<Clock, 'now'>
  readonly url: string | undefined
  readonly whole: () => DaemonSummary
}) {
  const { command, ledger, store, clock, url, whole } = parts
  const startedAt = clock.now()
  const { last: before, checkedAt } = await ledger.activity()
  const who = { command, process: process.pid, host: hostname(), url, startedAt }
  let said: object = {}

  async function write(
    facts: Partial<Activity>,
    checked: ReadonlyMap<Key, number> = new Map(),
  ): Promise<void> {
    said = facts
    try {
      await ledger.noteActivity({ ...who, ...facts }, checked)
    } catch (error) {
      if (!(error instanceof LedgerError)) throw error
      said = {}
    }
  }

  function read(): Partial<Activity> {
    // Until the first read, the previous process's findings are the latest.
    if (store.catalog === undefined) return { findings: before?.findings }
    const { problem, errors, findings, revisionSince } = whole()
    return { revision: store.revision || undefined, problem, errors, findings, revisionSince }
  }

  store.noteChecked(checkedAt ?? new Map())
  await write(read())
  return {
    before,
    noteRead() {
      const facts = read()
      if (!sameJson(facts, said)) void write(facts)
    },
    async stop() {
      const checked = new Map<Key, number>()
      for (const { key } of store.records()) {
        const at = store.checkedAt(key)
        if (at !== undefined && at !== checkedAt?.get(key)) checked.set(key, at)
      }
      await write({ ...read(), ...(store.catalog && whole()), stoppedAt: clock.now() }, checked)
    },
  }
}
