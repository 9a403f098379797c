import { masked } from '../support/masked.ts'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { Condition } from '../../src/plan/condition.ts'
import type { Reason } from '../../src/plan/reason.ts'
import type { Event } from '../../src/contract/events.ts'
import { digestsOf } from '../../src/contract/activity.ts'
import { FIELDS, typeOf, type LogField } from '../../src/telemetry/log-fields.ts'
import { EVENTS, LINES } from '../../src/telemetry/event-table.ts'
import type { EventRow } from '../../src/telemetry/event-rows/event-row.ts'
import { createLog } from '../../src/telemetry/logger.ts'
import { createFakeClock } from '../support/fake-clock.ts'
import { CHANGE, EVERY_EVENT, FAILED, NOTIFICATION, PROBLEM } from './every-event.ts'
import { saying } from '../support/messages.ts'
import { createFinished, loaded, reconciled } from '../support/events.ts'
import { finding, NOW, telemetry } from './sample.ts'
import { folderForTest } from '../support/folders.ts'

const DRIFTED = { reason: 'Drifted', facts: { fields: ['scaling.replicas'], from: 'manifest' } } as const
const CONDITION = { status: 'False', ...DRIFTED, since: NOW } as const

/** Each ends with its level. */
const LEVELS: Readonly<Record<string, Event>> = {
  'an unchanged reconcile is of no interest: debug': reconciled(),
  'a reconcile that applied something is news: info': reconciled({ changed: true, action: 'upsert' }),
  'what one read is said of a problem, or of a condition: debug': reconciled({ changed: true }),
  'one that failed is a problem, which has a line: debug': reconciled({ changed: true, result: 'failed' }),
  'a problem stands in the way: warn': problem({ reason: 'Unavailable' }),
  'a pipe that is missing needs a person soon: warn': problem({ reason: 'MassMissing' }),
  'what nobody knows needs a person now: error': problem({ reason: 'OutcomeUnknown' }),
  'a problem that is over is news: info': { type: 'ProblemOver', ...PROBLEM, durationMs: 5 },
  'one that fails as before is no news: debug': reconciled({ result: 'failed' }),
  'a create that worked is news: info': createFinished(),
  'a create that failed is a problem, which has a line: debug': createFinished({ outcome: 'failed' }),
  'a create of unknown outcome needs a person: error': createFinished({ outcome: 'unknown' }),
  'a ledger that cannot be written needs a person: error': ledger('failed'),
  'a write to the ledger is of no interest: debug': ledger('written'),
  'a fault of ours is an error: error': { type: 'Bug', message: 'x', error: new Error('y') },
  'a directory that cannot be read is not our fault: warn': failed('gone'),
  'polling is worse than watching: warn': { type: 'WatchModeChanged', mode: 'polling', message: 'ENOSPC' },
  'a notification that went through is of no interest: debug': sent(false),
  'a receiver that is back is news: info': sent(true),
  'a receiver that is away stands in the way: warn': notSent({ retryInMs: 5 }),
  'one that still is, is no news: debug': notSent({ retryInMs: 5, first: false }),
  'one that is refused stands in the way: warn': notSent({}),
  'a 429 stands in the way: warn': limited(true),
  'the next of the same limit is no news: debug': limited(false),
  'a limit that is over is news: info': {
    type: 'RateLimitOver',
    service: 'analytics',
    replies: 3,
    durationMs: 5,
  },
  'a stop that left work is worth a look: warn': { type: 'Stopped', unfinished: 2 },
  'an invalid manifest has lines of its own: debug': problem({ reason: 'InvalidManifest' }),
  'a resource that came to rest is news: info': conditionChanged(CONDITION, { isNews: true }),
  'another condition is not: debug': conditionChanged(CONDITION),
}

function problem(over: { readonly reason: Reason }): Event {
  return { type: 'ProblemFound', ...PROBLEM, because: over, ...over }
}

function conditionChanged(before: Condition | undefined, over: { readonly isNews?: boolean } = {}): Event {
  return { ...CHANGE, condition: 'Synced', before, after: CONDITION, isNews: false, ...over }
}

function notSent(over: { readonly retryInMs?: number; readonly first?: boolean }): Event {
  return { ...FAILED, retryInMs: undefined, ...over }
}

