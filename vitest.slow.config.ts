import { defineConfig } from 'vitest/config'

/** Those that keep all processors busy by themselves, or measure what a busy one would spoil. */
const ALONE = ['crash-matrix', 'long-life', 'page', 'prometheus', 'watch'].map(
  (name) => `test/slow/${name}*.test.ts`,
)

const COMMON = {
  testTimeout: 300_000,
  hookTimeout: 180_000,
  // Within a file, too, most of the time goes by in processes that are waited for.
  maxConcurrency: 4,
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...COMMON,
          name: 'side by side',
          include: ['test/slow/**/*.test.ts'],
          exclude: ALONE,
          // More than there are processors: most of these mostly wait.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...COMMON,
          name: 'alone',
          include: ALONE,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
