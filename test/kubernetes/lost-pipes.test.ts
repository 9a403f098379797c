import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Event } from '../../src/contract/events.ts'
import type { Ledger, OpenedLedger } from '../../src/contract/ledger.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { Key } from '../../src/kinds/key.ts'
import type { Kept } from '../../src/ledger/kubernetes/record-object.ts'
import type { LedgerRecord } from '../../src/plan/record.ts'
import { archiveText, readArchiveText } from '../../src/ledger/archive.ts'
import {
  addLosses,
  inWords,
  lossOf,
  noLosses,
  packedLosses,
  pipesIn,
  unpackedLosses,
} from '../../src/ledger/kubernetes/losses.ts'
import { exportLedger, importLedger } from '../../src/ledger/open.ts'
import { blank, fullRecord, ignore } from '../ledger/samples.ts'
import { runHere } from '../support/command.ts'
import { until } from '../support/until.ts'
import { modelForEach } from './model-for-each.ts'

/* Records that were put back, and of which the ledger lacks the pipes now: a person is told each of them, also after a restart. */

const URL = 'kubernetes:ledger'

const never = new AbortController().signal

const model = modelForEach()

const adopted = (key: Key, id: string): LedgerRecord => ({
  ...blank(key),
  remote: { id, origin: 'created', at: 1, revision: 'abc' },
})

function underWay(key: Key): LedgerRecord {
  const { intent } = fullRecord(key)
  if (intent === undefined) throw new Error('it is full')
  return { ...blank(key), intent: { ...intent, state: 'open' } }
}

async function refusal(ledger: Ledger): Promise<string> {
  return ledger.prepareIntent().then(() => '', String)
}

function memberOf(name: string): string {
  const secret = model.api.objects().get(model.pathOf('/secrets/')) as {
    readonly data: Record<string, string>
  }
  return Buffer.from(secret.data[name] ?? '', 'base64').toString()
}

/** Two processes know of twelve records; then the store is put back to before pipes were recorded in three of them. */
async function putBack(): Promise<{
  readonly opened: readonly OpenedLedger[]
  readonly events: Event[]
}> {
  const events: Event[] = []
  const emit = (event: Event) => void (event.type === 'LedgerPutBack' && events.push(event))
  const opened = [await model.open({ emit }), await model.open({ emit })]
  const [one, other] = opened as [OpenedLedger, OpenedLedger]
  const old = Array.from({ length: 8 }, (_, at): Key => `Pipe/a-${at}`)
  const before = await Promise.all(old.map((key) => one.ledger.swap(adopted(key, `old-${key}`), [])))
  const begun = await one.ledger.swap(underWay('Pipe/z-begun'), [])
  const back = model.api.snapshot()
  for (const record of before) await one.ledger.swap({ ...record, line: 7 }, [])
  await one.ledger.swap({ ...begun, ...adopted(begun.key, 'id-begun'), version: begun.version }, [])
  await one.ledger.swap(adopted('Pipe/z-late', 'id-late'), [])
  await one.ledger.swap(underWay('Pipe/z-sent'), [])
  await until('that it is heard', async () => (await other.ledger.list()).length === 11)
  back()
  model.api.cutWatches()
  for (const { ledger } of opened)
    await until('that it is noticed', async () => (await refusal(ledger)).includes('8 records'))
  await until('that it is written down', () => memberOf('setBack').includes('8 records'))
  return { opened, events }
}

/** A process acts and records two pipes; then the store is put back to before it took over, and it ends for that. */
async function putBackBeforeTakeover(): Promise<void> {
  const zero = await model.open()
  await (await zero.leadership.acquire(never, 'wait')).release()
  await zero.ledger[Symbol.asyncDispose]()
  const back = model.api.snapshot()
  const one = await model.open()
  const term = await one.leadership.acquire(never, 'wait')
  for (const name of ['late', 'later']) await one.ledger.swap(adopted(`Pipe/${name}`, `id-${name}`), [])
  // Its watch is silent: nothing but the Lease tells it. And the list comes late.
  let lists = 0
  model.api.interfere(({ method, path, query }) => {
    if (query.get('watch') === '1') return 'cut'
    if (method !== 'GET' || !path.endsWith('/pipewrightrecords')) return undefined
    lists += 1
    return lists === 1 ? { status: 429, retryAfter: 1 } : undefined
  })
  model.api.cutWatches()
  back()
  await until('that it is over', () => term.over.aborted)
  await one.ledger[Symbol.asyncDispose]()
  model.api.interfere(undefined)
}

async function accept(...flags: readonly string[]) {
  return runHere(['ledger', 'accept', '--ledger', URL, ...flags])
}

const ADOPTIONS = [
  '  pipewright adopt Pipe/z-begun id-begun',
  '  pipewright adopt Pipe/z-late id-late',
  '  pipewright adopt Pipe/z-sent ID, with the id that the platform shows',
]

test('what is said begins with the records whose pipes would be created a second time, with their ids, once however many notice it', async () => {
  const { opened } = await putBack()
  const said =
    'the record of Pipe/z-begun was at version 2, and is at 1 (its pipe: id-begun); the record of Pipe/z-late is gone (its pipe: id-late); ' +
    'the record of Pipe/z-sent is gone; 8 records are at earlier versions than they were'
  expect(memberOf('setBack')).toBe(said)
  for (const { ledger } of opened) expect(await refusal(ledger)).toContain(said)
})