function sent(recovered: boolean): Event {
  return { type: 'NotificationSent', ...NOTIFICATION, recovered }
}

function limited(isFirst: boolean): Event {
  return { type: 'RateLimited', service: 'analytics', retryAfterMs: 500, isFirst }
}

function ledger(result: 'written' | 'failed'): Event {
  return { type: 'LedgerWritten', result, durationMs: 2, message: undefined }
}

function failed(message: string): Event {
  return { type: 'SourceFailed', reason: 'SourceUnreadable', message, durationMs: 1 }
}

describe('levels', () => {
  it.each(Object.entries(LEVELS))('%s', async (title, event) => {
    const { emit, lines } = await telemetry({ log: { level: 'trace' } })
    emit(event)
    expect(lines().map((line) => line['level'])).toEqual([title.split(': ').at(-1)])
  })

  it('tells milliseconds to a tenth', async () => {
    const { emit, lines } = await telemetry({ log: { level: 'trace' } })
    emit(reconciled({ durationMs: 3.6595800000000054, changeToApplyMs: 12.25 }))
    expect(lines()).toMatchObject([{ durationMs: 3.7, changeToApplyMs: 12.3 }])
  })

  it('says each failure of the ledger, also after a failed read that a write followed', async () => {
    const { emit, lines } = await telemetry({ log: { level: 'trace' } })
    emit({ type: 'LedgerRead', result: 'failed', durationMs: 2, message: 'no' })
    for (const result of ['failed', 'written', 'written', 'failed'] as const) emit(ledger(result))
    expect(lines().map((line) => line['level'])).toEqual(['error', 'debug', 'info', 'debug', 'error'])
  })

  it('says nothing above debug about an unchanged world', async () => {
    const { emit, text } = await telemetry()
    emit(loaded({ findings: [finding()] }))
    text()
    emit(loaded({ findings: [finding()] }))
    emit(reconciled())
    emit({ type: 'Observed', key: 'Pipe/orders', state: masked('Running'), differences: [] })
    emit(ledger('written'))
    emit({ type: 'QueueChanged', depth: { 0: 1, 1: 0, 2: 0 } })
    emit({ type: 'QueueWaited', priority: 0, waitMs: 3 })
    emit({
      type: 'RequestFinished',
      operation: 'getPipe',
      service: 'analytics',
      code: '200',
      durationMs: 3,
      requestId: undefined,
    })
    expect(text()).toBe('')
  })
})

const EVERYWHERE: readonly string[] = ['level', 'time', 'app', 'msg', 'revision']

describe('lines', () => {
  it('have a message that no other kind of line has', () => {
    const messages = LINES.map(({ message }) => message)
    expect(new Set(messages).size).toBe(messages.length)
  })

  it('have no field that is not described, and none is described in vain', () => {
    const used = new Set<string>([...EVERYWHERE, ...LINES.flatMap(({ fields }) => fields)])
    expect(Object.keys(FIELDS).toSorted()).toEqual([...used].toSorted())
  })

  it('have a constant message, and the facts as fields', async () => {
    const { emit, lines } = await telemetry()
    emit(reconciled({ changed: true, action: 'upsert' }))
    expect(lines()).toEqual([
      {
        level: 'info',
        time: '2026-06-01T12:00:00.000Z',
        app: 'pipewright',
        msg: 'Reconciled',
        key: 'Pipe/orders',
        reconcileId: 'rec-1',
        revision: 'abc123',
        action: 'upsert',
        reason: 'InSync',
        result: 'done',
        requestId: 'req-1',
        durationMs: 1_500,
        file: 'orders.yaml',
        line: 3,
        manifestRevision: 'abc122',
        detail: 'The platform reports what the manifest asks for.',
      },
    ])
  })

  it('tell of a fault with its causes, without the fields of the error', async () => {
    const { emit, lines, text } = await telemetry()
    const error = Object.assign(new Error('outer', { cause: new Error('inner') }), {
      request: 'k3y-material',
    })
    emit({ type: 'Bug', message: 'in the queue', error })
    const [line] = lines()
    expect(line).toMatchObject({
      detail: 'in the queue',
      err: { message: 'outer', cause: { message: 'inner' } },
    })
    expect(JSON.stringify(line) + text()).not.toContain('k3y-material')
  })
})

