import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

function filesOf(...names: readonly string[]): string[] {
  return names.map((name) => `test/slow/${name}*.test.ts`)
}

/** Those that a very busy machine would spoil. They mostly wait. */
const QUIET = filesOf('watch')

/**
 * One at a time, and nothing beside: one makes links of the network, and a browser gives up all its requests when one comes or goes
 * (`ERR_NETWORK_CHANGED`); another measures how long nobody acts; another how quick the page is; another takes all that a processor gives,
 * and measures what is left.
 */
const ALONE = filesOf('rows-cut', 'two-pods-failover', 'page-many', 'connections')

/** They take all that a processor gives, for minutes, and wait for nothing: they are given what the others leave. */
const SEARCHES = filesOf('explored', 'digest')

/** These take minutes: they begin first, so that nobody waits for them in the end. */
const LONG = [
  'runbook',
  'protections',
  'fifth-kind',
  'crash-matrix',
  'torture-delete',
  'hostile',
  'release',
  'rules',
  'watch-swaps',
  'rows-waiting',
  'rows-missing',
  'rows-stale',
  'rows-times',
  'two-pods',
]

function placeOf({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.includes(`/slow/${name}`))
  return at === -1 ? LONG.length : at
}

class LongFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => placeOf(a) - placeOf(b)))
  }
}

export default defineConfig({
  test: {
    globalSetup: 'test/slow/support/bundled.ts',
    sequence: { sequencer: LongFirst },
    // Only what hangs takes so long, on a machine however busy.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // Within a file, too, most of the time goes by in processes that are waited for.
    maxConcurrency: 4,
    projects: [
      {
        extends: true,
        test: {
          name: 'side by side',
          include: ['test/slow/**/*.test.ts'],
          exclude: [...QUIET, ...ALONE, ...SEARCHES],
          // More than there are processors: most of these mostly wait.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: { name: 'quiet', include: QUIET, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 2 } },
      },
      {
        extends: true,
        test: {
          name: 'searches',
          include: SEARCHES,
          testTimeout: 1_800_000,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
