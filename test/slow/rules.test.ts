import { describe, expect, test } from 'vitest'
import { alertRules, RULES_FILE } from '../support/alert-rules.ts'
import { createWorkspace } from '../support/workspace.ts'
import { promtool } from './support/prometheus.ts'
import { RULE_TEST_FILES, ruleTests } from './support/rule-tests.ts'

/** How many samples each test of an alert expects, with their severities. */
function casesOf(alert: string): readonly (readonly (string | undefined)[])[] {
  return RULE_TEST_FILES.flatMap((file) => ruleTests(file).tests)
    .flatMap((group) => group.promql_expr_test)
    .filter(({ expr }) => expr.includes(`"${alert}"`))
    .map(({ exp_samples: firing }) => firing.map(({ labels }) => /severity="(\w+)"/.exec(labels)?.[1]))
}

describe('promtool', () => {
  test('finds the rules right', async () => {
    const { ok, said } = await promtool(['check', 'rules', '--lint=all', '--lint-fatal', RULES_FILE])
    expect(said).toContain(`SUCCESS: ${alertRules().length} rules found`)
    expect(ok).toBe(true)
  })

  test.each(RULE_TEST_FILES)('sees the alerts of %s fire and stay quiet', async (file) => {
    using workspace = createWorkspace()
    const tests = { ...ruleTests(file), rule_files: [RULES_FILE] }
    workspace.write('tests.yaml', JSON.stringify(tests))
    const { ok, said } = await promtool(['test', 'rules', workspace.path('tests.yaml')])
    expect(ok, said).toBe(true)
  })
})

test('each alert fires in one test with its severity, and stays quiet in another', () => {
  const wrong = alertRules().filter(({ alert, labels }) => {
    const cases = casesOf(alert)
    const severities = [...new Set(cases.flat())]
    const isBoth = cases.some(({ length }) => length > 0) && cases.some(({ length }) => length === 0)
    return !isBoth || severities.join() !== labels.severity
  })
  expect(wrong).toEqual([])
})
