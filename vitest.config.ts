import { configDefaults, defineConfig } from 'vitest/config'
import { listExcludedTests } from './test/tiers.ts'

const { REGENT_TESTS, REGENT_TEST_ENGINE } = process.env

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...listExcludedTests(REGENT_TESTS, REGENT_TEST_ENGINE || undefined)],
    // Commands in the processes of tests have no contexts of the developer.
    env: { REGENT_CONFIG_DIR: 'node_modules/.cache/no-contexts' },
    setupFiles: ['test/support/check-statements.ts', 'test/support/property-options.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Isolation costs more than a test file, and a database of its own for each file much more: workers keep theirs.
    pool: 'threads',
    isolate: false,
    maxWorkers: 2,
    // Failures show what the compared values contain.
    chaiConfig: { truncateThreshold: 2_000 },
    // A busy machine must not fail a test: speed is the benchmark's matter.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
})
