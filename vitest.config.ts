import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const EDITED = ['test/kinds/fifth-kind.test.ts', 'test/kinds/new-field.test.ts']
const PROGRAMS = 'test/**/*.program.test.ts'

/** The explorer takes longest: it begins first, so that nothing waits for it in the end. */
class ExplorerFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((a, b) => Number(isOfExplorer(b)) - Number(isOfExplorer(a))))
  }
}

function isOfExplorer({ moduleId }: TestSpecification): boolean {
  return moduleId.includes('/test/explore/')
}

export default defineConfig({
  test: {
    sequence: { sequencer: ExplorerFirst },
    // Only a hang takes this long, even beside eight busy loops.
    testTimeout: 1_200_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 150_000 } },
    // One more than there are processors: a few files wait. Each worker compiles the sources anew.
    maxWorkers: 1 + availableParallelism(),
    // Most objects live shortly: so fewer are copied.
    execArgv: ['--max-semi-space-size=64'],
    // No module of ours has a state of its own, so files can share a worker; its start costs more than most of them.
    isolate: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'in process',
          // Node strips the types itself: that costs less than Vite's modules, whose imports are getters.
          // No test of them mocks a module, so the loader need not look for that.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          include: ['test/**/*.test.ts'],
          exclude: ['test/slow/**', PROGRAMS, ...EDITED],
          setupFiles: 'test/support/no-programs.ts',
        },
      },
      // They have modules of their own, which other files must not see.
      {
        extends: true,
        test: {
          name: 'fifth kind',
          experimental: { viteModuleRunner: false, nodeLoader: false },
          include: EDITED,
          setupFiles: ['test/support/no-programs.ts', 'test/kinds/edited-sources.ts'],
          isolate: true,
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: [PROGRAMS],
          globalSetup: 'test/slow/support/bundled.ts',
          // A program that hangs is named while there is time for the rest.
          testTimeout: 400_000,
        },
      },
    ],
  },
})
