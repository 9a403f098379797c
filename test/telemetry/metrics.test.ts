import { masked } from '../support/masked.ts'
import { describe, expect, it } from 'vitest'
import { REASONS } from '../../src/plan/reason.ts'
import type { Event } from '../../src/contract/events.ts'
import { operationsOf } from '../../src/kinds/profile.ts'
import { DEFAULT } from '../../src/kinds/profiles/default/profile.ts'
import { labelValues } from '../../src/telemetry/instruments.ts'
import { ALL_METRICS } from '../../src/telemetry/metric-definitions.ts'
import { createFinished, loaded, reconciled } from '../support/events.ts'
import { NOTIFICATION } from './every-event.ts'
import { finding, NOW, resource, telemetry } from './sample.ts'

const NOTIFICATIONS: readonly Event[] = [
  { type: 'NotificationSent', ...NOTIFICATION, code: '204', recovered: false },
  { type: 'NotificationsWaiting', count: 3 },
]

type Telemetry = Awaited<ReturnType<typeof telemetry>>

/** The samples of a scrape: `name{label="value"}` → number, without the prefix. */
async function scrape(of: Telemetry | Promise<Telemetry>): Promise<ReadonlyMap<string, number>> {
  const { metrics } = await of
  const { text } = await metrics.render()
  const samples = text.split('\n').filter((line) => line.startsWith('pipewright_'))
  return new Map(
    samples.map((line) => {
      const end = line.lastIndexOf(' ')
      return [line.slice('pipewright_'.length, end), Number(line.slice(end + 1))]
    }),
  )
}

async function after(...events: readonly Event[]): Promise<ReadonlyMap<string, number>> {
  const made = await telemetry({ log: { level: 'silent' } })
  for (const event of events) made.emit(event)
  return scrape(made)
}

