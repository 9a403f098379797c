import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

function filesOf(...names: readonly string[]): string[] {
  return names.map((name) => `test/slow/${name}.test.ts`)
}

/** Apart from the browser, which gives up all its requests (`ERR_NETWORK_CHANGED`) when a link of the network comes or goes. They mostly wait. */
const QUIET = filesOf('watch*', 'rows-cut', 'two-pods-failover', 'connections')

/** They share one browser. */
const PAGE = filesOf('page-*')

/** They need tools that Go builds, and no cluster. */
const CHART = filesOf('chart', 'chart-*')

/** Suites that run each night, and in CI when their paths change: `.ci/run` names the paths. */
const NIGHTLY = {
  searches: filesOf('digest', 'walks'),
  removals: filesOf('removals'),
  matrix: filesOf('crash-matrix-throw', 'crash-matrix-disk-*'),
  pods: filesOf('two-pods-load'),
  // A real kube-apiserver.
  cluster: filesOf(
    'kubernetes',
    'etcd-restore',
    'chart-move',
    'chart-role',
    'chart-cluster',
    'runbook-cluster',
  ),
  image: filesOf('image', 'image-on-a-machine', 'release-image', 'pod-upgrade', 'chart-run'),
  release: filesOf('release'),
  runbook: filesOf('runbook'),
}

/** These take minutes: they begin first, so that nobody waits for them in the end. */
const LONG = ['crash-matrix', 'hostile', 'rules', 'two-pods', 'connections']

function placeOf({ moduleId }: TestSpecification): number {
  const at = LONG.findIndex((name) => moduleId.includes(`/slow/${name}`))
  return at === -1 ? LONG.length : at
}

class LongFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => placeOf(a) - placeOf(b)))
  }
}

/** Projects run one after the other. */
function project(
  groupOrder: number,
  test: {
    name: string
    include: string[]
    exclude?: string[]
    maxWorkers?: number
    isolate?: boolean
    globalSetup?: string[]
  },
) {
  return { extends: true, test: { maxWorkers: 2, ...test, sequence: { groupOrder } } } as const
}

export default defineConfig({
  test: {
    globalSetup: 'test/slow/support/bundled.ts',
    sequence: { sequencer: LongFirst },
    // Only what hangs takes so long, on a machine however busy.
    testTimeout: 1_800_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 150_000 } },
    // Within a file, too, most of the time goes by in processes that are waited for.
    maxConcurrency: 4,
    projects: [
      project(0, {
        name: 'real parts',
        include: ['test/slow/**/*.test.ts'],
        exclude: [...QUIET, ...PAGE, ...CHART, ...Object.values(NIGHTLY).flat()],
        // More than there are processors: most of these mostly wait.
        maxWorkers: 3,
        // Each worker loads the sources anew.
        isolate: false,
      }),
      project(0, {
        name: 'page',
        include: PAGE,
        globalSetup: ['test/slow/support/browser.ts'],
        maxWorkers: 3,
        isolate: false,
      }),
      project(1, { name: 'quiet', include: QUIET, maxWorkers: 3 }),
      project(2, { name: 'chart', include: CHART, exclude: Object.values(NIGHTLY).flat(), maxWorkers: 3 }),
      ...Object.entries(NIGHTLY).map(([name, include], at) => project(3 + at, { name, include })),
    ],
  },
})
