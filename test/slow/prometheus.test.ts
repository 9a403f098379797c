import { readFileSync, renameSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { alertRules, RULES_FILE } from '../support/alert-rules.ts'
import { queriesOf, readDashboard, substituted } from '../support/dashboard.ts'
import { alertManifest, ENDPOINT, pipeManifest } from '../support/manifests.ts'
import { exportedIn, notExported } from '../support/promql.ts'
import { until } from '../support/until.ts'
import { createScenario, type Scenario } from './scenario.ts'
import { promtool, startPrometheus, type Prometheus } from './support/prometheus.ts'
import type { Live } from '../support/live.ts'

/* A real Prometheus (Debian's package) scrapes the real daemon, and answers what rules and dashboard ask. */

/** Twice as long as rates need. */
const RATE_INTERVAL = '10s'

/** What is left of a template that asked for something that is not there. */
const NOT_FILLED_IN = /\{\{|<error|<nil>|<no value>/

const startedAt = Date.now()
const stack = new AsyncDisposableStack()
let scenario: Scenario
let live: Live
let prometheus: Prometheus
let scrape: string

/** One sample of an answer: labels, and time with value. */
interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

async function query(text: string): Promise<readonly Sample[]> {
  const { resultType, result } = await prometheus.get<{ resultType: string; result: readonly Sample[] }>(
    'query',
    { query: text },
  )
  if (resultType !== 'vector') throw new Error(`${text} gives a ${resultType}`)
  return result
}

interface Firing {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly state: string
}

async function firing(): Promise<readonly Firing[]> {
  const { alerts } = await prometheus.get<{ alerts: readonly Firing[] }>('alerts')
  return alerts.filter(({ state }) => state === 'firing')
}

/** The rules, but that they fire at once. */
function impatient(): string {
  const rules = parse(readFileSync(RULES_FILE, 'utf8')) as { groups: { rules: { for?: string }[] }[] } // checked elsewhere
  for (const group of rules.groups) for (const rule of group.rules) delete rule.for
  return stringify(rules)
}

/** A daemon with something of everything: ready, drifted, of unknown outcome, suspended, invalid, an endpoint, an alert. */
beforeAll(async () => {
  scenario = stack.use(await createScenario())
  const { workspace, platform } = scenario
  platform.faults.add({ operation: 'createPipe', subject: 'lost', fault: { type: 'cut-after' } })
  for (const name of ['orders', 'refunds', 'lost']) scenario.writePipe(name)
  scenario.writePipe('later', { more: 'policy: {suspend: {reason: moving, until: 2099-01-01T00:00:00Z}}' })
  workspace.write('manifests/wrong.yaml', pipeManifest('wrong').replace('scaling:', 'scalling:'))
  workspace.write('manifests/endpoint.yaml', ENDPOINT)
  workspace.write('manifests/alert.yaml', alertManifest('lag', 'alert-1'))
  live = await scenario.start(['--interval', '1s', '--webhook-url', 'http://127.0.0.1:1/'])
  await live.says('Pipe/lost', 'OutcomeUnknown')
  await live.says('Alert/lag', 'Ready')
  const { pipeId } = await live.says('Pipe/refunds', 'Ready')
  platform.change(pipeId ?? '', { scaling: { replicas: 9 } })
  await live.says('Pipe/refunds', 'Drifted')

  workspace.write('rules.yaml', impatient())
  prometheus = stack.use(
    await startPrometheus({
      workspace,
      scraped: [{ url: live.url, labels: { job: 'pipewright' } }],
      rulesFiles: [workspace.path('rules.yaml')],
    }),
  )
  await until(
    'several scrapes',
    async () => Number((await query('count_over_time(pipewright_build_info[1m])'))[0]?.value[1]) > 8,
  )
  scrape = await (await fetch(`${live.url}/metrics`)).text()
})

afterAll(() => stack.disposeAsync())

describe('the metrics of a running daemon', () => {
  test('are clean to promtool', async () => {
    expect(await promtool(['check', 'metrics'], scrape)).toEqual({ ok: true, said: '' })
    const { ok } = await promtool(['check', 'metrics'], '# TYPE a_total gauge\na_total 1\n')
    expect(ok).toBe(false) // so that it can fail
  })

  test('are scraped, and answer', async () => {
    expect((await query('up{job="pipewright"}')).map(({ value }) => value[1])).toEqual(['1'])
    const byStatus = await query('sum by (status) (pipewright_resources{kind="Pipe"}) > 0')
    expect(Object.fromEntries(byStatus.map(({ metric, value }) => [metric['status'], value[1]]))).toEqual({
      Ready: '1',
      Drifted: '1',
      OutcomeUnknown: '1',
      Suspended: '1',
      Invalid: '1',
    })
    const [created] = await query('pipewright_creates_total{outcome="created"}')
    expect(created?.value[1]).toBe('2')
    const [heartbeat] = await query('pipewright_last_successful_reconcile_timestamp_seconds')
    expect(Number(heartbeat?.value[1])).toBeGreaterThan(startedAt / 1_000)
  })

  test('are few enough', async () => {
    const [samples] = await query('scrape_samples_scraped')
    expect(Number(samples?.value[1])).toBeLessThan(1_000)
  })
})

describe('the dashboard', () => {
  const queries = queriesOf(readDashboard())

  test('asks for nothing that is not exported', () => {
    expect(queries.flatMap((one) => notExported(one.query, exportedIn(scrape)))).toEqual([])
  })

  test.each(queries.map(({ title, query: text }) => [title, substituted(text, RATE_INTERVAL)] as const))(
    '%s: %s is answered, with data',
    async (title, text) => {
      // Only a commit during the last minute makes an annotation.
      const least = title.startsWith('annotation') ? 0 : 1
      expect((await query(text)).length).toBeGreaterThanOrEqual(least)
      const end = Date.now() / 1_000
      const range = { query: text, start: String(end - 60), end: String(end), step: '5' }
      const { result } = await prometheus.get<{ result: readonly unknown[] }>('query_range', range)
      expect(result.length).toBeGreaterThanOrEqual(least)
    },
  )
})

describe('the alert rules', () => {
  test('ask for nothing that is not exported', () => {
    expect(alertRules().flatMap(({ expr }) => notExported(expr, exportedIn(scrape)))).toEqual([])
  })

  test('are all taken by Prometheus, without an error', async () => {
    const groups = await until('the rules to be evaluated', async () => {
      const all = await prometheus.get<{
        groups: { rules: { name: string; health: string; lastError?: string }[] }[]
      }>('rules')
      const rules = all.groups.flatMap((group) => group.rules)
      return rules.length > 0 && rules.every(({ health }) => health !== 'unknown') && rules
    })
    expect(groups.filter(({ health }) => health !== 'ok')).toEqual([])
    expect(groups.map(({ name }) => name)).toEqual(alertRules().map(({ alert }) => alert))
  })

  test('fire for what is wrong, and for nothing else', async () => {
    const alerts = await until('four alerts', async () => {
      const found = await firing()
      return found.length >= 4 && found
    })
    expect(alerts.map(({ labels }) => labels['alertname'] ?? '').toSorted()).toEqual([
      'PipewrightDrifted',
      'PipewrightFindings',
      // Nothing listens at the webhook's URL.
      'PipewrightNotificationsWaiting',
      'PipewrightOutcomeUnknown',
    ])
  })

  test('say how many and which, in whole sentences', async () => {
    const named = (await firing()).flatMap(({ annotations }) => annotations['resources'] ?? [])
    expect(named.toSorted()).toEqual(['Pipe/wrong'])
    const summaries = (await firing()).map(({ annotations }) => annotations['summary'] ?? '')
    expect(summaries.toSorted()).toEqual([
      '1 error(s) in manifests',
      'A create of Pipe/lost might have worked',
      'Pipe/refunds differs from its manifest (Drifted)',
      'The webhook does not accept messages',
    ])
    for (const { annotations } of await firing())
      expect(Object.values(annotations).join()).not.toMatch(NOT_FILLED_IN)
  })
})

describe('what goes wrong with a running daemon', () => {
  const troubles: readonly (readonly [string, string, () => void])[] = [
    [
      'the directory of manifests goes away',
      'PipewrightSourceFailing',
      () => renameSync(scenario.workspace.manifests, scenario.workspace.path('elsewhere')),
    ],
    [
      'the platform breaks down',
      'PipewrightApiErrors',
      () => scenario.platform.faults.add({ times: 'always', fault: { type: 'status', status: 503 } }),
    ],
    ['and so the resources fail', 'PipewrightFailed', () => undefined],
    [
      'the platform asks to slow down, again and again',
      'PipewrightThrottled',
      () => {
        // No 0: that says nothing, and what says nothing is waited for longer each time.
        const fault = { type: 'rate-limit', seconds: 1, header: 'retry-after' } as const
        scenario.platform.faults.clear()
        scenario.platform.faults.add({ times: 'always', fault })
      },
    ],
    [
      'somebody keeps the ledger busy',
      'PipewrightLedgerFailing',
      () => {
        const other = new DatabaseSync(scenario.ledger, { timeout: 10_000 })
        stack.defer(() => other.close())
        other.exec('BEGIN IMMEDIATE')
        // What failed is well again, which has to be written, and is looked at now, for which there must be a directory.
        scenario.platform.faults.clear()
        renameSync(scenario.workspace.path('elsewhere'), scenario.workspace.manifests)
        live.program.signal('SIGHUP')
      },
    ],
    ['the daemon is killed', 'PipewrightDown', () => live.program.signal('SIGKILL')],
  ]

  test.each(troubles)('%s: %s', async (_, alert, happen) => {
    happen()
    const alerts = await until(`${alert} to fire`, async () => {
      const found = (await firing()).filter(({ labels }) => labels['alertname'] === alert)
      return found.length > 0 && found
    })
    for (const { labels, annotations } of alerts) {
      const { resources = 'Pipe/none', ...texts } = annotations
      expect(Object.values(texts).join(' ')).not.toMatch(NOT_FILLED_IN)
      expect(labels['name'] ?? resources).toMatch(/^\w+/)
    }
  })
})

describe('a metric that is renamed', () => {
  const asked = [
    ...alertRules().map(({ expr }) => expr),
    ...queriesOf(readDashboard()).map((one) => one.query),
  ]
  const names = new Set(asked.flatMap((text) => text.match(/\bpipewright_\w+/g) ?? []))

  test.each([...names])('is missed: %s', (name) => {
    const renamed = exportedIn(scrape.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `${name}_by_another_name`))
    expect(asked.flatMap((text) => notExported(text, renamed))).toContain(`no metric ${name}`)
  })
})
