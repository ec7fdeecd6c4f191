// Runs before all tests: starts the database engine of REGENT_TEST_ENGINE, pglite (the default) or postgres, and creates the operator's
// account if Kubernetes is available.
import type { TestProject } from 'vitest/node'
import { hasHelm } from './helm.ts'
import { hasKubernetes } from './kubernetes.ts'
import { createOperatorAccount, type OperatorAccount } from './operator-account.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the PostgreSQL server for a superuser; absent if the tests run on PGlite. */
    databaseUrl: string | undefined
    /** Path of a kubeconfig file with the permissions of the chart's operator; absent without Helm or Kubernetes. */
    operatorConfig: string | undefined
  }
}

let server: TestPostgres | undefined
let account: OperatorAccount | undefined

/** Starts the servers, once per run. */
export async function setup(project: TestProject): Promise<void> {
  const engine = process.env.REGENT_TEST_ENGINE || 'pglite'
  if (!['pglite', 'postgres'].includes(engine))
    throw new Error(`REGENT_TEST_ENGINE must be pglite or postgres, not ${engine}.`)
  if (engine === 'postgres') server = await startPostgres()
  project.provide('databaseUrl', server?.url)
  if (hasKubernetes && hasHelm) account = await createOperatorAccount()
  project.provide('operatorConfig', account?.config)
}

/** Stops the servers. */
export async function teardown(): Promise<void> {
  await account?.remove()
  await server?.stop()
}
