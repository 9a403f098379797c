import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Key } from '../../src/kinds/key.ts'
import { openMemory, type OpenedMemory } from '../../src/notify/memory.ts'
import { createNotifier, type Notifier } from '../../src/notify/notifier.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import type { Event } from '../../src/reconcile/events.ts'
import type { ResourceStatus } from '../../src/reconcile/status.ts'
import { httpServer } from '../platform/support/server.ts'
import { loaded, reconciled } from '../telemetry/sample.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'
import { CONTEXT, EVERYTHING, eventsOf, standing } from './given.ts'

/** A folder with the file of an address and the memory. */
function createFolder(address: string) {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-notifier-'))
  writeFileSync(join(dir, 'url'), address)
  return {
    dir,
    url: join(dir, 'url'),
    told: join(dir, 'told.json'),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true }),
  }
}

interface Given {
  readonly url: string
  readonly memory: OpenedMemory
  readonly records?: readonly LedgerRecord[]
  readonly board: ReadonlyMap<Key, ResourceStatus>
  readonly events: Event[]
  readonly clock?: Clock
}

function notifierOf({ url, memory, records = [], board, events, clock = systemClock }: Given): Notifier {
  return createNotifier({
    targets: [
      {
        name: 'on-call',
        type: 'webhook',
        filter: EVERYTHING,
        groupWaitMs: 0,
        flapWindowMs: 600_000,
        rateLimit: { requests: 100, windowMs: 1_000 },
        route: { urlFile: url, keyFile: undefined, allowInsecureHttp: false },
      },
    ],
    memory,
    records,
    board: { get: (key) => board.get(key) },
    context: CONTEXT,
    clock,
    emit: (event) => events.push(event),
    random: () => 0,
    userAgent: 'pipewright/test',
  })
}

function created(key: Key, at: number, origin: 'created' | 'adopted' = 'created'): LedgerRecord {
  const pipe = {
    id: `p-${key}`,
    origin,
    at,
    revision: 'abc',
    requestId: undefined,
    seenAt: undefined,
    saidGoneAt: undefined,
    refutedAt: undefined,
  }
  return { ...blankRecord(key), pipe }
}

const never = new AbortController().signal

