import type { LedgerRecord } from '../../src/plan/record.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { LedgerConflict, LedgerError, type Ledger } from '../../src/contract/ledger.ts'
import type { Written } from '../support/oracle.ts'

/** What becomes of one write. Whatever is not scripted is written. */
export type WriteScript =
  | 'ok'
  /** Refused by the disk, and not written. */
  | 'fails'
  /** The disk says so, and it is written all the same. */
  | 'fails-after'
  /** The reply is lost, and the write is on its way until `arrive`. */
  | 'fails-late'
  /** Somebody else was first. */
  | 'conflict'
  /** The process dies before it, or right after it. */
  | 'dies'
  | 'dies-after'

/** A ledger as one process sees it. */
export interface LedgerView extends Ledger {
  script(...writes: readonly WriteScript[]): void
  /** The writes that are on their way reach the ledger. */
  arrive(): Promise<unknown>
  /** From now on, or until told otherwise, nothing can be read. */
  unreadable(reads: number): void
  /** The process died in the middle of a write. */
  readonly died: boolean
}

/** What each view of a ledger has to read again. */
const viewsOf = new WeakMap<Ledger, readonly Ledger['toRead'][]>()

/**
 * One process's view of a ledger that several may share.
 * @param hops how many turns of the microtask queue a call takes, so that processes meet at any await
 */
export function createLedgerView(
  ledger: Ledger,
  options: { readonly onWritten: (written: Written) => void; readonly hops: () => number },
): LedgerView {
  const scripts: WriteScript[] = []
  const late: (() => Promise<unknown>)[] = []
  const toRead: Ledger['toRead'] = new Map()
  const sharing = viewsOf.get(ledger) ?? []
  viewsOf.set(ledger, [...sharing, toRead])
  let unread = 0
  let died = false

  async function wait(): Promise<void> {
    if (died) await forever()
    for (let hop = options.hops(); hop > 0; hop -= 1) await Promise.resolve()
  }

  async function write<T>(about: LedgerRecord, change: () => Promise<T>): Promise<T> {
    const mark = (): void => {
      for (const view of viewsOf.get(ledger) ?? []) view.set(about.key, {})
    }
    const work = () => change().finally(mark)
    await wait()
    const script = scripts.shift() ?? 'ok'
    switch (script) {
      case 'ok':
        break
      case 'fails':
      case 'fails-late':
        if (script === 'fails-late') late.push(work)
        mark()
        throw new LedgerError('io', 'the disk is full')
      case 'conflict':
        mark()
        throw new LedgerConflict(about.key, about.version)
      case 'dies':
        died = true
        return forever()
      case 'fails-after':
      case 'dies-after':
        await work()
        if (script === 'fails-after') throw new LedgerError('io', 'the disk is full')
        died = true
        return forever()
    }
    const result = await work()
    await wait()
    return result
  }

  async function read<T>(work: () => Promise<T>): Promise<T> {
    await wait()
    if (unread > 0) {
      unread -= 1
      throw new LedgerError('io', 'the disk is gone')
    }
    return work()
  }

  function swap(next: LedgerRecord, history: readonly HistoryEntry[]): Promise<LedgerRecord> {
    return write(next, async () => {
      const before = await ledger.get(next.key)
      const after = await ledger.swap(next, history)
      options.onWritten({ before, after, moved: undefined })
      return after
    })
  }

  return {
    ...ledger,
    toRead,
    get: (key) => read(() => ledger.get(key)),
    list: () => read(() => ledger.list()),
    history: (query) => read(() => ledger.history(query)),
    swap,
    settle: swap,
    move: (from, to, history) =>
      write(to, async () => {
        const [gone, before] = [await ledger.get(from.key), await ledger.get(to.key)]
        const after = await ledger.move(from, to, history)
        for (const view of viewsOf.get(ledger) ?? []) view.set(from.key, {})
        options.onWritten({ before, after, moved: gone })
        options.onWritten({ before: gone, after: undefined, moved: after })
        return after
      }),
    remove: (record, history) =>
      write(record, async () => {
        const before = await ledger.get(record.key)
        await ledger.remove(record, history)
        options.onWritten({ before, after: undefined, moved: undefined })
      }),
    script: (...writes) => void scripts.push(...writes),
    arrive: () => Promise.allSettled(late.splice(0).map((work) => work())),
    unreadable(reads) {
      unread = reads
    },
    get died() {
      return died
    },
  }
}

function forever(): Promise<never> {
  return new Promise(() => undefined)
}
