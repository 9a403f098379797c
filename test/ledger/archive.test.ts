import { describe, expect, test } from 'vitest'
import type { OpenedLedger } from '../../src/contract/ledger.ts'
import { archiveText, readArchiveText, type Archive } from '../../src/ledger/archive.ts'
import { exportLedger, importLedger, openLedger } from '../../src/ledger/open.ts'
import { modelForEach } from '../kubernetes/model-for-each.ts'
import { blank, CLOCK, entry, fullRecord, ignore, ORDERS } from './samples.ts'

const OPTIONS = { clock: CLOCK, emit: ignore }

const model = modelForEach()

function urlOf(kind: string, name: string): string {
  return kind === 'sqlite' ? `sqlite:${model.workspace.path(`${name}/ledger.db`)}` : `kubernetes:${name}`
}

async function openAt(url: string): Promise<OpenedLedger> {
  return openLedger(url, {
    ...OPTIONS,
    init: 'auto',
    mode: 'owner',
    platform: 'https://api.example',
    profile: 'clickhouse-cloud',
  })
}

const never = new AbortController().signal

/** A ledger with records, forgotten ones, a moved one, and their history. */
async function fill(url: string): Promise<void> {
  const { ledger, leadership } = await openAt(url)
  await using _ = ledger
  await leadership.acquire(never, 'wait')
  await ledger.swap(await ledger.swap(fullRecord(ORDERS), [entry(ORDERS, 'one')]), [entry(ORDERS, 'two')])
  const gone = await ledger.swap(blank('Pipe/gone'), [entry('Pipe/gone', 'made')])
  await ledger.remove(gone, [entry('Pipe/gone', 'forgotten')])
  const old = await ledger.swap(blank('Pipe/old'), [])
  await ledger.move(old, { ...old, key: 'Pipe/new', version: 0 }, [entry('Pipe/new', 'moved')])
  const late = await ledger.swap(await ledger.swap(blank('Pipe/late'), [entry('Pipe/late', 'made')]), [])
  await ledger.remove(late, [])
}

/** As it comes back out of a file, which does not keep at which version each key was forgotten. */
function inFile(archive: Archive): Archive {
  return { ...archive, forgotten: [] }
}

describe.each([
  ['sqlite', 'kubernetes'],
  ['kubernetes', 'sqlite'],
  ['sqlite', 'sqlite'],
  ['kubernetes', 'kubernetes'],
] as const)('from %s to %s and back', (from, to) => {
  test('a ledger is what it was', async () => {
    const [first, second, third] = [urlOf(from, 'first'), urlOf(to, 'second'), urlOf(from, 'third')]
    await fill(first)
    const archive = await exportLedger(first, OPTIONS)
    expect(archive.records.map(({ key }) => key)).toEqual(['Pipe/new', ORDERS])
    await importLedger(second, readArchiveText(archiveText(archive)), OPTIONS)
    const isInCluster = from === 'kubernetes' && to === 'kubernetes'
    const alike = isInCluster ? (same: Archive) => same : inFile
    expect(alike(await exportLedger(second, OPTIONS))).toStrictEqual(alike(archive))
    await importLedger(third, await exportLedger(second, OPTIONS), OPTIONS)
    expect(alike(await exportLedger(third, OPTIONS))).toStrictEqual(alike(archive))
    const before = await openAt(first)
    const after = await openAt(second)
    expect(await after.ledger.list()).toStrictEqual(await before.ledger.list())
    expect(after.ledger.hashKey).toStrictEqual(before.ledger.hashKey)
    const all = { key: undefined, limit: 100 }
    expect(await after.ledger.history(all)).toStrictEqual(await before.ledger.history(all))
    await after.ledger.swap(blank('Pipe/next'), [entry('Pipe/next', 'next')])
    expect(await after.ledger.history({ ...all, limit: 1 })).toMatchObject([{ message: 'next' }])
    // The bindings hold as well.
    await before.ledger[Symbol.asyncDispose]()
    await after.ledger[Symbol.asyncDispose]()
  })

  test('an import goes only where there is none', async () => {
    const [first, second] = [urlOf(from, 'first'), urlOf(to, 'second')]
    await fill(first)
    await fill(second)
    const archive = await exportLedger(first, OPTIONS)
    await expect(importLedger(second, archive, OPTIONS)).rejects.toThrow('name a new ledger with --ledger')
  })
})

test('an import into a cluster that was interrupted is no ledger, and can be made again', async () => {
  const first = urlOf('sqlite', 'first')
  await fill(first)
  const archive = await exportLedger(first, OPTIONS)
  model.api.interfere(({ method, path }) =>
    method === 'POST' && path.endsWith('secrets') ? 'cut' : undefined,
  )
  await expect(importLedger('kubernetes:second', archive, OPTIONS)).rejects.toThrow('cannot be reached')
  model.api.interfere(undefined)
  await expect(openAt('kubernetes:second')).rejects.toThrow(/Secret is missing.*If an import was/)
  const other = { ...archive, records: archive.records.slice(1), history: [] }
  await expect(importLedger('kubernetes:second', other, OPTIONS)).rejects.toThrow(/kubectl -n \S+ del/)
  await importLedger('kubernetes:second', archive, OPTIONS)
  expect(inFile(await exportLedger('kubernetes:second', OPTIONS))).toStrictEqual(archive)
})

test.each([
  ['half of it', (text: string) => text.slice(0, text.length / 2), /line \d+ of the export/],
  [
    'a line too few',
    (text: string) => text.split('\n').slice(0, -2).join('\n'),
    'line 8 of the export is the end, but the header counts 9 lines',
  ],
  [
    'no hash key',
    (text: string) => text.replace(/"hashKey":"[^"]*"/, '"hashKey":""'),
    'line 1 of the export has no hash key',
  ],
  ['a broken record', (text: string) => text.replace('origin', 'cause'), 'the record of Pipe/orders in the'],
  ['a broken history', (text: string) => text.replace('started', 'ended'), 'a history entry of Pipe/orders'],
  ['another file', () => '{"a": 1}\n', 'line 1 of the export is not the head'],
  ['nothing', () => '', 'line 1 of the export is not JSON'],
] as const)('%s is refused, and nothing is imported', async (_, damage, why) => {
  await fill(urlOf('sqlite', 'first'))
  const text = archiveText(await exportLedger(urlOf('sqlite', 'first'), OPTIONS))
  expect(() => readArchiveText(damage(text))).toThrow(why)
})

test('an export with a rollback is read, and its rollback is open', () => {
  const head = { pipewrightLedger: 1, hashKey: Buffer.alloc(32).toString('base64'), usedVersion: 0 }
  const marked = { ...head, setBack: 'a record is gone', records: 0, forgotten: 0, history: 0 }
  expect(readArchiveText(`${JSON.stringify(marked)}\n`).rollback).toBe('a record is gone')
})
