import type { Key } from '../../src/kinds/key.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { LedgerConflict, LedgerError, type Ledger } from '../../src/contract/ledger.ts'
import { judgeWritten } from './laws.ts'
import { choose, forever, tell, type Process, type Run } from './run.ts'

/** Whose calls go as they should: a person's command at the shell. */
export const NO_CHOICE = 'no choice'

/** The ledger of a model, as one process sees it: compare-and-set, and a crash before or after each write. */
export function createLedger(run: Run, process: Process | typeof NO_CHOICE): Ledger {
  const { records } = run.model
  const isDead = () => process !== NO_CHOICE && process.isDead
  const toRead: Ledger['toRead'] = new Map()
  let heard = 0

  function current(seen: LedgerRecord): void {
    if ((records.get(seen.key)?.version ?? 0) !== seen.version)
      throw new LedgerConflict(seen.key, seen.version)
  }

  function put(next: LedgerRecord, moved?: LedgerRecord): LedgerRecord {
    run.model.versions += 1
    const after = { ...next, version: run.model.versions }
    const before = records.get(next.key)
    records.set(next.key, after)
    judgeWritten(run, { before, after, moved })
    return after
  }

  function drop(record: LedgerRecord, moved?: LedgerRecord): void {
    records.delete(record.key)
    judgeWritten(run, { before: record, after: undefined, moved }, process === NO_CHOICE)
  }

  async function write<T>(what: string, work: () => T): Promise<T> {
    if (isDead()) return forever()
    if (run.model.isDiskFull) {
      if (process !== NO_CHOICE) tell(run, `  It cannot write ${what}: the disk is full.`)
      throw new LedgerError('io', 'the disk is full')
    }
    if (process === NO_CHOICE) return work()
    const taken = choose(run, [
      { name: 'written', cost: 0 },
      run.world.crashes && { name: 'dies before', cost: 1 },
      run.world.crashes && { name: 'dies after', cost: 1 },
      run.world.faults.includes('reads') && { name: 'fails after', cost: 1 },
    ])
    if (taken === 'dies before') {
      tell(run, `  It is killed before it has written ${what}.`)
      return process.die()
    }
    const result = work()
    if (taken === 'dies after') {
      tell(run, `  It is killed right after it has written ${what}.`)
      return process.die()
    }
    if (taken === 'fails after') {
      tell(run, `  It has written ${what}, and the disk says that it has not.`)
      throw new LedgerError('io', 'the disk is full')
    }
    return result
  }

  async function read<T>(work: () => T): Promise<T> {
    if (isDead()) return forever()
    if (run.model.isDiskGone) throw new LedgerError('io', 'the disk is gone')
    return work()
  }

  const swap = (next: LedgerRecord) =>
    write(whatIsIn(next), () => {
      current(next)
      return put(next)
    })
  return {
    hashKey: new Uint8Array(32),
    isShared: true,
    get toRead() {
      for (const { before, after } of run.writes.slice(heard))
        for (const record of [before, after]) if (record !== undefined) toRead.set(record.key, {})
      heard = run.writes.length
      return toRead
    },
    aheadMs: 0,
    get: (key: Key) => read(() => records.get(key)),
    list: () => read(() => [...records.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1))),
    withIntent: (intentId) => read(() => [...records.values()].find(({ intent }) => intent?.id === intentId)),
    swap,
    settle: swap,
    move: (from, to) =>
      write(`that ${from.key} is ${to.key}`, () => {
        current(from)
        current(to)
        const moved = records.get(from.key)
        drop(from, to)
        return put(to, moved)
      }),
    remove: (record) =>
      write(`that ${record.key} is forgotten`, () => {
        current(record)
        drop(record)
      }),
    assertCanSettle: async () => {
      if (run.model.isDiskFull) throw new LedgerError('io', 'the disk is full')
    },
    history: async () => [],
    noteActivity: async () => undefined,
    activity: async () => ({ last: undefined, checkedAt: new Map() }),
    watch: async () => () => undefined,
    owned: async () => true,
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function whatIsIn({ key, intent, remote: pipe }: LedgerRecord): string {
  const state = intent === undefined ? '' : ` (intent ${intent.state})`
  return `the record of ${key}${pipe === undefined ? state : ` (pipe ${Number(pipe.id.slice(-12))})`}`
}
