import { describe, expect, it } from 'vitest'
import type { HistoryEntry } from '../../src/contract/history.ts'
import { createHistoryReader } from '../../src/server/api/history-reader.ts'
import { fakeClock, NOW } from './fake-parts.ts'

function entry(index: number): HistoryEntry {
  const of = { type: 'condition', condition: 'Synced', status: 'True', reason: 'InSync' } as const
  return { ...of, key: `Pipe/p${index}`, at: NOW + index, revision: '', requestId: undefined, message: '' }
}

/** A ledger whose lines are counted as they are read. */
function ledgerOf(count: number) {
  const lines = Array.from({ length: count }, (_, index) => entry(count - index))
  const counts = { read: 0 }
  const history = async ({ limit }: { readonly limit: number }) => {
    const found = lines.slice(0, limit)
    counts.read += found.length
    return found
  }
  const add = (more: number) => {
    for (let index = 0; index < more; index += 1) lines.unshift(entry(lines.length + 1))
  }
  const clock = fakeClock()
  return { lines, counts, add, clock, reader: createHistoryReader({ history, clock }) }
}

describe('history that was read before', () => {
  it.each([
    ['nothing new', 0, 100],
    ['a few new lines', 7, 100],
    ['many new lines', 800, 1_100],
    ['more than it looks for', 5_000, 11_100],
  ])('%s: is read only as far as it is new', async (_, more, lines) => {
    const ledger = ledgerOf(10_000)
    const before = await ledger.reader.read(10_000)
    ledger.counts.read = 0
    ledger.add(more)
    const now = await ledger.reader.read(10_000)
    expect(now.entries).toEqual(ledger.lines.slice(0, 10_000))
    expect(now.version === before.version).toBe(more === 0)
    expect(ledger.counts.read).toBe(lines)
  })

  it('is read again where more of it is asked for', async () => {
    const ledger = ledgerOf(2_000)
    expect((await ledger.reader.read(500)).entries).toHaveLength(500)
    expect((await ledger.reader.read(2_000)).entries).toEqual(ledger.lines)
    expect((await ledger.reader.read(3)).entries).toEqual(ledger.lines.slice(0, 3))
  })

  it('is forgotten when nobody looks at it for a minute', async () => {
    const ledger = ledgerOf(2_000)
    await ledger.reader.read(2_000)
    ledger.counts.read = 0
    ledger.clock.advance(60_000)
    await ledger.reader.read(2_000)
    expect(ledger.counts.read).toBe(2_000)
  })

  it('is told apart from a new line that says the same', async () => {
    const ledger = ledgerOf(300)
    await ledger.reader.read(10_000)
    ledger.lines.unshift(...ledger.lines.slice(0, 2))
    expect((await ledger.reader.read(10_000)).entries).toEqual(ledger.lines)
  })
})
