import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { HistoryEntry } from '../../src/contract/history.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { createMemoryLedger } from '../../src/ledger/memory-backend.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite-ledger.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { failIntent } from '../../src/plan/transitions.ts'
import { startApiModel } from '../kubernetes/api-model.ts'
import { openAt } from '../kubernetes/open-at.ts'
import { entry, ignore } from '../ledger/samples.ts'
import { createTurningClock } from '../support/turning-clock.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { CREATED, givenIntent, KEY, PIPE, SEEN, UNKNOWN, withIntent } from './given-intent.ts'

/* What becomes of a create is written while others write the ledger, too, or put it back: in each home of a ledger. */

interface Home {
  readonly ours: Ledger
  /** Of another process. */
  readonly theirs: Ledger
  /** @returns puts all records back to what they are now */
  snapshot(): Promise<() => Promise<void>>
}

const HOMES: Readonly<Record<string, (stack: AsyncDisposableStack) => Promise<Home>>> = {
  async 'memory:'(stack) {
    const ledger = stack.use(createMemoryLedger({ emit: ignore }))
    return {
      ours: ledger,
      theirs: ledger,
      async snapshot() {
        const before = await ledger.list()
        return async () => {
          for (const record of await ledger.list()) await ledger.remove(record, [])
          for (const record of before) await ledger.swap({ ...record, version: 0 }, [])
        }
      },
    }
  },
  async 'sqlite:'(stack) {
    const file = stack.use(createWorkspace()).path('ledger.db')
    const options = { file, init: 'auto', clock: systemClock, emit: ignore } as const
    const [ours, theirs] = [
      stack.use(await openSqliteLedger({ ...options, mode: 'owner' })),
      stack.use(await openSqliteLedger({ ...options, mode: 'writer' })),
    ]
    return {
      ours,
      theirs,
      async snapshot() {
        using db = new DatabaseSync(file)
        const rows = db.prepare('SELECT key, version, body FROM record').all()
        return async () => {
          using again = new DatabaseSync(file)
          again.exec('DELETE FROM record')
          const put = again.prepare('INSERT INTO record (key, version, body) VALUES (?, ?, ?)')
          for (const { key, version, body } of rows) put.run(key ?? null, version ?? null, body ?? null)
        }
      },
    }
  },
  async 'kubernetes:'(stack) {
    const model = stack.use(await startApiModel())
    const workspace = stack.use(createWorkspace())
    const options = { clock: createTurningClock() }
    const [one, other] = [await openAt(model, workspace, options), await openAt(model, workspace, options)]
    const [ours, theirs] = [stack.use(one.ledger), stack.use(other.ledger)]
    return {
      ours,
      theirs,
      async snapshot() {
        const back = model.snapshot()
        const before = await ours.versions()
        return async () => {
          back()
          for (const ledger of [ours, theirs])
            await until('that it is noticed', async () => {
              const now = await ledger.versions()
              return [...before].every(([key, version]) => now.get(key) === version)
            })
        }
      },
    }
  },
}

