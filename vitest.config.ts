import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/slow/**'],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    // Much of the time goes by in processes that tests wait for.
    maxWorkers: '100%',
  },
})
