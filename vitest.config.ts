import { configDefaults, defineConfig } from 'vitest/config'

/** Files that a full run repeats on one engine only, since the other one cannot change what they find. */
const onOneEngine = {
  pglite: [
    'exit-codes',
    'first-hour',
    'import',
    'saved-plans',
    'source-commands',
    'source-identity',
    'sources-file',
    'terminal-behaviour',
    'wrong-input',
  ].map((name) => `test/cli/${name}.test.ts`),
  postgres: [
    'test/admin/last-administrator.test.ts',
    'test/fuzz/schemathesis.test.ts',
    'test/privileges/server.test.ts',
  ],
}
const { REGENT_TESTS, REGENT_TEST_ENGINE: engine } = process.env
const excluded = onOneEngine[engine === 'postgres' ? 'pglite' : 'postgres']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...(REGENT_TESTS === 'all' ? excluded : [])],
    // Commands in the processes of tests have no contexts of the developer.
    env: { REGENT_CONFIG_DIR: 'node_modules/.cache/no-contexts' },
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
