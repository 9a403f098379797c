import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openNetwork } from '../../src/platform/network.ts'
import { DIRECT } from '../platform/support/platform.ts'
import { httpPost } from '../../src/cli/compose-notifier.ts'
import { systemClock } from '../../src/daemon/system-clock.ts'
import type { Clock } from '../../src/lib/clock.ts'
import type { Key } from '../../src/kinds/key.ts'
import { openSentStateFile, openSentStateNote, type SentStateFile } from '../../src/notify/sent-state.ts'
import { createNotifier, type Notifier } from '../../src/notify/notifier.ts'
import { blankRecord, type LedgerRecord } from '../../src/plan/record.ts'
import { readSecretFile } from '../../src/platform/secret-store.ts'
import type { Event } from '../../src/contract/events.ts'
import type { ResourceStatus } from '../../src/contract/status.ts'
import { httpServer } from '../platform/support/server.ts'
import { loaded, reconciled } from '../telemetry/sample.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'
import { CONTEXT, EVERYTHING, eventsOf, resourceStatus } from './given.ts'

/** A folder with the file of an address and that of the sent states. */
function createFolder(address: string) {
  const dir = mkdtempSync(join(tmpdir(), 'pipewright-notifier-'))
  writeFileSync(join(dir, 'url'), address)
  return {
    dir,
    url: join(dir, 'url'),
    sentStates: join(dir, 'sent.json'),
    [Symbol.dispose]: () => rmSync(dir, { recursive: true }),
  }
}

interface Given {
  readonly url: string
  readonly sentStates: SentStateFile
  readonly records?: readonly LedgerRecord[]
  readonly board: ReadonlyMap<Key, ResourceStatus>
  readonly events: Event[]
  readonly clock?: Clock
}

function notifierOf({
  url,
  sentStates,
  records = [],
  board,
  events,
  clock = systemClock,
}: Given): Notifier & AsyncDisposable {
  const network = openNetwork(DIRECT, 5_000)
  const notifier = createNotifier({
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
    sentStates,
    records,
    board: { get: (key) => board.get(key) },
    context: CONTEXT,
    clock,
    emit: (event) => events.push(event),
    random: () => 0,
    confirm: async () => Infinity,
    post: httpPost(network, clock),
    readSecret: readSecretFile,
    userAgent: 'pipewright/test',
  })
  return { ...notifier, [Symbol.asyncDispose]: () => network.destroy() }
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
  return { ...blankRecord(key), remote: pipe }
}

const never = new AbortController().signal

describe('a start', () => {
  test('sends what was created and not sent before the last process ended', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const write = (createdUntil: number) =>
      writeFileSync(
        folder.sentStates,
        JSON.stringify({ version: 1, targets: { 'on-call': { createdUntil, told: {} } } }),
      )
    write(1_000)
    const keys = ['Pipe/old', 'Pipe/new', 'Pipe/adopted'] as const
    const board = new Map(keys.map((key) => [key, resourceStatus(key, 'Ready')]))
    const records = [
      created('Pipe/old', 1_000),
      created('Pipe/new', 1_001),
      created('Pipe/adopted', 1_002, 'adopted'),
    ]
    const events: Event[] = []
    const sentStates = await openSentStateFile(folder.sentStates)
    await using notifier = notifierOf({ url: folder.url, sentStates, records, board, events })
    await until('the message', () => server.requests.length === 1)
    await notifier.stop(never)
    const { news } = JSON.parse(server.requests[0]?.body ?? '{}') as {
      news: { key: string; change: string }[]
    }
    expect(news.map(({ key, change }) => `${key} ${change}`)).toEqual(['Pipe/new created'])
    expect(JSON.parse(readFileSync(folder.sentStates, 'utf8'))).toMatchObject({
      targets: { 'on-call': { createdUntil: 1_001 } },
    })
  })

  test('of a new target is quiet about what was created before', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const board = new Map([['Pipe/old', resourceStatus('Pipe/old', 'Ready')] as const])
    const sentStates = await openSentStateFile(folder.sentStates)
    const records = [created('Pipe/old', systemClock.now() - 1)]
    await using notifier = notifierOf({ url: folder.url, sentStates, records, board, events: [] })
    notifier.observe(reconciled({ key: 'Pipe/old' }))
    await notifier.stop(never)
    expect(server.requests).toEqual([])
  })

  test('with a damaged file says so, and sends all that is bad once', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    writeFileSync(folder.sentStates, '{"version":1,')
    const events: Event[] = []
    const board = new Map([['Pipe/a', resourceStatus('Pipe/a', 'Missing')] as const])
    const sentStates = await openSentStateFile(folder.sentStates)
    await using notifier = notifierOf({ url: folder.url, sentStates, board, events })
    expect(eventsOf(events, 'NotificationsForgotten')).toMatchObject([
      { message: `${folder.sentStates} is damaged, or of another version` },
    ])
    notifier.observe(reconciled({ key: 'Pipe/a' }))
    await notifier.stop(never)
    expect(server.requests).toHaveLength(1)
    expect((await openSentStateFile(folder.sentStates)).before?.get('on-call')?.alerts.has('Pipe/a')).toBe(
      true,
    )
    expect(readdirSync(folder.dir).toSorted()).toEqual(['sent.json', 'url'])
  })

  test('lets go of problems of resources that went while nobody looked', async () => {
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
      folder.sentStates,
      JSON.stringify({
        version: 1,
        targets: { 'on-call': { createdUntil: 0, told: { 'Pipe/gone': state } } },
      }),
    )
    const sentStates = await openSentStateFile(folder.sentStates)
    const clock = createFakeClock()
    const events: Event[] = []
    await using notifier = notifierOf({ url: folder.url, sentStates, board: new Map(), events, clock })
    notifier.observe(loaded({ problem: 'the directory is empty' }))
    await clock.advance(60_000)
    expect(eventsOf(events, 'NotificationsWaiting').filter(({ count }) => count > 0)).toEqual([])
    notifier.observe(loaded())
    await clock.advance(1_000)
    await until('the end to be sent', () => server.requests.length === 1)
    expect(server.requests[0]?.body).toContain('"change":"forgotten"')
    await notifier.stop(never)
  })

  test('and of one that a person forgot', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const clock = createFakeClock()
    const board = new Map([['Pipe/a', resourceStatus('Pipe/a', 'Orphaned')] as const])
    const sentStates = await openSentStateFile(folder.sentStates)
    await using notifier = notifierOf({ url: folder.url, sentStates, board, events: [], clock })
    notifier.observe(reconciled({ key: 'Pipe/a' }))
    await clock.advance(1)
    await until('the problem to be sent', () => server.requests.length === 1)
    notifier.observe({ type: 'Forgotten', key: 'Pipe/a' })
    board.delete('Pipe/a') // right after the event
    await until('the end to be sent', async () => {
      await clock.advance(1_000)
      return server.requests.length === 2
    })
    expect(server.requests[1]?.body).toContain('"change":"forgotten"')
    await notifier.stop(never)
  })
})

