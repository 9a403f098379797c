import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../../support/process.ts'

/*
 * The files of test/slow/rules, as promtool reads them. In a test there, `SERIES: VALUES` is a series. `TIME ALERT: LABELS` says with which
 * labels an alert fires at that time; `quiet` says that it does not. Any other expression has its samples in full.
 */

export interface TestFile {
  readonly evaluation_interval: string
  readonly tests: readonly RuleTest[]
}

export interface RuleTest {
  readonly name: string
  readonly interval: string
  readonly input_series: readonly { readonly series: string; readonly values: string }[]
  readonly promql_expr_test: readonly {
    readonly expr: string
    readonly eval_time: string
    readonly exp_samples: readonly { readonly labels: string; readonly value: number }[]
  }[]
}

const TESTS = join(ROOT, 'test', 'slow', 'rules')

export const RULE_TEST_FILES = readdirSync(TESTS).filter((file) => file.endsWith('.yaml'))

type Entries = Readonly<Record<string, string | readonly string[]>>

export function ruleTests(file: string): TestFile {
  const text = readFileSync(join(TESTS, file), 'utf8')
  const { every, ...tests } = parse(text, { schema: 'failsafe' }) as { readonly every: string } & Record<
    string,
    Entries
  > // `0x9` is no number there
  return {
    evaluation_interval: every,
    tests: Object.entries(tests).map(([name, entries]) => testOf(name, every, entries)),
  }
}

function testOf(name: string, interval: string, entries: Entries): RuleTest {
  const all = Object.entries(entries).map(([key, value]) => ({ key, values: [value].flat() }))
  return {
    name,
    interval,
    input_series: all
      .filter(({ key }) => !/^\d/.test(key))
      .map(({ key, values: [values = ''] }) => ({ series: key, values })),
    promql_expr_test: all
      .filter(({ key }) => /^\d/.test(key))
      .map(({ key, values }) => {
        const [, time = '', asked = ''] = /^(\S+) (.*)$/.exec(key) ?? []
        const alert = `alertname="Pipewright${asked}",alertstate="firing"`
        const isPlain = /^\w+$/.test(asked)
        return {
          expr: isPlain ? `ALERTS{${alert}}` : asked,
          eval_time: time,
          exp_samples: values
            .filter((value) => value !== 'quiet')
            .map((value) => sampleOf(isPlain ? `ALERTS{${alert},${value}} 1` : value)),
        }
      }),
  }
}

function sampleOf(text: string): { readonly labels: string; readonly value: number } {
  const at = text.lastIndexOf(' ')
  return { labels: text.slice(0, at), value: Number(text.slice(at)) }
}
