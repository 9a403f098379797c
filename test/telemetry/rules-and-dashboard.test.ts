import { masked } from '../support/masked.ts'
import { describe, expect, test } from 'vitest'
import { alertRules } from '../support/alert-rules.ts'
import { dashboardFaults, queriesOf, readDashboard } from '../support/dashboard.ts'
import { exportedIn, labelsOf, notExported, ofEveryJob } from '../support/promql.ts'
import { loaded } from '../support/events.ts'
import { resource, telemetry } from './sample.ts'

/* The same is held against a running daemon and a real Prometheus in test/slow/prometheus.test.ts. */

async function exported() {
  const resources = [
    resource('Pipe/a', { state: masked('Running') }),
    resource('Alert/a', { state: masked('OK') }),
  ]
  const made = await telemetry({ board: () => resources, log: { level: 'silent' } })
  made.emit(loaded())
  made.emit({ type: 'NotificationsWaiting', count: 0 })
  return exportedIn((await made.metrics.render()).text)
}

const RULES = alertRules()
const DASHBOARD = readDashboard()

describe('what is exported', async () => {
  const known = await exported()

  // What the operator, the relabelings of the chart and clusters add; Prometheus would rename ours.
  test('has no label that a target has', () => {
    const ofTargets =
      'namespace service pod container node cluster region app instance endpoint job environment'
    const clashing = [...known].filter(([, labels]) =>
      ofTargets.split(' ').some((label) => labels.has(label)),
    )
    expect(clashing.map(([name]) => name)).toEqual([])
  })

  test('is all that the rules name', () => {
    for (const { alert, expr, annotations } of RULES) {
      expect.soft(notExported(expr, known), alert).toEqual([])
      const text = `${annotations.summary} ${annotations.description}`
      const labels = [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label)
      expect
        .soft(
          labels.filter((label) => !labelsOf(expr, known).has(label)),
          alert,
        )
        .toEqual([])
    }
  })

  test('is all that the dashboard names', () => {
    const queries = queriesOf(DASHBOARD)
    expect(queries.length).toBeGreaterThan(40)
    expect(queries.flatMap(({ query }) => notExported(query, known))).toEqual([])
    const legends = queries.flatMap(({ query, legend }) =>
      legend.filter((label) => !labelsOf(query, known).has(label)),
    )
    expect(legends).toEqual([])
  })

  test.each([
    ['pipewright_orphan > 0', 'no metric pipewright_orphan'],
    ['pipewright_resources{state="Missing"} > 0', 'no label state on pipewright_resources'],
    ['rate(pipewright_creates_total{outcome="lost"}[5m])', 'no pipewright_creates_total with outcome="lost"'],
    [
      'time() - pipewright_resource_reasons{job="x", reason=~"Drifted|Drift"}',
      'no pipewright_resource_reasons with reason="Drift"',
    ],
    [
      'sum by (outcome) (pipewright_orphans)',
      'no label outcome to group by in sum by (outcome) (pipewright_orphans)',
    ],
    ['vector(1)', 'no metric in vector(1)'],
  ])('%s: %s', (query, fault) => {
    expect(notExported(query, known)).toEqual([fault])
  })
})

describe('the dashboard', () => {
  test('is one that Grafana can show', () => {
    expect(dashboardFaults(DASHBOARD)).toEqual([])
  })

  test('has a row for each thing that one wants to know', () => {
    const rows = DASHBOARD.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
    expect(rows).toEqual(['Health', 'Source', 'Reconciles', 'Platform API', 'Queue', 'Ledger', 'Process'])
  })

  test('is found wanting when a panel lies over another, has an id twice, or names a variable that is not there', () => {
    const [row, first, ...others] = DASHBOARD.panels
    if (row === undefined || first?.type !== 'stat')
      throw new Error('the dashboard begins with a row and a stat')
    const target = { ...first.targets[0], expr: 'up{job="$jobs"}' } as (typeof first.targets)[number] // there is one
    const broken = { ...first, id: row.id, gridPos: { ...first.gridPos, y: 0 }, targets: [target, target] }
    expect(dashboardFaults({ ...DASHBOARD, panels: [row, broken, ...others] })).toEqual([
      `two panels with the id ${row.id}`,
      'no variable jobs',
      'no variable jobs',
      '"Health" lies over "Not well"',
      'a refId of "Not well" is used twice',
    ])
  })
})

describe('the alert rules', () => {
  test('have names of their own', () => {
    const names = RULES.map(({ alert }) => alert)
    expect(new Set(names).size).toBe(names.length)
  })

  test('say what to do, and where more stands', () => {
    for (const { alert, annotations } of RULES) {
      const { summary, description, runbook_url: runbook } = annotations
      expect.soft(summary, alert).toMatch(/[^.]$/)
      expect.soft(summary.replaceAll(/\{\{.*?\}\}/g, '').length, alert).toBeLessThan(100)
      expect.soft(description, alert).toMatch(/\.$/)
      expect.soft(runbook).toBe(`docs/reference/runbook.md#${alert.toLowerCase()}`)
    }
  })
})

describe('two releases', () => {
  const queries = queriesOf(DASHBOARD).filter(({ title }) => !title.startsWith('variable'))

  test('are kept apart by the variables of the dashboard, in every query', () => {
    const names = DASHBOARD.templating.list.map(({ name }) => name)
    expect(names).toEqual(['datasource', 'namespace', 'job', 'instance'])
    const selectors = queries.flatMap(
      ({ query }) => query.match(/(?:pipewright|process|nodejs)_\w+\{[^}]*\}/g) ?? [],
    )
    expect(selectors.length).toBeGreaterThan(40)
    const scope = '{namespace=~"$namespace", job=~"$job", instance=~"$instance"'
    expect(selectors.filter((selector) => !selector.includes(scope))).toEqual([])
  })

  test('are kept apart by the job in every rule, which the chart makes that of its release', () => {
    for (const { alert, expr, annotations } of RULES) {
      expect.soft(ofEveryJob(expr, 'pipewright', 'ledger-pipewright-0'), alert).toEqual([])
      const told = Object.values(annotations).flatMap((text) => text?.match(/pipewright_\w+\{[^}]*\}/g) ?? [])
      expect
        .soft(
          told.filter((selector) => !selector.includes('job="pipewright"')),
          alert,
        )
        .toEqual([])
    }
    expect(ofEveryJob('up{job="pipewright"} == 0 or up{instance="a"}', 'pipewright', '')).toEqual(['up'])
  })

  test('have a number each where one of both would say nothing', () => {
    const stats = DASHBOARD.panels.flatMap((panel) => (panel.type === 'stat' ? [panel] : []))
    const one = stats.filter(({ targets }) => targets.some(({ expr }) => /\b(?:sum|min|max)\(/.test(expr)))
    expect(stats.length).toBeGreaterThan(8)
    expect(one.map(({ title }) => title)).toEqual([])
  })
})
