import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GOOD, objectOf, renderValues } from './support/chart.ts'

/* What the chart tells Prometheus, where it depends on values. */

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'pipewright-monitoring-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const GIT = { repository: 'https://git.example/pipes.git' }

test('a target is known by the names of its pod and port, which a restart does not change', async () => {
  const own = { sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'node' }
  const serviceMonitor = { enabled: true, relabelings: [own] }
  const { spec } = objectOf(
    await renderValues(folder, { ...GOOD, source: { git: GIT }, serviceMonitor }),
    'ServiceMonitor',
  )
  const { endpoints } = spec as { endpoints: { relabelings: object[] }[] }
  const byName = { sourceLabels: ['pod', 'endpoint'], separator: ':', targetLabel: 'instance' }
  expect(endpoints.map(({ relabelings }) => relabelings)).toEqual([
    [byName, own],
    [byName, own],
  ])
})

test.each([
  ['30s', '15m'],
  ['5m', '15m'],
  ['1h30m', '16200s'],
])('git-sync that fetches every %s has to fail for %s', async (period, window) => {
  const source = { git: { ...GIT, period } }
  const { spec } = objectOf(
    await renderValues(folder, { ...GOOD, source, prometheusRule: { enabled: true } }),
    'PrometheusRule',
  )
  const { groups } = spec as { groups: { rules: { alert: string; expr: string }[] }[] }
  const rule = groups[0]?.rules.find(({ alert }) => alert === 'PipewrightSourceNotSynced')
  expect(rule?.expr.match(/\[\w+\]/g)).toEqual([`[${window}]`, `[${window}]`])
})
