import { defineConfig } from 'vitest/config'

function filesOf(...names: readonly string[]): string[] {
  return names.map((name) => `test/slow/${name}*.test.ts`)
}

/** Hundreds of short lives of the program: two files at a time keep all processors busy. */
const CRASHES = filesOf('crash-matrix')

/** Those that measure what a busy machine would spoil. */
const ALONE = filesOf('connections', 'long-life', 'page', 'prometheus', 'watch')

const COMMON = {
  testTimeout: 300_000,
  hookTimeout: 180_000,
  // Within a file, too, most of the time goes by in processes that are waited for.
  maxConcurrency: 4,
}

export default defineConfig({
  test: {
    globalSetup: 'test/slow/support/bundled.ts',
    projects: [
      {
        test: {
          ...COMMON,
          name: 'side by side',
          include: ['test/slow/**/*.test.ts'],
          exclude: [...ALONE, ...CRASHES],
          // More than there are processors: most of these mostly wait.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...COMMON,
          name: 'crashes',
          include: CRASHES,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...COMMON,
          name: 'alone',
          include: ALONE,
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
