import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import type { Term } from '../../src/contract/leadership.ts'
import type { Ledger, OpenedLedger } from '../../src/contract/ledger.ts'
import { archiveText, readArchiveText, type Archive } from '../../src/ledger/archive.ts'
import { acceptLedger, exportLedger, importLedger } from '../../src/ledger/open.ts'
import { modelForEach } from '../kubernetes/model-for-each.ts'
import { openAt } from '../kubernetes/open-at.ts'
import { blank, entry, ignore, ORDERS } from './samples.ts'

/* An import of an export where a Lease is left: it says how much was written. */

const URL = 'kubernetes:ledger'
const never = new AbortController().signal

const model = modelForEach()
const OPTIONS = { clock: model.clock, emit: ignore }

/** A process acts with it, and ends. */
async function acting(work: (opened: OpenedLedger, term: Term) => Promise<void>): Promise<void> {
  const opened = await openAt(model.api, model.workspace, { clock: model.clock })
  await using _ = opened.ledger
  const term = await opened.leadership.acquire(never, 'wait')
  await work(opened, term)
  await term.confirm()
  await term.release()
}

async function creates({ ledger }: { readonly ledger: Ledger }): Promise<string> {
  return ledger.assertCanSettle().then(() => 'creates', String)
}

/** With one key that was written often before it was forgotten, and others that were not. */
async function filled(): Promise<Archive> {
  await acting(async ({ ledger }) => {
    await ledger.swap(blank(ORDERS), [entry(ORDERS, 'made')])
    let busy = await ledger.swap(blank('Pipe/busy'), [entry('Pipe/busy', 'made')])
    for (let writes = 0; writes < 8; writes += 1) busy = await ledger.swap({ ...busy, line: writes }, [])
    await ledger.remove(busy, [])
    for (const key of ['Pipe/a', 'Pipe/b', 'Pipe/c'] as const)
      await ledger.remove(await ledger.swap(blank(key), [entry(key, 'made')]), [])
    // Without any history.
    await ledger.remove(await ledger.swap(blank('Pipe/silent'), []), [])
  })
  return exported()
}

async function exported(): Promise<Archive> {
  return readArchiveText(archiveText(await exportLedger(URL, OPTIONS)))
}

async function accepted(url: string): Promise<string | undefined> {
  return acceptLedger(url, OPTIONS)
}

/** Somebody deletes the records and the Secret; the Lease stays. */
function deleted(): void {
  const objects = model.api.objects() as Map<string, JsonObject>
  for (const path of objects.keys()) if (!path.includes('/leases/')) objects.delete(path)
}

test('one that is not older is what was there: nobody has to accept it', async () => {
  const archive = await filled()
  deleted()
  expect(await importLedger(URL, archive, OPTIONS)).toBeUndefined()
  expect(await exported()).toStrictEqual(archive)
  await acting(async (opened) => expect(await creates(opened)).toBe('creates'))
  expect(await accepted(URL)).toBeUndefined()
})

test('one that lacks a single write creates nothing until a person accepts it: before a process starts with it', async () => {
  const archive = await filled()
  await acting(async ({ ledger }) => void (await ledger.swap(blank('Pipe/since'), [])))
  deleted()
  const lost = 'its records should show 20 writes, and show only 19'
  expect(await importLedger(URL, archive, OPTIONS)).toBe(lost)
  const person = await openAt(model.api, model.workspace, { mode: 'owner' })
  expect(await creates(person)).toContain(lost)
  await person.ledger[Symbol.asyncDispose]()
  expect(await accepted(URL)).toBe(lost)
  await acting(async (opened) => expect(await creates(opened)).toBe('creates'))
})

test('or once one has started', async () => {
  const archive = await filled()
  await acting(async ({ ledger }) => void (await ledger.swap(blank('Pipe/since'), [])))
  deleted()
  await importLedger(URL, archive, OPTIONS)
  await acting(async (opened) => {
    expect(await creates(opened)).toContain('and show only 19')
    await accepted(URL)
    expect(await creates(opened)).toBe('creates')
  })
  await acting(async (opened) => expect(await creates(opened)).toBe('creates'))
})

test('one that was exported before a person has accepted it is not accepted by that', async () => {
  const archive = await filled()
  await acting(async ({ ledger }) => void (await ledger.swap(blank('Pipe/since'), [])))
  deleted()
  await importLedger(URL, archive, OPTIONS)
  const marked = await exported()
  await importLedger('kubernetes:other', marked, OPTIONS)
  expect(await accepted('kubernetes:other')).toContain('and show only 19')
  await expect(importLedger(`sqlite:${model.workspace.path('a.db')}`, marked, OPTIONS)).rejects.toThrow(
    'pipewright ledger accept',
  )
})

test('where a process was there when all was deleted, the Lease still knows how much was written', async () => {
  const archive = await filled()
  await acting(async ({ ledger }, term) => {
    const since = await ledger.swap(blank('Pipe/since'), [])
    await term.confirm()
    deleted()
    await expect(ledger.swap(since, [])).rejects.toThrow('is no longer at version')
  })
  expect(await importLedger(URL, archive, OPTIONS)).toContain('and show only 19')
})

test('where there is no Lease, nothing is compared', async () => {
  const archive = await filled()
  expect(await importLedger('kubernetes:other', archive, OPTIONS)).toBeUndefined()
})