test('each process tells the whole, and each pipe with the command that records it again', async () => {
  const { events } = await putBack()
  await until('that both have told it', () => events.length === 8)
  for (const [key, id] of [
    ['Pipe/z-begun', 'id-begun'],
    ['Pipe/z-late', 'id-late'],
  ] as const) {
    const loss = { key, id, command: `pipewright adopt ${key} ${id}` }
    expect(events.filter((event) => 'loss' in event && event.loss?.key === key)).toMatchObject([
      { loss },
      { loss },
    ])
  }
})

test('it is not accepted before a person has adopted each, under its key or another one', async () => {
  const { opened } = await putBack()
  for (const { ledger } of opened) await ledger[Symbol.asyncDispose]()
  const reader = await model.open({ mode: 'reader' })
  expect(reader.ledger.missingPipes?.map(({ command }) => command)).toEqual([
    'pipewright adopt Pipe/z-begun id-begun',
    'pipewright adopt Pipe/z-late id-late',
    'pipewright adopt Pipe/z-sent ID',
  ])
  const refused = await accept()
  expect(refused.code).toBe(1)
  expect(refused.stdout.split('\n').slice(1, -1)).toEqual(ADOPTIONS)
  expect(refused.stderr).toContain('was not accepted')
  const { ledger } = await model.open({ mode: 'writer' })
  expect(await refusal(ledger)).toContain('id-late')
  const begun = await ledger.get('Pipe/z-begun')
  if (begun === undefined) throw new Error('it is gone')
  await ledger.swap({ ...begun, remote: adopted(begun.key, 'id-begun').remote }, [])
  await ledger.swap(adopted('Pipe/other', 'id-late'), [])
  expect(ledger.missingPipes?.map(({ key }) => key)).toEqual(['Pipe/z-sent'])
  expect((await accept()).stdout.split('\n').slice(1, -1)).toEqual(ADOPTIONS.slice(2))
  await ledger.swap(adopted('Pipe/z-sent', 'id-that-was-found'), [])
  expect(await accept()).toMatchObject({ code: 0, stdout: expect.stringContaining('Accepted') })
  expect(await refusal(ledger)).toBe('')
  expect(memberOf('lost')).toBe('')
})

test('who ends, because the Lease was put back as well, has each pipe written down before', async () => {
  await putBackBeforeTakeover()
  expect((await model.open()).ledger.missingPipes?.map(({ id }) => id)).toEqual(['id-late', 'id-later'])
  expect(await accept()).toMatchObject({ code: 1 })
})

test('a record that somebody has edited so that it lacks its pipe, at the version that it had, is a loss; another edit is none', () => {
  const record = { ...adopted('Pipe/edited', 'id-edited'), version: 4 }
  const keptAs = (body: object, version = 4): Kept => ({
    key: record.key,
    version,
    body: JSON.stringify(body),
    movedFrom: undefined,
    before: undefined,
    movedTo: undefined,
    history: [],
  })
  const known = keptAs(record)
  expect(lossOf(known, keptAs(record))).toBeUndefined()
  expect(lossOf(known, keptAs({ ...record, line: 99 }))).toBeUndefined()
  // A process has forgotten it.
  expect(lossOf(known, keptAs({ ...record, remote: undefined }, 5))).toBeUndefined()
  const loss = lossOf(known, keptAs({ ...record, remote: undefined }))
  expect(loss).toMatchObject({ isOfPipe: true, id: 'id-edited' })
  const losses = noLosses()
  if (loss !== undefined) addLosses(losses, loss)
  expect(inWords(losses)).toBe(
    'the record of Pipe/edited is another one at the same version 4 (its pipe: id-edited)',
  )
})

test('with --force it is accepted without them, and each is named', async () => {
  await putBack()
  const { code, stdout } = await accept('--force')
  expect(code).toBe(0)
  expect(stdout.split('\n').slice(1, 4)).toEqual(ADOPTIONS)
  expect(stdout).toContain('Accepted')
  expect((await accept()).stdout).toContain('Nothing to accept')
})

test('--force goes with nothing else', async () => {
  expect(await runHere(['ledger', 'export', 'file', '--ledger', URL, '--force'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('--force goes with "accept"'),
  })
})

test('an export holds them as well', async () => {
  await putBack()
  const options = { clock: systemClock, emit: ignore }
  const archive = readArchiveText(archiveText(await exportLedger(URL, options)))
  await importLedger('kubernetes:other', archive, options)
  const { stdout } = await runHere(['ledger', 'accept', '--ledger', 'kubernetes:other'])
  expect(stdout.split('\n').slice(1, -1)).toEqual(ADOPTIONS)
})

test('who does not act hears that a person has accepted it', async () => {
  const { opened } = await putBack()
  expect((await accept('--force')).code).toBe(0)
  for (const { ledger } of opened) await until('that it is heard', () => ledger.putBack === undefined)
})

test('five thousand pipes have room in the Secret, and each is told again', () => {
  const losses = noLosses()
  for (let at = 0; at < 5_000; at += 1)
    addLosses(losses, {
      key: `Pipe/a-team-with-a-long-name.orders-of-a-region-${at}`,
      was: 4,
      is: 0,
      isOfPipe: true,
      id: randomUUID(),
    })
  const packed = packedLosses(losses)
  expect(packed.length * (4 / 3)).toBeLessThan(400_000)
  expect(pipesIn(unpackedLosses(packed, undefined))).toEqual(pipesIn(losses))
})

test('a list that somebody has edited leaves what is said in words', () => {
  expect([...unpackedLosses('AAAA', 'the record of Pipe/orders is gone').words]).toEqual([
    'the record of Pipe/orders is gone',
  ])
})
