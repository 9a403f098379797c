import { defineConfig } from 'vitest/config'

/** Those that keep the processor busy, or measure what a busy one would spoil. */
const WORKING = ['chart', 'crash-matrix', 'image', 'long-life', 'page', 'prometheus', 'rules', 'watch'].map(
  (name) => `test/slow/${name}*.test.ts`,
)

const COMMON = {
  testTimeout: 120_000,
  hookTimeout: 60_000,
  // Within a file, too, most of the time goes by in processes that are waited for.
  maxConcurrency: 4,
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...COMMON,
          name: 'waiting',
          include: ['test/slow/**/*.test.ts'],
          exclude: WORKING,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...COMMON,
          name: 'working',
          include: WORKING,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