/** Names that log systems take for something of theirs, in small letters. */
const RESERVED: Readonly<Record<string, string>> = {
  // docs.datadoghq.com: reserved attributes, and those that are taken for them in JSON
  datadog: `
    host hostname source status severity service appname trace_id message log timestamp date eventtime
    published_date ddsource ddtags env
  `,
  // cloud.google.com/logging/docs/structured-logging
  google: `
    severity message log timestamp timestampseconds timestampnanos httprequest labels operationid
    textpayload
  `,
  // words of LogQL: behind `| json`, a field of such a name cannot be asked for
  loki: `
    on by without bool offset ignoring group_left group_right or and unless json regexp logfmt unpack
    pattern unwrap drop keep variants of ip decolorize label_format line_format label_replace
    detected_level stream filename
  `,
}

describe('fields', () => {
  it('have no name that a log system keeps for itself', () => {
    const reserved = Object.values(RESERVED).flatMap((words) => words.trim().split(/\s+/))
    expect(Object.keys(FIELDS).filter((name) => reserved.includes(name.toLowerCase()))).toEqual([])
  })
})

describe('the table of lines', () => {
  it.each(Object.entries(EVERY_EVENT))(
    'is true of %s: these levels and fields, and no others',
    async (type, events) => {
      const { emit, lines } = await telemetry({ log: { level: 'trace' } })
      for (const event of events) emit(event)
      const told = lines()
      const row: EventRow<never> = EVENTS[type as Event['type']] // the key of an object of all types
      const kinds = [row.line ?? [], row.moreLines ?? []].flat()
      const seen = kinds.map(({ message }) => {
        const ofKind = told.filter(({ msg }) => msg === message)
        const facts = new Set(
          ofKind.flatMap((line) => Object.keys(line)).filter((name) => !EVERYWHERE.includes(name)),
        )
        return {
          message,
          levels: sorted(ofKind.map(({ level }) => String(level))),
          fields: [...facts].toSorted(),
        }
      })
      expect(seen).toEqual(
        kinds.map(({ message, levels, fields }) => ({
          message,
          levels: sorted(Object.keys(levels)),
          fields: [...fields].toSorted(),
        })),
      )
      expect(told.map(({ msg }) => msg)).toEqual(
        told.map(({ msg }) => kinds.find(({ message }) => message === msg)?.message),
      )
      const wrong = told.flatMap((line) =>
        Object.entries(line).filter(([name, value]) => typeOf(name as LogField) !== typeNow(value)),
      )
      expect(wrong).toEqual([])
    },
  )
})

function sorted(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted()
}

function typeNow(value: unknown): string {
  if (Array.isArray(value)) return 'list of strings'
  return typeof value
}

function ledgerRead(result: 'read' | 'failed' | 'ignored'): Event {
  return { type: 'LedgerRead', result, durationMs: 1, message: undefined }
}

describe('a ledger that can be neither read nor written', () => {
  it.each([
    ['found out by reading', [ledgerRead('failed'), ledger('failed'), ledgerRead('failed')]],
    ['found out by writing', [ledger('failed'), ledgerRead('failed'), ledger('failed')]],
  ])('is said once, and its end once: %s', async (_, failures) => {
    const { emit, lines } = await telemetry()
    for (const event of failures) emit(event)
    expect(lines().map(({ level }) => level)).toEqual(['error'])
    emit(ledgerRead('read'))
    expect(lines()).toEqual([])
    emit(ledger('written'))
    expect(lines()).toMatchObject([{ level: 'info', msg: 'Ledger written', result: 'written' }])
  })

  it('is not one that has an object that is none of its records: each is said', async () => {
    const { emit, lines } = await telemetry()
    for (const result of ['ignored', 'ignored', 'failed'] as const) emit(ledgerRead(result))
    expect(lines().map(({ level }) => level)).toEqual(['warn', 'warn', 'error'])
  })

  it('that was rolled back meanwhile: that is said all the same', async () => {
    const { emit, lines } = await telemetry()
    emit(ledgerRead('failed'))
    emit({ type: 'LedgerRolledBack', message: 'it was rolled back to an earlier state' })
    expect(lines()).toMatchObject([
      { level: 'error', msg: 'Ledger read' },
      { level: 'error', msg: 'Ledger rolled back', detail: 'it was rolled back to an earlier state' },
    ])
  })

  it('is over with a reading, where only that failed', async () => {
    const { emit, lines } = await telemetry()
    for (const event of [ledgerRead('failed'), ledgerRead('read')]) emit(event)
    expect(lines().map(({ level, msg }) => [level, msg])).toEqual([
      ['error', 'Ledger read'],
      ['info', 'Ledger read'],
    ])
  })
})