describe('a start', () => {
  test('tells of pipes that were created, and not told of, before the last process ended', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const told = (createdUntil: number) =>
      writeFileSync(
        folder.told,
        JSON.stringify({ version: 1, targets: { 'on-call': { createdUntil, told: {} } } }),
      )
    told(1_000)
    const keys = ['Pipe/old', 'Pipe/new', 'Pipe/adopted'] as const
    const board = new Map(keys.map((key) => [key, standing(key, 'Ready')]))
    const records = [
      created('Pipe/old', 1_000),
      created('Pipe/new', 1_001),
      created('Pipe/adopted', 1_002, 'adopted'),
    ]
    const events: Event[] = []
    const memory = await openMemory(folder.told)
    await using notifier = notifierOf({ url: folder.url, memory, records, board, events })
    await until('the message', () => server.requests.length === 1)
    await notifier.stop(never)
    const { news } = JSON.parse(server.requests[0]?.body ?? '{}') as {
      news: { key: string; change: string }[]
    }
    expect(news.map(({ key, change }) => `${key} ${change}`)).toEqual(['Pipe/new created'])
    expect(JSON.parse(readFileSync(folder.told, 'utf8'))).toMatchObject({
      targets: { 'on-call': { createdUntil: 1_001 } },
    })
  })

  test('of a new target is quiet about what was created before', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const board = new Map([['Pipe/old', standing('Pipe/old', 'Ready')] as const])
    const memory = await openMemory(folder.told)
    const records = [created('Pipe/old', systemClock.now() - 1)]
    await using notifier = notifierOf({ url: folder.url, memory, records, board, events: [] })
    notifier.tell(reconciled({ key: 'Pipe/old' }))
    await notifier.stop(never)
    expect(server.requests).toEqual([])
  })

  test('with a damaged memory says so, and tells all that is bad once', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    writeFileSync(folder.told, '{"version":1,')
    const events: Event[] = []
    const board = new Map([['Pipe/a', standing('Pipe/a', 'Missing')] as const])
    const memory = await openMemory(folder.told)
    await using notifier = notifierOf({ url: folder.url, memory, board, events })
    expect(eventsOf(events, 'NotificationsForgotten')).toMatchObject([
      { message: `${folder.told} is damaged, or of another version` },
    ])
    notifier.tell(reconciled({ key: 'Pipe/a' }))
    await notifier.stop(never)
    expect(server.requests).toHaveLength(1)
    expect((await openMemory(folder.told)).before?.get('on-call')?.told.has('Pipe/a')).toBe(true)
    expect(readdirSync(folder.dir).toSorted()).toEqual(['told.json', 'url'])
  })

  test('lets go of troubles of resources that went while nobody looked', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const state = {
      state: 'x',
      status: 'Missing',
      condition: 'Synced',
      reason: 'Missing',
      severity: 'critical',
    }
    writeFileSync(
      folder.told,
      JSON.stringify({
        version: 1,
        targets: { 'on-call': { createdUntil: 0, told: { 'Pipe/gone': state } } },
      }),
    )
    const memory = await openMemory(folder.told)
    const clock = createFakeClock()
    const events: Event[] = []
    await using notifier = notifierOf({ url: folder.url, memory, board: new Map(), events, clock })
    notifier.tell(loaded({ problem: 'the directory is empty' }))
    await clock.advance(60_000)
    expect(eventsOf(events, 'NotificationsWaiting').filter(({ count }) => count > 0)).toEqual([])
    notifier.tell(loaded())
    await clock.advance(1_000)
    await until('the end to be told', () => server.requests.length === 1)
    expect(server.requests[0]?.body).toContain('"change":"forgotten"')
    await notifier.stop(never)
  })

  test('and of one that a person forgot', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const clock = createFakeClock()
    const board = new Map([['Pipe/a', standing('Pipe/a', 'Orphaned')] as const])
    const memory = await openMemory(folder.told)
    await using notifier = notifierOf({ url: folder.url, memory, board, events: [], clock })
    notifier.tell(reconciled({ key: 'Pipe/a' }))
    await clock.advance(1)
    await until('the trouble to be told', () => server.requests.length === 1)
    notifier.tell({ type: 'Forgotten', key: 'Pipe/a' })
    board.delete('Pipe/a') // right after it is told
    await until('the end to be told', async () => {
      await clock.advance(1_000)
      return server.requests.length === 2
    })
    expect(server.requests[1]?.body).toContain('"change":"forgotten"')
    await notifier.stop(never)
  })
})

describe('a fault of ours', () => {
  test('is told as one, and does not reach whoever emits', async () => {
    using folder = createFolder('http://127.0.0.1:9')
    const events: Event[] = []
    const memory = await openMemory(folder.told)
    const board = new Map<Key, ResourceStatus>()
    board.get = () => {
      throw new Error('made to fail')
    }
    await using notifier = notifierOf({ url: folder.url, memory, board, events })
    expect(() => notifier.tell(reconciled())).not.toThrow()
    expect(eventsOf(events, 'Bug')).toHaveLength(1)
    await notifier.stop(never)
  })

  test('of the disk is told once, and nothing else stops', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const events: Event[] = []
    const board = new Map<Key, ResourceStatus>()
    const memory = await openMemory(join(folder.dir, 'no-such-folder', 'told.json'))
    await using notifier = notifierOf({ url: folder.url, memory, board, events })
    for (const key of ['Pipe/a', 'Pipe/b', 'Pipe/c'] as const) {
      board.set(key, standing(key, 'Missing'))
      notifier.tell(reconciled({ key }))
      await until(`${key} to be told`, () => server.requests.some(({ body }) => body.includes(key)))
    }
    await notifier.stop(never)
    expect(eventsOf(events, 'NotificationsForgotten')).toHaveLength(1)
  })
})

test('a stop waits no longer than it is let, also for a receiver that hangs', async () => {
  await using server = await httpServer(() => undefined)
  using folder = createFolder(server.url)
  const board = new Map([['Pipe/a', standing('Pipe/a', 'Missing')] as const])
  const memory = await openMemory(folder.told)
  const events: Event[] = []
  await using notifier = notifierOf({ url: folder.url, memory, board, events })
  notifier.tell(reconciled({ key: 'Pipe/a' }))
  await until('the request', () => server.requests.length === 1)
  await notifier.stop(AbortSignal.timeout(100))
  // The request itself would have failed after ten seconds.
  expect(eventsOf(events, 'NotificationFailed')).toEqual([])
  expect((await openMemory(folder.told)).before?.get('on-call')?.told.size).toBe(0)
})
