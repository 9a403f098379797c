import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { alertRules } from '../support/alert-rules.ts'
import { ROOT } from '../support/process.ts'
import { createWorkspace } from '../support/workspace.ts'
import { CHART, objectOf } from './support/chart.ts'
import { promtool } from './support/prometheus.ts'
import { isAbout, RULE_TEST_FILES, type RuleTest, ruleTests, type TestFile } from './support/rule-tests.ts'
import { runWell, tool } from './support/tools.ts'

/*
 * Two releases of the chart under one Prometheus, each with its own rules: every test of test/slow/rules/, with one release as the test says
 * and the other one well. The rules of each carry a label of their own, so that it is seen which of them fire.
 */

const WELL = readFileSync(join(ROOT, 'test', 'slow', 'rules', 'well', 'release.yaml'), 'utf8')

/** As a series of a release is known, and its claim. */
interface Release {
  readonly name: string
  readonly namespace: string
  readonly fullname: string
}

interface Rule {
  readonly alert: string
  readonly expr: string
}

interface Rules {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[]
}

const STEADY: Release = { name: 'pipewright', namespace: 'data', fullname: 'pipewright' }
const PAIRS: readonly (readonly [string, Release, Release])[] = [
  ['in two namespaces', STEADY, { name: 'pipewright', namespace: 'shop', fullname: 'pipewright' }],
  ['in one namespace', { name: 'two', namespace: 'data', fullname: 'two-pipewright' }, STEADY],
]

const stack = new DisposableStack()
const workspace = stack.use(createWorkspace())
const rendered = new Map<Release, Rules>()

function mark({ namespace, fullname }: Release): string {
  return `${namespace}-${fullname}`
}

async function rulesOf(release: Release): Promise<Rules> {
  const sets = ['prometheusRule.enabled=true', `prometheusRule.ruleLabels.release=${mark(release)}`]
  const values = ['platform.sandbox=true', 'source.configMap=pipes', ...sets]
  const args = ['template', release.name, CHART, '--namespace', release.namespace, '--set', values.join(',')]
  return objectOf(await runWell(tool('helm'), args), 'PrometheusRule').spec as Rules // as the chart makes it
}

beforeAll(async () => {
  for (const release of PAIRS.flatMap(([, ...pair]) => pair)) rendered.set(release, await rulesOf(release))
})

afterAll(() => stack.dispose())

/** The text of a test that is about the job "pipewright", for a release. */
function of({ namespace, fullname }: Release, text: string): string {
  return text
    .replaceAll('job="pipewright"', `namespace="${namespace}",job="${fullname}"`)
    .replaceAll(
      'persistentvolumeclaim="ledger-pipewright-0"',
      `namespace="${namespace}",persistentvolumeclaim="ledger-${fullname}-0"`,
    )
}

/** Series of a release that has nothing to tell; they rise by the second. */
function wellSeries(release: Release, interval: string): RuleTest['input_series'] {
  const minutes = Number.parseInt(interval, 10)
  const text = of(release, WELL).replaceAll('STEP', String(minutes * 60))
  const all = text.replaceAll('LENGTH', minutes === 1 ? '220' : '1100')
  const values = parse(all, { schema: 'failsafe' }) as Readonly<Record<string, string>> // as its head says
  return Object.entries(values).map(([series, each]) => ({ series, values: each }))
}

/** A file of tests for a release that is as they say, while another one is well. */
function both(file: string, bad: Release, well: Release): TestFile {
  const { tests, ...rest } = ruleTests(file, (text) => of(bad, text))
  return {
    ...rest,
    tests: tests.map(({ input_series: series, promql_expr_test: asked, ...group }) => ({
      ...group,
      input_series: [...series, ...wellSeries(well, group.interval)],
      promql_expr_test: asked.flatMap(({ exp_samples: samples, ...one }) => [
        {
          ...one,
          exp_samples: samples.map(({ labels, value }) => ({
            labels: labels.replace('ALERTS{', `ALERTS{release="${mark(bad)}",`),
            value,
          })),
        },
        { ...one, expr: `ALERTS{release="${mark(well)}",alertstate="firing"}`, exp_samples: [] },
      ]),
    })),
  }
}

/** What promtool says of tests, with the rules of both releases. */
async function checked(tests: TestFile, rules: readonly Rules[]) {
  const files = rules.map((one, index) => {
    const path = workspace.path(`rules-${index}.yaml`)
    writeFileSync(path, stringify(one))
    return path
  })
  const path = workspace.path('tests.yaml')
  writeFileSync(path, stringify({ ...tests, rule_files: files }))
  return promtool(['test', 'rules', path])
}

/** The rules of each release, of these alerts: each rule costs time at each step. */
function rulesFor(releases: readonly Release[], isAsked: (alert: string) => boolean): readonly Rules[] {
  return releases.map((release) => ({
    groups: (rendered.get(release)?.groups ?? []).map(({ name, rules }) => ({
      name,
      rules: rules.filter(({ alert }) => isAsked(alert)),
    })),
  }))
}

/** Whether a file of tests says something about an alert. */
function hasOf(file: string, alert: string): boolean {
  return ruleTests(file).tests.some((one) => isAbout(one, alert))
}

describe.each(PAIRS)('two releases %s', (_, one, other) => {
  const cases = RULE_TEST_FILES.flatMap((file) =>
    [[one, other] as const, [other, one] as const].map(
      ([bad, well]) => [file, mark(bad), bad, well] as const,
    ),
  )
  test.each(cases)('%s, about %s alone', async (file, _mark, bad, well) => {
    const { ok, said } = await checked(
      both(file, bad, well),
      rulesFor([one, other], (alert) => hasOf(file, alert)),
    )
    expect(ok, said).toBe(true)
  })
})

/** A rule about the series of every release. */
function aboutAll({ namespace, fullname }: Release, expr: string): string {
  return expr
    .replaceAll(`job="${fullname}",namespace="${namespace}"`, 'job!=""')
    .replaceAll(
      `namespace="${namespace}",persistentvolumeclaim="ledger-${fullname}-0"`,
      'persistentvolumeclaim=~"ledger-.*"',
    )
}

/** The tests of one alert, wherever they stand. */
function fileAbout(alert: string, bad: Release, well: Release): TestFile {
  const name = RULE_TEST_FILES.find((file) => hasOf(file, alert))
  const { tests, ...rest } = both(name ?? '', bad, well)
  return {
    ...rest,
    tests: tests
      .filter((one) => isAbout(one, alert))
      .map(({ promql_expr_test: asked, ...group }) => ({
        ...group,
        promql_expr_test: asked.filter(
          ({ expr }) => !expr.includes('alertname=') || expr.includes(`"${alert}"`),
        ),
      })),
  }
}

describe('a rule that is about every release', () => {
  const [[, bad, well]] = PAIRS as [(typeof PAIRS)[number]] // there are two
  test.each(alertRules().map(({ alert }) => alert))('is found out: %s', async (alert) => {
    const scoped = rulesFor([bad, well], (name) => name === alert)
    const unscoped = scoped.map(({ groups }, index) => ({
      groups: groups.map((group) => ({
        ...group,
        rules: group.rules.map((rule) => ({ ...rule, expr: aboutAll([bad, well][index] ?? bad, rule.expr) })),
      })),
    }))
    const file = fileAbout(alert, bad, well)
    expect(await checked(file, scoped)).toMatchObject({ ok: true })
    expect(await checked(file, unscoped)).toMatchObject({ ok: false })
  })
})