describe.each(Object.entries(HOMES))('in a ledger at %s', (_, open) => {
  let stack: AsyncDisposableStack
  let home: Home

  beforeEach(async () => {
    stack = new AsyncDisposableStack()
    home = await open(stack)
  })

  afterEach(() => stack.disposeAsync())

  /** As the other process has it. */
  async function heard(record: LedgerRecord): Promise<LedgerRecord> {
    return until('that the other one hears of it', async () => {
      const there = await home.theirs.get(record.key)
      return there?.version === record.version && there
    })
  }

  async function move(record: LedgerRecord, to: LedgerRecord): Promise<LedgerRecord> {
    return home.theirs.move(await heard(record), { ...record, key: to.key, version: to.version }, [])
  }

  describe('an intent whose record has moved meanwhile', () => {
    const TO = blankRecord('Pipe/renamed')
    const history: readonly HistoryEntry[] = [entry(KEY, 'what came of it')]

    test.each([
      ['an id', CREATED, { remote: { id: PIPE.id }, intent: { state: 'succeeded' } }],
      ['that nothing is known', UNKNOWN, { intent: { state: 'unknown' } }],
    ] as const)('%s is written where it is by then, and nowhere else', async (_what, end, expected) => {
      const { opened, intent, outbox } = await givenIntent(home.ours)
      await move(opened, TO)
      const written = await outbox.persist(KEY, { intentId: intent.id, opened, end, history })
      expect(written).toMatchObject({ key: TO.key, ...expected })
      expect(await home.ours.list()).toEqual([written])
      expect(await home.ours.history({ key: TO.key, limit: 1 })).toMatchObject([
        { message: 'what came of it' },
      ])
    })

    test('nor where its key was given to another one', async () => {
      const { opened, intent, outbox } = await givenIntent(home.ours)
      const moved = await move(opened, TO)
      const other = await home.theirs.swap(withIntent(blankRecord(KEY), 'intent-2'), [])
      await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history })
      expect(await home.ours.get(KEY)).toEqual(other)
      expect(await home.ours.get(moved.key)).toMatchObject({ remote: { id: PIPE.id } })
    })

    test('also after it has moved twice, and when it could not be written at once', async () => {
      const { opened, intent, outbox } = await givenIntent(home.ours)
      const moved = await home.theirs.move(
        await move(opened, TO),
        { ...opened, key: 'Pipe/again', version: 0 },
        [],
      )
      outbox.remember(KEY, { intentId: intent.id, opened, end: CREATED, history })
      await outbox.recover(KEY)
      expect(outbox.pending.size).toBe(0)
      expect(await home.ours.list()).toMatchObject([{ key: moved.key, remote: { id: PIPE.id } }])
    })
  })

  /** @param then what else happens to the record before the id comes */
  async function putBack(
    before: LedgerRecord,
    then: (record: LedgerRecord) => LedgerRecord = (record) => record,
  ) {
    const first = await home.ours.swap(before, [])
    await heard(first)
    const back = await home.snapshot()
    const given = await givenIntent(home.ours, first)
    await back()
    const found = await home.ours.get(KEY)
    if (found === undefined) throw new Error('what was put back is there')
    expect(found.intent).toEqual(before.intent)
    const next = then(found)
    if (next !== found) await home.ours.swap(next, [])
    const { opened, intent, outbox } = given
    const history = [entry(KEY, 'created all the same')]
    await outbox.persist(KEY, { intentId: intent.id, opened, end: CREATED, history })
    expect(outbox.pending.size).toBe(0)
    expect(await home.ours.history({ key: KEY, limit: 1 })).toEqual(history)
    return { given, record: await home.ours.get(KEY) }
  }

  describe('an id that comes when the record was put back to before its intent', () => {
    test('is that of the key', async () => {
      const { given, record } = await putBack({ ...blankRecord(KEY), line: 3 })
      const { service, platformName, applied } = given.opened
      expect(record).toMatchObject({ line: 3, service, platformName, applied, remote: { id: PIPE.id } })
      expect(record?.intent).toEqual({ ...given.intent, state: 'succeeded', seen: undefined })
      expect(record?.replaced).toBeUndefined()
    })

    test('is that of the key, after the pipe that it replaces', async () => {
      const { record } = await putBack({ ...blankRecord(KEY), remote: { ...PIPE, id: 'pipe-0' } })
      expect(record).toMatchObject({ remote: { id: PIPE.id }, replaced: { count: 1, id: 'pipe-0' } })
      expect(record?.former).toBeUndefined()
    })

    test('is that of the key, where a later attempt had no effect; and attempts go on from that', async () => {
      const { record } = await putBack(failed(withIntent(blankRecord(KEY), 'intent-0')), (found) =>
        failed(withIntent(failed(withIntent(found, 'intent-2')), 'intent-3')),
      )
      expect(record).toMatchObject({ remote: { id: PIPE.id }, intent: { id: 'intent-1', attempt: 3 } })
    })

    test('is only told, where another attempt may have worked', async () => {
      const { record } = await putBack(blankRecord(KEY), (found) => withIntent(found, 'intent-2'))
      expect(record).toMatchObject({ intent: { id: 'intent-2', state: 'open' } })
      expect(record?.remote).toBeUndefined()
    })

    test('is only told, where a person has given the key another pipe', async () => {
      const { record } = await putBack(blankRecord(KEY), (found) => ({
        ...found,
        remote: { ...PIPE, id: 'pipe-2', origin: 'adopted' },
      }))
      expect(record?.remote?.id).toBe('pipe-2')
      expect(record?.intent).toBeUndefined()
    })
  })
})

function failed(record: LedgerRecord): LedgerRecord {
  const { intent } = record
  if (intent === undefined) throw new Error('it has an intent')
  return failIntent(record, intent, SEEN)
}
