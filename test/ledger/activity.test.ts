import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Activity, type RunState, runStateOf } from '../../src/contract/activity.ts'
import type { Ledger } from '../../src/contract/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { ACTIVITY, blank, CLOCK, ignore, ORDERS } from './samples.ts'
import { folderForTest } from '../support/folders.ts'

describe.each(['memory:', 'sqlite:'])('what an owner says of itself in a ledger at %s', (backend) => {
  let folder: string
  let ledger: Ledger

  beforeEach(async () => {
    folder = folderForTest()
    const url = backend === 'sqlite:' ? `sqlite:${join(folder, 'ledger.db')}` : backend
    ledger = (await openLedger(url, { init: 'auto', mode: 'owner', clock: CLOCK, emit: ignore })).ledger
  })
  afterEach(async () => {
    await ledger[Symbol.asyncDispose]()
  })

  test('is nothing at first', async () => {
    expect(await ledger.activity()).toEqual({ last: undefined, checkedAt: new Map() })
    expect(await ledger.owned()).toBe(true)
  })

  test('is kept, and added to', async () => {
    await ledger.noteActivity(ACTIVITY, new Map([[ORDERS, 5]]))
    await ledger.noteActivity({ ...ACTIVITY, stoppedAt: 3 }, new Map([['Pipe/b', 6]]))
    expect(await ledger.activity()).toEqual({
      last: { ...ACTIVITY, stoppedAt: 3 },
      checkedAt: new Map([
        [ORDERS, 5],
        ['Pipe/b', 6],
      ]),
    })
  })

  test('changes no record, and goes with a record that is forgotten', async () => {
    const record = await ledger.swap(blank(ORDERS), [])
    await ledger.noteActivity(ACTIVITY, new Map([[ORDERS, 5]]))
    expect(await ledger.get(ORDERS)).toEqual(record)
    await ledger.remove(record, [])
    expect((await ledger.activity()).checkedAt).toEqual(new Map())
  })
})

const ROWS: readonly (readonly [why: string, last: Activity | undefined, owned: boolean, is: RunState])[] = [
  ['nobody ever', undefined, false, 'never'],
  ['one that has said nothing yet', undefined, true, 'running'],
  ['one that says so', ACTIVITY, true, 'running'],
  ['one that was stopped', { ...ACTIVITY, stoppedAt: 3 }, false, 'stopped'],
  ['one that ended without a word', ACTIVITY, false, 'died'],
]

test.each(ROWS)('who works with a ledger: %s', (_, last, owned, is) => {
  expect(runStateOf(last, owned)).toBe(is)
})
