import { expect, test } from 'vitest'
import type { Catalog } from '../../src/contract/catalog.ts'
import type { Key } from '../../src/kinds/key.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { pipesWithoutLock } from '../../src/reconcile/state/recorded.ts'
import { recordedPipe } from '../plan/inputs.ts'

const ORDERS = '7d1a5c3e-48b0-4f96-b2d7-e90c6a1f8b44'
const REFUNDS = '0b6f2a91-5c7d-4e38-a1f0-3d9482c7b6e5'

function recorded(key: Key, id: string): LedgerRecord {
  return { ...blankRecord(key), remote: recordedPipe(id) }
}

function locking(locks: Readonly<Record<string, string>>): Catalog {
  return {
    revision: { id: 'abc', from: 'git' },
    entries: new Map(),
    locks: new Map(Object.entries(locks)) as ReadonlyMap<Key, string>, // keys, as written below
    hiddenLocks: [],
    unread: [],
    findings: [],
    deleted: new Set(),
    problem: undefined,
  }
}

const BOTH = [recorded('Pipe/orders', ORDERS), recorded('Pipe/refunds', REFUNDS)]

const ALL = { 'Pipe/orders': ORDERS.toUpperCase(), 'Pipe/refunds': REFUNDS }
const OTHER = { 'Pipe/orders': REFUNDS, 'Pipe/refunds': REFUNDS }
const ONE = locking({ 'Pipe/orders': ORDERS })

test.each([
  ['before the first reading', undefined, BOTH, 0],
  ['where nobody uses a Lock', locking({}), BOTH, 0],
  ['when all are in it, in whatever case', locking(ALL), BOTH, 0],
  ['one that is not in it', ONE, BOTH, 1],
  ['one that stands there with another id', locking(OTHER), BOTH, 1],
  ['none that was not created yet', ONE, [blankRecord('Pipe/new')], 0],
  ['none that a Lock cannot hold', ONE, [recorded('Pipe/odd', 'pipe-1')], 0],
  ['no alert', ONE, [recorded('Alert/lag', ORDERS)], 0],
] as const)('pipes without an entry in a Lock: %s', (_, catalog, records, count) => {
  expect(pipesWithoutLock({ catalog, records: () => records })).toBe(count)
})
