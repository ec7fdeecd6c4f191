// Before all tests: the database engine that REGENT_TEST_ENGINE names, pglite (the default) or postgres, and where there is
// Kubernetes, the account that the operator runs as.
import type { TestProject } from 'vitest/node'
import { type OperatorAccount, createOperatorAccount } from './account.ts'
import { hasHelm } from './helm.ts'
import { hasKubernetes } from './kubernetes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A superuser's URL of the run's PostgreSQL; absent when the tests run on PGlite. */
    databaseUrl: string | undefined
    /** A configuration by which the API server is asked as the chart lets the operator; absent without Helm or Kubernetes. */
    operatorConfig: string | undefined
  }
}

let server: TestPostgres | undefined
let account: OperatorAccount | undefined

/** Starts what the engine needs, once per run. */
export async function setup(project: TestProject): Promise<void> {
  const engine = process.env.REGENT_TEST_ENGINE || 'pglite'
  if (!['pglite', 'postgres'].includes(engine))
    throw new Error(`REGENT_TEST_ENGINE is pglite or postgres, not ${engine}`)
  if (engine === 'postgres') server = await startPostgres()
  project.provide('databaseUrl', server?.url)
  if (hasKubernetes && hasHelm) account = await createOperatorAccount()
  project.provide('operatorConfig', account?.config)
}

/** Ends what was started. */
export async function teardown(): Promise<void> {
  await account?.remove()
  await server?.stop()
}