describe('readings', () => {
  it('are news when a key changed, or when the revision did', async () => {
    const { emit, lines } = await telemetry()
    emit(loaded())
    emit(loaded())
    emit(loaded({ changed: ['Pipe/orders'] }))
    emit(loaded({ revision: { id: 'def456', from: 'git' } }))
    expect(lines().map((line) => [line['msg'], line['revision'], line['changed']])).toEqual([
      ['Manifests read', 'abc123', 0],
      ['Manifests read', 'abc123', 1],
      ['Manifests read', 'def456', 0],
    ])
  })

  it('name a finding once, also when it moves, and again when it comes back', async () => {
    const { emit, lines } = await telemetry()
    const seen = () => lines().filter((line) => line['msg'] === 'Finding').length
    emit(loaded({ findings: [finding()] }))
    expect(seen()).toBe(1)
    emit(loaded({ findings: [finding({ line: 9 })] }))
    expect(seen()).toBe(0)
    emit(loaded({ findings: [finding({ line: 9 }), finding({ line: 12 })] }))
    expect(seen()).toBe(1)
    emit(loaded({ findings: [] }))
    emit(loaded({ findings: [finding()] }))
    expect(seen()).toBe(1)
  })

  it('tell once that the watcher misses changes, until it has noticed one', async () => {
    const { emit, lines } = await telemetry()
    const missed = loaded({ changed: ['Pipe/orders'], missedByWatcher: true })
    for (const event of [missed, missed, loaded(), missed]) emit(event)
    emit(loaded({ changed: ['Pipe/orders'] }))
    emit(missed)
    expect(lines().filter(({ msg }) => msg === 'Change missed by the watcher')).toHaveLength(2)
  })

  it('do not forget findings over a reading that is not believed', async () => {
    const { emit, lines } = await telemetry()
    emit(loaded({ findings: [finding()] }))
    emit(loaded({ problem: 'the directory is empty' }))
    emit(loaded({ findings: [finding()] }))
    expect(lines().filter((line) => line['msg'] === 'Finding')).toHaveLength(1)
  })

  it('name those that say the same in one line, with their number and the first of them', async () => {
    const { emit, lines } = await telemetry()
    const keys = Array.from({ length: 150 }, (_, index) => `Pipe/p${index}` as const)
    emit(loaded({ findings: keys.map((key) => finding({ key, file: `${key}.yaml` })) }))
    expect(lines().slice(1)).toMatchObject([
      { msg: 'Finding', level: 'warn', findings: 150, keys: keys.slice(0, 5), file: 'Pipe/p0.yaml' },
    ])
    emit(loaded({ findings: [] }))
    expect(lines()).toMatchObject([{ msg: 'Findings over', level: 'info', findings: 150 }])
  })

  it('are no news where an earlier process said the same', async () => {
    const { emit, lines } = await telemetry()
    const old = finding()
    const saidBefore = { findings: new Set(digestsOf([old, finding({ file: 'gone.yaml' })])), problem: true }
    emit(loaded({ findings: [old], problem: 'empty', saidBefore }))
    expect(lines()).toEqual([])
    emit(loaded({ findings: [finding()] }))
    expect(lines().map(({ msg, findings }) => [msg, findings])).toEqual([
      ['Manifests read', 1],
      ['Findings over', 1],
    ])
  })

  it('tell of a trouble once, and of its end', async () => {
    const { emit, lines } = await telemetry()
    for (const event of [failed('gone'), failed('gone'), failed('denied'), loaded({ problem: 'empty' })])
      emit(event)
    for (const event of [loaded({ problem: 'empty' }), loaded(), loaded()]) emit(event)
    expect(lines().map((line) => [line['msg'], line['detail']])).toEqual([
      ['Manifests not read', 'gone'],
      ['Manifests not read', 'denied'],
      ['Manifests not accepted', 'empty'],
      ['Manifests read', undefined],
    ])
  })
})

