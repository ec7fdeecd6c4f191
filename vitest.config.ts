import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/check-statements.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Isolation costs more than a test file, and a database of its own for each file much more: workers keep theirs.
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    // A busy machine must not fail a test: speed is the benchmark's matter.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
