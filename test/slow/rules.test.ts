import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { alertRules, RULES_FILE } from '../support/alert-rules.ts'
import { ROOT } from '../support/process.ts'
import { createWorkspace, type Workspace } from '../support/workspace.ts'
import { promtool } from './support/prometheus.ts'

const TESTS = join(ROOT, 'test', 'slow', 'rules')
const FILES = readdirSync(TESTS).filter((file) => file.endsWith('.yaml'))

/** As much of a test file of promtool as is looked at here. */
interface TestFile {
  readonly rule_files: readonly string[]
  readonly tests: readonly {
    readonly promql_expr_test: readonly {
      readonly expr: string
      readonly exp_samples: readonly { readonly labels: string }[]
    }[]
  }[]
}

function testFile(file: string): TestFile {
  return parse(readFileSync(join(TESTS, file), 'utf8')) as TestFile // promtool itself is strict about it
}

/** Files that say something about an alert, and what they say. */
function casesOf(alert: string) {
  const cases = FILES.flatMap((file) =>
    testFile(file).tests.flatMap((group) =>
      group.promql_expr_test
        .filter(({ expr }) => expr.includes(`"${alert}"`))
        .map(({ exp_samples: firing }) => ({ file, firing })),
    ),
  )
  return { cases, files: [...new Set(cases.map(({ file }) => file))] }
}

/** The tests of one alert, with another rules file. */
function withRules(workspace: Workspace, rules: string, alert: string): readonly string[] {
  workspace.write('rules.yaml', rules)
  return casesOf(alert).files.map((file) => {
    const { tests, ...rest } = testFile(file)
    const own = tests.filter((group) =>
      group.promql_expr_test.some(({ expr }) => expr.includes(`"${alert}"`)),
    )
    workspace.write(file, stringify({ ...rest, rule_files: [workspace.path('rules.yaml')], tests: own }))
    return workspace.path(file)
  })
}

describe('promtool', () => {
  test('finds the rules right', async () => {
    const { ok, said } = await promtool(['check', 'rules', '--lint=all', '--lint-fatal', RULES_FILE])
    expect(said).toContain(`SUCCESS: ${alertRules().length} rules found`)
    expect(ok).toBe(true)
  })

  test.each(FILES)('sees the alerts of %s fire and stay quiet', async (file) => {
    const { ok, said } = await promtool(['test', 'rules', join(TESTS, file)])
    expect(ok, said).toBe(true)
  })
})

describe.each(alertRules().map((rule) => [rule.alert, rule] as const))('%s', (alert, { labels, expr }) => {
  const { cases } = casesOf(alert)

  test('fires in one test and stays quiet in another', () => {
    expect(cases.some(({ firing }) => firing.length > 0)).toBe(true)
    expect(cases.some(({ firing }) => firing.length === 0)).toBe(true)
    const severities = cases.flatMap(({ firing }) =>
      firing.map(({ labels: text }) => /severity="(\w+)"/.exec(text)?.[1]),
    )
    expect(new Set(severities)).toEqual(new Set([labels.severity]))
  })

  // Otherwise the tests of this alert would hold nothing.
  test.each([
    ['never fires', 'pipewright_no_such_metric > 0'],
    ['always fires', '(pipewright_orphans or absent(pipewright_orphans))'],
  ])('is found out when it %s', async (_, other) => {
    using workspace = createWorkspace()
    const rules = parse(readFileSync(RULES_FILE, 'utf8')) as {
      groups: { rules: { alert: string; expr: string }[] }[]
    } // read above
    const broken = rules.groups.map((group) => ({
      ...group,
      rules: group.rules.filter((rule) => rule.alert === alert).map((rule) => ({ ...rule, expr: other })),
    }))
    expect(expr).not.toBe(other)
    const { ok, said } = await promtool([
      'test',
      'rules',
      ...withRules(workspace, stringify({ groups: broken }), alert),
    ])
    expect(ok, said).toBe(false)
    expect(said).toContain(`"${alert}"`)
  })
})