describe('texts of others', () => {
  const SECRET = 'password: world-secret'

  it.each([
    ['a reply of two megabytes', 'x'.repeat(2 ** 21)],
    ['one of wide characters', '\u{1F600}'.repeat(2 ** 20)],
    ['one with a secret where it is cut', `${'x'.repeat(3_990)}${SECRET}`],
  ])('are cut, so that a line stays one line everywhere: %s', async (_, message) => {
    const { emit, text } = await telemetry({ log: { level: 'trace' } })
    emit(createFinished({ outcome: 'unknown', because: saying(message) }))
    const written = text()
    expect(Buffer.byteLength(written)).toBeLessThan(16_384)
    expect(written).not.toContain('world-secret'.slice(0, 5))
    expect(JSON.parse(written)).toMatchObject({ msg: 'Create finished' })
    emit({ type: 'Bug', message, error: new Error(message, { cause: new Error(message) }) })
    expect(Buffer.byteLength(text())).toBeLessThan(2 * 16_384)
  })

  it('are lists of fifty at most', async () => {
    const { emit, lines } = await telemetry({ log: { level: 'trace' } })
    const differences = Array.from({ length: 10_000 }, (_, index) => ({
      field: `columns[c${index}].type`,
      desired: '1',
      observed: '2',
    }))
    emit({ type: 'Observed', key: 'Pipe/orders', state: masked('Running'), differences })
    expect(lines()[0]?.['differs']).toHaveLength(50)
  })

  it.each(['json', 'pretty'] as const)('move no cursor, and begin no line: %s', async (format) => {
    const { emit, text } = await telemetry({ log: { format } })
    const evil = 'a\u001B[31m\u009B2J\u202E\u2028\n{"level":"error"}\r\u0000\u007Fb'
    emit(createFinished({ outcome: 'unknown', because: saying(evil), pipeId: evil, requestId: evil }))
    emit(loaded({ findings: [finding({ file: evil, message: evil, hint: evil })] }))
    const written = text()
    expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E\u2028]/u)
    expect(written.trim().split('\n')).toHaveLength(3)
  })
})

describe('secrets', () => {
  const TEXTS: readonly (readonly [string, string])[] = [
    ['a header of Basic credentials', 'sent Authorization: Basic aGVsbG86d29ybGQtc2VjcmV0'],
    ['a header of a bearer', 'authorization: bearer eyJ-world-secret.payload_x'],
    ['a password in JSON', 'Unexpected token in {"password":"world-secret"}'],
    ['a password in JSON that was cut', 'Unexpected end of {"secretKey": "world-secret'],
    ['a password in YAML', 'near password: world-secret'],
    ['a connection string', 'connectionString=world-secret;other=1'],
    ['a URL with a user', 'cannot reach https://user:world-secret@broker.example/'],
  ]

  it.each(TEXTS)('do not show in a text: %s', async (_, message) => {
    const { emit, text } = await telemetry()
    emit({ type: 'Bug', message, error: new Error(message) })
    const written = text()
    expect(written).toContain('[secret]')
    expect(written).not.toMatch(/world-secret|aGVsbG86/)
  })
})

