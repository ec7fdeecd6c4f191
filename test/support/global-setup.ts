// Before all tests: the database engine that REGENT_TEST_ENGINE names, pglite (the default) or postgres.
import type { TestProject } from 'vitest/node'
import { startPostgres, type TestPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's URL of the run's PostgreSQL; absent when the tests run on PGlite. */
    databaseUrl: string | undefined
  }
}

let server: TestPostgres | undefined

/** Starts what the engine needs, once per run. */
export async function setup(project: TestProject): Promise<void> {
  const engine = process.env.REGENT_TEST_ENGINE || 'pglite'
  if (!['pglite', 'postgres'].includes(engine))
    throw new Error(`REGENT_TEST_ENGINE is pglite or postgres, not ${engine}`)
  if (engine === 'postgres') server = await startPostgres()
  project.provide('databaseUrl', server?.url)
}

/** Ends what was started. */
export async function teardown(): Promise<void> {
  await server?.stop()
}