describe('a fresh process', () => {
  it('has the usual metrics of a process, and no gauge that is named like a counter', async () => {
    const { metrics } = await telemetry()
    const { text } = await metrics.render()
    expect(text).toContain('\nprocess_cpu_seconds_total ')
    expect(text).toContain('\nnodejs_active_handles{')
    const misnamed = [...text.matchAll(/^# TYPE (\w+_total) (?!counter)/gm)].map(([, name]) => name)
    expect(misnamed).toEqual([])
  })

  it('shows every known label value at 0', async () => {
    const samples = await after()
    const known = Object.entries(ALL_METRICS).filter(
      ([, { labels }]) => !Object.values(labels).includes('open'),
    )
    const operations = operationsOf(DEFAULT).map(({ name }) => name)
    for (const [name, definition] of known) {
      const { type } = definition
      const labels = labelValues(definition, operations)
      const count = Object.values(labels).reduce((product, values) => product * values.length, 1)
      const prefix = type === 'histogram' ? `${name}_count` : name
      const shown = [...samples].filter(([key]) => key === prefix || key.startsWith(`${prefix}{`))
      expect([name, shown.map(([, value]) => value)]).toEqual([name, Array.from({ length: count }, () => 0)])
    }
    expect(samples.get('reconcile_total{kind="Pipe",action="create",result="unknown"}')).toBe(0)
  })

  it('says which version it is', async () => {
    const samples = await after()
    expect(samples.get(`build_info{version="9.9.9",node_version="${process.version}"}`)).toBe(1)
  })

  it('keeps a registry of its own', async () => {
    const one = await telemetry({ log: { level: 'silent' } })
    const other = await telemetry({ log: { level: 'silent' } })
    one.emit(createFinished())
    expect((await scrape(other)).get('creates_total{outcome="created"}')).toBe(0)
  })

  it('tells a scraper which format it is', async () => {
    const { metrics } = await telemetry()
    expect((await metrics.render()).contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })
})

const SECONDS = NOW / 1_000

const COUNTED: readonly (readonly [string, Event, Readonly<Record<string, number>>])[] = [
  [
    'a reconcile counts, lasts, and is the heartbeat',
    reconciled({ changeToApplyMs: 2_000 }),
    {
      'reconcile_total{kind="Pipe",action="observe",result="done"}': 1,
      'reconcile_duration_seconds_sum{kind="Pipe"}': 1.5,
      last_successful_reconcile_timestamp_seconds: SECONDS,
      change_to_apply_seconds_sum: 2,
    },
  ],
  [
    'a failed reconcile is no heartbeat',
    reconciled({ result: 'failed' }),
    {
      'reconcile_total{kind="Pipe",action="observe",result="failed"}': 1,
      last_successful_reconcile_timestamp_seconds: 0,
      change_to_apply_seconds_count: 0,
    },
  ],
  [
    'a create by its outcome',
    createFinished({ outcome: 'unknown' }),
    { 'creates_total{outcome="unknown"}': 1 },
  ],
  [
    'a request by operation and code',
    request('502'),
    {
      'api_requests_total{operation="getPipe",code="502"}': 1,
      'api_request_duration_seconds_sum{operation="getPipe"}': 0.25,
    },
  ],
  [
    'a request without a reply by its class',
    request('Unavailable'),
    { 'api_requests_total{operation="getPipe",code="Unavailable"}': 1 },
  ],
  ['a code that is none', request('9z'), { 'api_requests_total{operation="getPipe",code="_other"}': 1 }],
  [
    'waiting in seconds',
    { type: 'BudgetWaited', service: 's', waitMs: 1_250 },
    { api_budget_wait_seconds_total: 1.25 },
  ],
  [
    'a 429',
    { type: 'RateLimited', service: 's', retryAfterMs: 1, isFirst: true },
    { api_rate_limited_total: 1 },
  ],
  [
    'a reading that counts',
    loaded({ findings: [finding(), finding({ severity: 'warning' })], missedByWatcher: true }),
    {
      source_last_load_successful: 1,
      source_last_load_success_timestamp_seconds: SECONDS,
      source_load_duration_seconds_sum: 0.02,
      'source_manifests{kind="Pipe"}': 2,
      'source_findings{severity="error"}': 1,
      'source_findings{severity="warning"}': 1,
      'source_info{revision="abc123"}': 1,
      source_missed_changes_total: 1,
    },
  ],
  [
    'a way to watch, and only one',
    { type: 'WatchModeChanged', mode: 'polling', message: '' },
    { 'source_watch_mode{mode="polling"}': 1, 'source_watch_mode{mode="recursive"}': 0 },
  ],
  [
    'a write to the ledger',
    { type: 'LedgerWritten', result: 'conflict', durationMs: 4, message: undefined },
    { 'ledger_writes_total{result="conflict"}': 1, ledger_write_duration_seconds_sum: 0.004 },
  ],
  [
    'the queue by words for its priorities',
    { type: 'QueueChanged', depth: { 0: 3, 1: 2, 2: 1 } },
    {
      'queue_depth{priority="changed"}': 3,
      'queue_depth{priority="retry"}': 2,
      'queue_depth{priority="drift"}': 1,
    },
  ],
  [
    'the wait in the queue',
    { type: 'QueueWaited', priority: 2, waitMs: 500 },
    { 'queue_wait_seconds_sum{priority="drift"}': 0.5 },
  ],
]

function request(code: string): Event {
  return {
    type: 'RequestFinished',
    operation: 'getPipe',
    service: 's',
    code,
    durationMs: 250,
    requestId: undefined,
  }
}

describe('events', () => {
  it.each(COUNTED)('%s', async (_, event, expected) => {
    const samples = await after(event)
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, samples.get(name)]))).toEqual(
      expected,
    )
  })

  it('a reading that is not believed changes what is in force in nothing', async () => {
    const empty = { Service: 0, Pipe: 0, QueryEndpoint: 0, Alert: 0, Lock: 0 }
    const samples = await after(
      loaded(),
      loaded({ revision: { id: 'def', from: 'git' }, manifests: empty, problem: 'empty' }),
    )
    expect(samples.get('source_last_load_successful')).toBe(0)
    expect(samples.get('source_manifests{kind="Pipe"}')).toBe(2)
    expect(samples.get('source_info{revision="abc123"}')).toBe(1)
  })

  it('only the last revision is shown', async () => {
    const samples = await after(loaded(), loaded({ revision: { id: 'def', from: 'git' } }))
    expect([...samples.keys()].filter((key) => key.startsWith('source_info'))).toEqual([
      'source_info{revision="def"}',
    ])
  })
})