describe('a fault of ours', () => {
  test('is reported as one, and does not reach whoever emits', async () => {
    using folder = createFolder('http://127.0.0.1:9')
    const events: Event[] = []
    const sentStates = await openSentStateFile(folder.sentStates)
    const board = new Map<Key, ResourceStatus>()
    board.get = () => {
      throw new Error('made to fail')
    }
    await using notifier = notifierOf({ url: folder.url, sentStates, board, events })
    expect(() => notifier.observe(reconciled())).not.toThrow()
    expect(eventsOf(events, 'Bug')).toHaveLength(1)
    await notifier.stop(never)
  })

  test('of the disk is reported once, and nothing else stops', async () => {
    await using server = await httpServer((response) => response.end())
    using folder = createFolder(server.url)
    const events: Event[] = []
    const board = new Map<Key, ResourceStatus>()
    const sentStates = await openSentStateFile(join(folder.dir, 'no-such-folder', 'sent.json'))
    await using notifier = notifierOf({ url: folder.url, sentStates, board, events })
    for (const key of ['Pipe/a', 'Pipe/b', 'Pipe/c'] as const) {
      board.set(key, resourceStatus(key, 'Missing'))
      notifier.observe(reconciled({ key }))
      await until(`${key} to be sent`, () => server.requests.some(({ body }) => body.includes(key)))
    }
    await notifier.stop(never)
    expect(eventsOf(events, 'NotificationsForgotten')).toHaveLength(1)
  })
})

test('a stop waits no longer than it is let, also for a receiver that hangs', async () => {
  await using server = await httpServer(() => undefined)
  using folder = createFolder(server.url)
  const board = new Map([['Pipe/a', resourceStatus('Pipe/a', 'Missing')] as const])
  const sentStates = await openSentStateFile(folder.sentStates)
  const events: Event[] = []
  await using notifier = notifierOf({ url: folder.url, sentStates, board, events })
  notifier.observe(reconciled({ key: 'Pipe/a' }))
  await until('the request', () => server.requests.length === 1)
  await notifier.stop(AbortSignal.timeout(100))
  // The request itself would have failed after ten seconds.
  expect(eventsOf(events, 'NotificationFailed')).toEqual([])
  expect((await openSentStateFile(folder.sentStates)).before?.get('on-call')?.alerts.size).toBe(0)
})

/** What the note of a ledger holds. */
function notesOf() {
  let kept: string | undefined
  return {
    read: async () => kept,
    write: async (_: 'sentState', text: string) => {
      kept = text
    },
  }
}

describe('what was sent, in the note of a ledger', () => {
  const problem = {
    state: 'Failed Synced Unavailable',
    status: 'Failed',
    condition: 'Synced',
    reason: 'Unavailable',
    severity: 'warning',
  } as const
  const sent = Array.from({ length: 20 }, (_, index) => [`Pipe/p${index}` as Key, problem] as const)

  test('is read as it was written', async () => {
    const notes = notesOf()
    const target = { alerts: new Map(sent), createdUntil: 5 }
    await (await openSentStateNote(notes)).save(new Map([['on-call', target]]))
    expect((await openSentStateNote(notes)).before).toEqual(new Map([['on-call', target]]))
  })

  test('that is damaged is not used, and said', async () => {
    const { before, unusable } = await openSentStateNote({ ...notesOf(), read: async () => '{"version"' })
    expect(before).toBeUndefined()
    expect(unusable).toContain('damaged')
  })
})

test('what was sent and could not be kept is kept later', async () => {
  await using server = await httpServer((response) => response.end())
  using folder = createFolder(server.url)
  const clock = createFakeClock()
  const saved: number[] = []
  let fails = true
  const sentStates: SentStateFile = {
    before: undefined,
    unusable: undefined,
    async save(targets) {
      if (fails) throw new Error('the ledger cannot be reached')
      saved.push(targets.size)
    },
  }
  const events: Event[] = []
  await using notifier = notifierOf({ url: folder.url, sentStates, board: new Map(), events, clock })
  await until('a first try', () => eventsOf(events, 'NotificationsForgotten').length === 1)
  fails = false
  await clock.advance(5_000)
  await until('a second one', () => saved.length > 0)
  expect(saved).toEqual([1])
  await notifier.stop(never)
})
