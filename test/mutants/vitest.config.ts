import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { JOURNAL } from './journal.ts'

/** The nearest and quickest tests first: they leave few mistakes to the others. */
const ORDER = ['plan', 'kinds', 'lib', 'platform', 'ledger', 'reconcile', 'kubernetes'].map(
  (name) => `/test/${name}/`,
)
const LATE = [
  '/test/clickhouse-cloud/',
  '/test/cli/',
  '/test/ways-out/',
  '/test/explore/',
  '.program.test.ts',
]

function placeOf({ moduleId }: TestSpecification): number {
  const late = LATE.findLastIndex((part) => moduleId.includes(part))
  const early = ORDER.findIndex((part) => moduleId.includes(part))
  return late === -1 && early !== -1 ? early - ORDER.length : late + 1
}

class NearestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => placeOf(a) - placeOf(b)))
  }
}

/* `main.ts` runs this in its copy of the repository. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The first group reads the text of the sources: it would notice each change. The others start programs, whose sources it does not see.
    exclude: [
      'test/{slow,structure,mutants,bench}/**',
      'test/docs/words.test.ts',
      'test/{daemon,docs,editor,manifest,notify,sandbox}/**/*.program.test.ts',
      'test/main/{golden-log,launcher,quiet,sandbox-secrets}.program.test.ts',
      'test/kinds/fifth-kind.test.ts',
      'test/kinds/new-field.test.ts',
    ],
    ...(process.env[JOURNAL] === undefined ? { bail: 1 } : { runner: 'test/mutants/runner.ts' }),
    sequence: { sequencer: NearestFirst },
    testTimeout: 20_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 5_000 } },
    maxWorkers: 1,
    isolate: false,
    reporters: [{}],
  },
})