function board(...resources: ReturnType<typeof resource>[]) {
  return telemetry({ board: () => resources, log: { level: 'silent' } })
}

function suspended(since: number) {
  const { conditions } = resource('Pipe/a')
  const Synced = { status: 'Unknown', reason: 'Suspended', message: '', since } as const
  return resource('Pipe/a', { status: 'Suspended', conditions: { ...conditions, Synced } })
}

/** @param ms of the steady clock; by the other clock, it was due for an hour */
function due(dueAt: number | undefined) {
  return resource('Pipe/a', { dueAt, nextReconcileAt: NOW - 3_600_000 })
}

async function overdue(...times: readonly (number | undefined)[]) {
  const samples = await scrape(board(...times.map(due)))
  return samples.get('reconcile_overdue_seconds')
}

describe('the board', () => {
  it('counts resources by status, those of unknown outcome, and orphans', async () => {
    const fine = resource('Pipe/a').conditions
    const unknown = { status: 'Unknown', reason: 'OutcomeUnknown', message: '', since: NOW } as const
    const samples = await scrape(
      board(
        resource('Service/analytics'),
        resource('Pipe/a'),
        resource('Pipe/b', {
          status: 'OutcomeUnknown',
          conditions: { ...fine, Synced: unknown, Ready: unknown },
        }),
        resource('Alert/c', { status: 'Orphaned' }),
        resource('Pipe/e', { status: 'Refused', reason: 'CreateLimit' }),
        resource('Pipe/d', { status: 'Orphaned', conditions: { ...fine, Ready: unknown } }),
      ),
    )
    expect(samples.get('resources{kind="Pipe",status="Ready"}')).toBe(1)
    expect(samples.get('resources{kind="Pipe",status="OutcomeUnknown"}')).toBe(1)
    expect(samples.get('resources{kind="Pipe",status="Missing"}')).toBe(0)
    expect(samples.get('create_outcome_unknown')).toBe(2)
    expect(samples.get('orphans')).toBe(2)
    expect(samples.get('create_limit_on')).toBe(1)
  })

  it('counts resources by reason, and every other reason as 0', async () => {
    const samples = await scrape(
      board(
        resource('Pipe/a', { reason: 'OutcomeUnknown' }),
        resource('Pipe/b', { reason: 'OutcomeUnknown' }),
        resource('Alert/c'),
      ),
    )
    const reasons = [...samples].filter(([key]) => key.startsWith('resource_reasons'))
    expect(reasons).toHaveLength(Object.keys(REASONS).length)
    expect(samples.get('resource_reasons{reason="OutcomeUnknown"}')).toBe(2)
    expect(samples.get('resource_reasons{reason="InSync"}')).toBe(1)
    expect(samples.get('resource_reasons{reason="Drifted"}')).toBe(0)
  })

  it('shows since when the longest suspension lasts, and 0 when it is over', async () => {
    const samples = await scrape(
      board(suspended(NOW - 60_000), suspended(NOW - 3_600_000), resource('Pipe/b')),
    )
    expect(samples.get('suspended_since_timestamp_seconds')).toBe(SECONDS - 3_600)
    expect((await scrape(board(resource('Pipe/b')))).get('suspended_since_timestamp_seconds')).toBe(0)
  })

  it('shows how long the one that waits longest has been due', async () => {
    expect(await overdue(5_000, -2_000, -90_000, undefined)).toBe(90)
    expect(await overdue(5_000)).toBe(0)
    expect(await overdue(undefined)).toBe(0)
    expect(await overdue()).toBe(0)
  })

  it('shows the state a pipe is in, and not the one it was in', async () => {
    let state = 'Provisioning'
    const made = await telemetry({
      board: () => [resource('Pipe/a', { state: masked(state) })],
      log: { level: 'silent' },
    })
    expect((await scrape(made)).get('pipe_state{name="a",state="Provisioning"}')).toBe(1)
    state = 'Running'
    const samples = await scrape(made)
    expect(samples.get('pipe_state{name="a",state="Running"}')).toBe(1)
    expect(samples.has('pipe_state{name="a",state="Provisioning"}')).toBe(false)
  })

  it('shows a state that would move on a screen, or is very long, as a short text on one line', async () => {
    const state = `a\u202eb\u001b[2J\nc${'d'.repeat(200)}`
    const samples = await scrape(board(resource('Pipe/a', { state: masked(state) })))
    expect(samples.get(`pipe_state{name="a",state="a\ufffdb\ufffd[2J c${'d'.repeat(91)}"}`)).toBe(1)
  })

  it('shows how many fields differ, 0 included', async () => {
    const difference = { field: 'scaling.replicas', desired: '2', observed: '3' }
    const samples = await scrape(
      board(resource('Pipe/a', { differences: [difference] }), resource('Alert/a')),
    )
    expect(samples.get('drift_fields{kind="Pipe",name="a"}')).toBe(1)
    expect(samples.get('drift_fields{kind="Alert",name="a"}')).toBe(0)
  })

  it('bounds the names, and whoever has a place keeps it', async () => {
    const names = ['m', 'n', 'o']
    const made = await telemetry({
      namedResources: 3,
      log: { level: 'silent' },
      board: () => names.map((name) => resource(`Pipe/${name}`, { state: masked('Running') })),
    })
    await scrape(made)
    names.unshift('a', 'b')
    const shown = [...(await scrape(made))].filter(([key]) => key.startsWith('pipe_state'))
    expect(Object.fromEntries(shown)).toEqual({
      'pipe_state{name="m",state="Running"}': 1,
      'pipe_state{name="n",state="Running"}': 1,
      'pipe_state{name="o",state="Running"}': 1,
      'pipe_state{name="_other",state="Running"}': 2,
    })
  })

  it('gives the place of a name that is gone to the next', async () => {
    let names = ['m', 'n']
    const made = await telemetry({
      namedResources: 2,
      log: { level: 'silent' },
      board: () => names.map((name) => resource(`Pipe/${name}`)),
    })
    await scrape(made)
    names = ['n', 'o']
    const shown = [...(await scrape(made)).keys()].filter((key) => key.startsWith('drift_fields'))
    expect(shown).toEqual(['drift_fields{kind="Pipe",name="n"}', 'drift_fields{kind="Pipe",name="o"}'])
  })

  it('bounds the states that a platform invents, in number and length', async () => {
    const pipes = Array.from({ length: 30 }, (_, index) =>
      resource(`Pipe/p${index}`, { state: masked(`s${index}`) }),
    )
    const samples = await scrape(board(...pipes, resource('Alert/a', { state: masked('x"\n'.repeat(500)) })))
    const states = new Set(
      [...samples.keys()].flatMap((key) => /^pipe_state\{.*state="(.*)"/.exec(key)?.[1] ?? []),
    )
    expect(states.size).toBe(21)
    expect(states.has('_other')).toBe(true)
    expect([...samples.keys()].every((key) => key.length < 1_000)).toBe(true)
  })
})

describe('notifications', () => {
  it('are counted: the attempts, and the changes that wait', async () => {
    const samples = await after(...NOTIFICATIONS, ...NOTIFICATIONS)
    expect(samples.get('notification_requests_total{code="204"}')).toBe(2)
    expect(samples.get('notifications_waiting')).toBe(3)
  })
})
