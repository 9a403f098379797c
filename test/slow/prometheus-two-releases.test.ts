import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { pipeManifest } from '../support/manifests.ts'
import { until } from '../support/until.ts'
import type { Live } from '../support/live.ts'
import { createScenario } from './scenario.ts'
import { CHART, objectOf } from './support/chart.ts'
import { startPrometheus, type Prometheus } from './support/prometheus.ts'
import { runWell, tool } from './support/tools.ts'

/*
 * Two daemons under one real Prometheus, as two releases of the chart are: the labels that the operator gives to what a ServiceMonitor
 * names, and the rules that each release brings. One of them has trouble.
 */

interface Firing {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly state: string
}

const stack = new AsyncDisposableStack()
let prometheus: Prometheus
let well: Live
let troubled: Live

/** As the operator and the relabelings of the chart give them, and what clusters add to them: `service` is the Service of the pod. */
function labelsOf(namespace: string) {
  const pod = { namespace, service: 'pipewright', pod: 'pipewright-0', container: 'pipewright' }
  const place = { node: 'worker-1', cluster: 'prod', region: 'eu', app: 'pipewright', environment: 'prod' }
  return { ...pod, ...place, instance: 'pipewright-0:metrics', endpoint: 'metrics', job: 'pipewright' }
}

/** The rules of a release, but that they fire at once, and say whose they are. */
async function rulesOf(namespace: string): Promise<string> {
  const set = ['platform.sandbox=true', 'source.configMap=pipes', 'prometheusRule.enabled=true']
  const labels = `prometheusRule.ruleLabels.rules=${namespace},prometheusRule.ruleLabels.team=platform`
  const args = ['template', 'pipewright', CHART, '-n', namespace, '--set', [...set, labels].join(',')]
  const { spec } = objectOf(await runWell(tool('helm'), args), 'PrometheusRule')
  const { groups } = spec as { groups: { name: string; rules: { for?: string }[] }[] } // as the chart makes it
  for (const rule of groups.flatMap(({ rules }) => rules)) delete rule.for
  return stringify({ groups: groups.map(({ name, rules }) => ({ name: `${namespace}-${name}`, rules })) })
}

async function firing(): Promise<readonly Firing[]> {
  const { alerts } = await prometheus.get<{ alerts: readonly Firing[] }>('alerts')
  return alerts.filter(({ state }) => state === 'firing')
}

/** Name, whose rules, about which namespace, and for which team. */
async function alertLines(): Promise<readonly string[]> {
  const lines = (await firing()).map(
    ({ labels: { alertname, rules, namespace, team } }) => `${alertname} ${rules} ${namespace} ${team}`,
  )
  return lines.toSorted()
}

beforeAll(async () => {
  const sick = stack.use(await createScenario())
  const fine = stack.use(await createScenario())
  for (const name of ['orders', 'refunds'])
    sick.workspace.write(
      `manifests/${name}.yaml`,
      pipeManifest(name).replace(`{name: ${name}}`, `{name: ${name}, labels: {team: sales}}`),
    )
  fine.writePipe('orders')
  troubled = await sick.start(['--interval', '1s'])
  well = await fine.start(['--interval', '1s'])
  await well.says('Pipe/orders', 'Ready')
  const { pipeId } = await troubled.says('Pipe/refunds', 'Ready')
  sick.platform.change(pipeId ?? '', { scaling: { replicas: 9 } })
  await troubled.says('Pipe/refunds', 'Drifted')
  const { workspace } = sick
  const rulesFiles = []
  for (const namespace of ['data', 'shop']) {
    workspace.write(`${namespace}.yaml`, await rulesOf(namespace))
    rulesFiles.push(workspace.path(`${namespace}.yaml`))
  }
  const scraped = [
    { url: troubled.url, labels: labelsOf('data') },
    { url: well.url, labels: labelsOf('shop') },
  ]
  prometheus = stack.use(await startPrometheus({ workspace, scraped, rulesFiles }))
})

afterAll(() => stack.disposeAsync())

test('the drift of one is an alert of its own rules, which names the pipe and its team; the other one has none', async () => {
  await until('several evaluations of all rules', async () => {
    const { groups } = await prometheus.get<{ groups: { rules: { health: string }[] }[] }>('rules')
    return groups.length === 2 && groups.every(({ rules }) => rules.every(({ health }) => health === 'ok'))
  })
  // Before the first scrape both count as down.
  await expect.poll(alertLines, { timeout: 120_000 }).toEqual(['PipewrightDrifted data data sales'])
  expect((await firing()).map(({ annotations }) => annotations['summary'])).toEqual([
    'Pipe/refunds differs from its manifest (Drifted)',
  ])
})

test('a label of ours is called the same, whatever stands beside it', async () => {
  const query = '{__name__=~"pipewright_.+",namespace="data"}'
  const { result } = await prometheus.get<{ result: { metric: Record<string, string> }[] }>('query', {
    query,
  })
  const refunds = result.filter(
    ({ metric }) => metric['__name__'] === 'pipewright_resource_info' && metric['name'] === 'refunds',
  )
  expect(refunds.map(({ metric }) => metric)).toMatchObject([
    { kind: 'Pipe', service_name: 'analytics', service: 'pipewright', team: 'sales', status: 'Drifted' },
  ])
  const labels = new Set(result.flatMap(({ metric }) => Object.keys(metric)))
  expect([...labels].filter((label) => label.startsWith('exported_'))).toEqual([])
})

test('the death of the other one is its own alert, although one is scraped', async () => {
  well.program.signal('SIGKILL')
  await expect
    .poll(alertLines, { timeout: 120_000 })
    .toEqual(['PipewrightDown shop shop platform', 'PipewrightDrifted data data sales'])
})

test('the death of one is no end of what was known of it', async () => {
  troubled.program.signal('SIGKILL')
  await expect
    .poll(alertLines, { timeout: 120_000 })
    .toEqual([
      'PipewrightDown data data platform',
      'PipewrightDown shop shop platform',
      'PipewrightDrifted data data sales',
    ])
})
