import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { alertRules, RULES_FILE } from '../support/alert-rules.ts'
import { ROOT } from '../support/process.ts'
import { promtool } from './support/prometheus.ts'

const TESTS = join(ROOT, 'test', 'slow', 'rules')
const FILES = readdirSync(TESTS).filter((file) => file.endsWith('.yaml'))

/** As much of a test file of promtool as is looked at here. */
interface TestFile {
  readonly rule_files: readonly string[]
  readonly tests: readonly {
    readonly promql_expr_test: readonly {
      readonly expr: string
      readonly exp_samples?: readonly { readonly labels: string }[]
    }[]
  }[]
}

function testFile(file: string): TestFile {
  return parse(readFileSync(join(TESTS, file), 'utf8')) as TestFile // promtool itself is strict about it
}

/** How many samples each test of an alert expects, with their severities. */
function casesOf(alert: string): readonly (readonly (string | undefined)[])[] {
  return FILES.flatMap((file) => testFile(file).tests)
    .flatMap((group) => group.promql_expr_test)
    .filter(({ expr }) => expr.includes(`"${alert}"`))
    .map(({ exp_samples: firing = [] }) => firing.map(({ labels }) => /severity="(\w+)"/.exec(labels)?.[1]))
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

test('each alert fires in one test with its severity, and stays quiet in another', () => {
  const wrong = alertRules().filter(({ alert, labels }) => {
    const cases = casesOf(alert)
    const severities = [...new Set(cases.flat())]
    const isBoth = cases.some(({ length }) => length > 0) && cases.some(({ length }) => length === 0)
    return !isBoth || severities.join() !== labels.severity
  })
  expect(wrong).toEqual([])
})
