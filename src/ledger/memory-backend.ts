import { randomBytes } from 'node:crypto'
import type { Key } from '../kinds/key.ts'
import type { Emit } from '../contract/events.ts'
import type { Ledger, OpenedLedger } from '../contract/ledger.ts'
import type { StoredRecord } from './codec.ts'
import { createLedger } from './ledger-on-tables.ts'
import type { Store, WriteTables } from './backend.ts'
import { createSoleLeadership } from './sole-leadership.ts'

const HISTORY_LIMIT = 10_000

interface MemoryLedgerOptions {
  readonly emit: Emit
  /** 32 bytes; random when absent. */
  readonly hashKey?: Uint8Array
  /** Lines of history kept; 10,000 when absent. */
  readonly historyLimit?: number
}

/** A ledger that is gone with the process: for tests, and for looking around. The same contract as on disk. */
export function createMemoryLedger(options: MemoryLedgerOptions): Ledger {
  return openMemoryLedger(options).ledger
}

/** The same, with who acts. */
export function openMemoryLedger(options: MemoryLedgerOptions): OpenedLedger {
  const store = createMemoryStore(options.historyLimit ?? HISTORY_LIMIT)
  const ledger = createLedger({
    store,
    hashKey: options.hashKey ?? randomBytes(32),
    emit: options.emit,
    clock: { monotonic: () => 0, after: () => () => undefined }, // nobody else can reach it
  })
  return { ledger, leadership: createSoleLeadership(store), notes: undefined }
}

function createMemoryStore(historyLimit: number): Store {
  const records = new Map<string, StoredRecord>()
  const history: { readonly key: string; readonly body: string }[] = []
  let usedVersion = 0
  let writes = 0
  let platform: string | undefined
  let profile: string | undefined
  let epoch = 0
  let activity: string | undefined
  let movedAt: string | undefined
  const checked = new Map<Key, number>()

  const tables: WriteTables = {
    get: (key) => records.get(key),
    versionOf: (key) => records.get(key)?.version,
    all: () => [...records.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    history: (key, limit) =>
      history
        .filter((entry) => key === undefined || entry.key === key)
        .slice(-limit)
        .toReversed(),
    versions: () => new Map([...records.values()].map(({ key, version }) => [key, version])),
    // Whoever holds it writes through the same door, so that each write may be another's.
    othersWrites: () => writes,
    put: (record) => void records.set(record.key, record),
    delete(key) {
      records.delete(key)
      checked.delete(key)
    },
    epoch: () => epoch,
    setEpoch: (next) => {
      epoch = next
    },
    activity: () => activity,
    setActivity: (body) => {
      activity = body
    },
    checkedAt: () => new Map(checked),
    setCheckedAt: (key, at) => void checked.set(key, at),
    usedVersion: () => usedVersion,
    platform: () => platform,
    setPlatform: (next) => {
      platform = next
    },
    profile: () => profile,
    setProfile: (next) => {
      profile = next
    },
    movedAt: () => movedAt,
    setMovedAt: (at) => {
      movedAt = at
    },
    writes: () => 0, // nobody can put another one in its place
    setWrites: () => undefined,
    setUsedVersion: (version) => {
      usedVersion = version
    },
    addHistory: (key, body) => {
      history.push({ key, body })
      if (history.length > historyLimit) history.shift()
    },
  }

  return {
    read: (work) => work(tables),
    write(work) {
      writes += 1
      return work(tables)
    },
    owned: () => true,
    reserveRoom: () => undefined,
    async [Symbol.asyncDispose]() {
      records.clear()
      history.length = 0
    },
  }
}
