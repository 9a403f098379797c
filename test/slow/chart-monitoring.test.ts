import { expect, test } from 'vitest'
import { GOOD, HELMS, objectOf, renderValues, tryValues } from './support/chart.ts'
import { folderForFile } from '../support/folders.ts'

/* What the chart tells Prometheus, where it depends on values. */

const folder = folderForFile()

const GIT = { repository: 'https://git.example/pipes.git' }

test('a target is known by the names of its pod and port, which a restart does not change', async () => {
  const own = { sourceLabels: ['__meta_kubernetes_pod_node_name'], targetLabel: 'node' }
  const serviceMonitor = { enabled: true, endpoint: { relabelings: [own] } }
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
  const windows = [...(rule?.expr ?? '').matchAll(/git_sync_count_total\{[^}]*\}(\[\w+\])/g)]
  expect(windows.map(([, found]) => found)).toEqual([`[${window}]`, `[${window}]`])
})

/** Each of these makes rules that Prometheus takes none of, or a selector that finds nothing. */
const BROKEN: readonly (readonly [string, object])[] = [
  ['a label of series that is none', { selector: { 'app-name': 'x' } }],
  ['a label of series with a backquote, which ends a text of a template', { selector: { job: 'a`b' } }],
  ['a label of series without a value', { selector: { job: '' } }],
  ['a label of alerts that is none', { ruleLabels: { 'cost-center': '4' } }],
  ['a team that begins a template', { ruleLabels: { team: 'a{{b' } }],
  ['an address that begins a template', { runbookBaseUrl: 'https://git.example/{{ref' }],
]

test.each(HELMS.flatMap((helm) => BROKEN.map(([why, rule]) => [helm, why, rule] as const)))(
  '%s refuses %s',
  async (helm, _, rule) => {
    const values = { ...GOOD, prometheusRule: { enabled: true, ...rule } }
    const { code, stderr } = await tryValues(folder, values, { helm })
    expect(code).not.toBe(0)
    expect(stderr).toContain("at '/prometheusRule/")
  },
)
