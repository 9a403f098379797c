import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/slow/**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Each of them mostly waits for processes of its own.
    maxConcurrency: 4,
  },
})