describe('for people', () => {
  it('shows a line each, without colour where there is no terminal', async () => {
    const { emit, text } = await telemetry({ log: { format: 'pretty' } })
    emit(createFinished({ outcome: 'unknown', because: saying('the connection\nwas \u001B[31mreset.') }))
    const written = text()
    expect(written).toMatch(/ERROR: Create finished · Pipe\/orders · the connection was \ufffd\[31mreset/)
    expect(written).not.toContain('\u001B')
    expect(written).not.toMatch(/pid|hostname/)
    expect(written.trim().split('\n')).toHaveLength(1)
  })

  it('shows where, and the other facts as words', async () => {
    const { emit, text } = await telemetry({ log: { format: 'pretty' } })
    emit(loaded({ findings: [finding()] }))
    const [read, found] = text().trim().split('\n')
    expect(read).toMatch(
      /INFO: Manifests read · revision abc123 · changed=0 Service=1 Pipe=2 findings=1 duration=20ms$/,
    )
    expect(found).toMatch(
      /WARN: Finding · Pipe\/orders · There is no field "replcas"\. Did you mean "replicas"\? · orders\.yaml:7:3 · findingSeverity=error findingCode=unknown-field$/,
    )
  })

  it('suggests commands that work where the daemon runs', async () => {
    const { emit, text } = await telemetry({ log: { format: 'pretty', commands: { typed: ['--sandbox'] } } })
    emit(createFinished({ because: { reason: 'Orphaned', facts: undefined } }))
    expect(text()).toContain('Then run: "pipewright forget Pipe/orders --sandbox".')
  })

  it('says of a drift what the manifest and the platform have', async () => {
    const { emit, text } = await telemetry({ log: { format: 'pretty' } })
    emit({ type: 'ProblemFound', ...PROBLEM, because: DRIFTED })
    expect(text()).toMatch(/for scaling\.replicas\. Change scaling\.replicas back to 3 .* to keep 2/)
  })

  it('does not say the same twice in a row of the same resource', async () => {
    const { emit, text } = await telemetry({ log: { format: 'pretty' } })
    const news = { changed: true, action: 'upsert', because: DRIFTED } as const
    emit(conditionChanged(CONDITION, { isNews: true }))
    emit(reconciled(news))
    emit(reconciled({ ...news, key: 'Pipe/other' }))
    const lines = text().trim().split('\n')
    expect(lines.map((line) => line.includes('reports other values'))).toEqual([true, false, true])
  })

  it('shows the stack of a fault', async () => {
    const { emit, text } = await telemetry({ log: { format: 'pretty' } })
    emit({ type: 'Bug', message: 'in the queue', error: new Error('outer') })
    expect(text()).toMatch(/ERROR: Internal error · in the queue\n[\s\S]*outer[\s\S]*at /)
  })
})

/** A stream of a process that writes to a file. */
function fileStream(fd: number) {
  return Object.assign(new Writable({ write: () => expect.fail('the file is written by itself') }), { fd })
}

describe('destinations', () => {
  const STOPPING: Event = { type: 'Stopping', signal: 'SIGTERM' }

  it('may be a file, of which a full disk loses lines and nothing else: they are counted when there is room', async () => {
    const path = join(folderForTest(), 'log')
    const file = openSync(path, 'a')
    const made = await telemetry({ log: { destination: fileStream(file) } })
    made.emit(STOPPING)
    closeSync(file) // as a disk that takes nothing
    for (let n = 0; n < 3; n += 1) made.emit(STOPPING)
    expect(openSync(path, 'a')).toBe(file)
    made.emit(STOPPING)
    await made.close()
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { msg: 'Stopping' },
      { msg: 'Stopping' },
      { msg: 'Log lines lost', level: 'warn', lines: 3 },
    ])
    closeSync(file) // throws when it was closed before
  })

  it('may fail without taking anybody along', async () => {
    const made = await telemetry()
    made.destination.destroy(new Error('EPIPE'))
    made.emit(STOPPING)
    await expect(made.close()).resolves.toBeUndefined()
  })

  it('may have a reader that stops: what waits is bounded, what is lost is counted, and the end comes', async () => {
    const clock = createFakeClock()
    const chunks: string[] = []
    let goOn: (() => void) | undefined
    const destination = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        chunks.push(String(chunk))
        goOn = done
      },
    })
    const logging = createLog({ level: 'info', format: 'json', destination, clock })
    const detail = 'x'.repeat(1_000)
    const count = 10_000
    for (let n = 0; n < count; n += 1) logging.emit(createFinished({ because: saying(detail) }))
    expect(destination.writableLength).toBeLessThan(9 * 2 ** 20)
    let isClosed = false
    void logging.close().then(() => (isClosed = true))
    await clock.advance(1_000)
    expect(isClosed).toBe(false)
    await clock.advance(1_000)
    expect(isClosed).toBe(true)
    while (destination.writableLength > 0) {
      goOn?.()
      await clock.settle()
    }
    const last = JSON.parse(chunks.at(-1) ?? '') as { readonly msg: string; readonly lines: number }
    expect(last.msg).toBe('Log lines lost')
    expect(last.lines).toBe(count - chunks.filter((chunk) => chunk.includes(detail)).length)
  })
})
