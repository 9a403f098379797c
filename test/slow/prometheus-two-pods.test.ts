import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { startApiModel } from '../kubernetes/api-model.ts'
import { startCountingPlatform } from '../kubernetes/counting-platform.ts'
import { acts, startPod, writeCommon, type Pod } from '../kubernetes/pods.ts'
import { RULES_FILE } from '../support/alert-rules.ts'
import { queriesOf, readDashboard, substituted } from '../support/dashboard.ts'
import { pipeManifest } from '../support/manifests.ts'
import { urlOf } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createWorkspace } from '../support/workspace.ts'
import { startPrometheus, type Prometheus } from './support/prometheus.ts'

/* A real Prometheus scrapes two real processes with one ledger, of which one acts: neither rules nor dashboard count or tell twice. */

const LEASE_MS = 1_000

interface Firing {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly state: string
  readonly activeAt: string
}

const stack = new AsyncDisposableStack()
let prometheus: Prometheus
let one: Pod
let two: Pod

/** What waits for minutes waits for longer than a takeover takes here; what looks at a day looks at a minute. */
function impatient(): string {
  const text = readFileSync(RULES_FILE, 'utf8').replaceAll('[1d:5m]', '[1m:1s]')
  const { groups } = parse(text) as { groups: { rules: { for?: string }[] }[] } // held by other tests
  for (const rule of groups.flatMap(({ rules }) => rules)) if (rule.for !== undefined) rule.for = '8s'
  return stringify({ groups })
}

async function firing(): Promise<readonly Firing[]> {
  const { alerts } = await prometheus.get<{ alerts: readonly Firing[] }>('alerts')
  return alerts.filter(({ state }) => state === 'firing')
}

async function names(): Promise<readonly string[]> {
  return (await firing()).map(({ labels }) => labels['alertname'] ?? '').toSorted()
}

/** What a panel of the dashboard shows: label of its legend → value. */
async function panel(title: string): Promise<Readonly<Record<string, string>>> {
  const asked = queriesOf(readDashboard()).find((each) => each.title === title)
  if (asked === undefined) throw new Error(`no panel ${title}`)
  const { result } = await prometheus.get<{
    result: { metric: Record<string, string>; value: [number, string] }[]
  }>('query', { query: substituted(asked.query, '10s') })
  return Object.fromEntries(
    result.map(({ metric, value }) => {
      const { namespace: _, job, ...others } = metric
      return [Object.values(others).toSorted().join(' ') || (job ?? ''), value[1]]
    }),
  )
}

/** As the relabelings of the chart and the operator give them. */
function labelsOf(pod: string) {
  const place = { namespace: 'data', container: 'pipewright', node: `node-of-${pod}` }
  return { job: 'pipewright', instance: `${pod}:metrics`, pod, ...place }
}

beforeAll(async () => {
  const workspace = stack.use(createWorkspace())
  const api = stack.use(await startApiModel())
  const platform = stack.use(await startCountingPlatform(() => 'answered'))
  writeCommon(workspace)
  workspace.write('manifests/orders.yaml', pipeManifest('orders'))
  workspace.write('manifests/odd.yaml', pipeManifest('odd', { policy: { healthyStates: '[Idle]' } }))
  workspace.write('manifests/wrong.yaml', pipeManifest('wrong').replace('scaling:', 'scalling:'))
  const options = { workspace, api, platform: platform.url, leaseMs: LEASE_MS, settings: { interval: '1s' } }
  one = await startPod('one', options, stack)
  await acts(one)
  two = await startPod('two', options, stack)
  await until('it to stand by', () => two.program.stdout().includes('standing by'))
  workspace.write('rules.yaml', impatient())
  const scraped = [
    { url: await urlOf(one.program), labels: labelsOf('one') },
    { url: await urlOf(two.program), labels: labelsOf('two') },
  ]
  prometheus = stack.use(
    await startPrometheus({ workspace, scraped, rulesFiles: [workspace.path('rules.yaml')] }),
  )
})

afterAll(() => stack.disposeAsync())

const KNOWN = ['PipewrightFindings', 'PipewrightNotReady']

test('what is wrong is an alert each, and not one of each process', async () => {
  await expect.poll(names).toEqual(KNOWN)
  const resources = (await firing()).map(({ annotations }) => annotations['resources'] ?? '')
  expect(resources.filter((text) => text !== '')).toEqual(['Pipe/wrong'])
})

test('the dashboard shows the numbers of the one that acts', async () => {
  expect(await panel('Not well')).toEqual({ pipewright: '2' })
  expect(await panel('Errors in manifests')).toEqual({ pipewright: '1' })
  expect(await panel('Manifests')).toMatchObject({ Pipe: '3', Service: '1' })
  expect(await panel('Resources by status')).toMatchObject({ Ready: '2', NotReady: '1', Invalid: '1' })
  expect(await panel('States of pipes')).toEqual({ Running: '2' })
  expect(Object.entries(await panel('Acts'))).toEqual([[expect.stringContaining('one:metrics'), '1']])
})

test('the one that acts is killed: its alerts go on under the other one, and one says that nobody stands by', async () => {
  const begun = async () =>
    (await firing())
      .filter(({ labels }) => KNOWN.includes(labels['alertname'] ?? ''))
      .map(({ labels, activeAt }) => `${labels['alertname']} ${activeAt}`)
      .toSorted()
  const before = await begun()
  await until('both to be scraped for a while', async () => {
    const { result } = await prometheus.get<{ result: { value: [number, string] }[] }>('query', {
      query: 'min(count_over_time(pipewright_leader[1m]))',
    })
    return Number(result[0]?.value[1]) > 60
  })
  one.program.signal('SIGKILL')
  await acts(two)
  await expect.poll(names).toEqual([...KNOWN, 'PipewrightNoStandby'].toSorted())
  expect(await begun()).toEqual(before)
  expect(await panel('Not well')).toEqual({ pipewright: '2' })
})

test('nobody reaches the API: two alerts say so, until it goes on by itself', async () => {
  two.toApi.set('cut')
  await expect
    .poll(names)
    .toEqual(['PipewrightDown', ...KNOWN, 'PipewrightLeaseNotRenewed', 'PipewrightNobodyActs'].toSorted())
  const lease = (await firing()).find(({ labels }) => labels['alertname'] === 'PipewrightLeaseNotRenewed')
  expect(lease?.annotations['processes']).toBe('two:metrics')
  two.toApi.set('open')
  await expect.poll(async () => (await names()).includes('PipewrightNobodyActs')).toBe(false)
})
