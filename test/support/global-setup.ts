// Runs before all tests: starts the database engine of REGENT_TEST_ENGINE, pglite (the default) or postgres, builds the package, and
// creates the operator's account if Kubernetes is available.
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { type BuiltPackage, buildPackage } from './built-package.ts'
import { hasHelm } from './helm.ts'
import { hasKubernetes } from './kubernetes.ts'
import { createOperatorAccount, type OperatorAccount } from './operator-account.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the PostgreSQL server for a superuser; absent if the tests run on PGlite. */
    databaseUrl: string | undefined
    /** Path of the program that tests of the command line run: of the package as it is published, or of the sources. */
    command: string
    /** Path of a kubeconfig file with the permissions of the chart's operator; absent without Helm or Kubernetes. */
    operatorConfig: string | undefined
  }
}

let server: TestPostgres | undefined
let account: OperatorAccount | undefined
let built: BuiltPackage | undefined

/** The program of the sources, which a run of single files executes: building takes longer than most files. */
const SOURCE_COMMAND = join(import.meta.dirname, '..', '..', 'bin', 'regent.js')

/** Starts the servers, once per run. */
export async function setup(project: TestProject): Promise<void> {
  const engine = process.env.REGENT_TEST_ENGINE || 'pglite'
  if (!['pglite', 'postgres'].includes(engine))
    throw new Error(`REGENT_TEST_ENGINE must be pglite or postgres, not ${engine}.`)
  if (engine === 'postgres') server = await startPostgres()
  project.provide('databaseUrl', server?.url)
  if (process.env.REGENT_TESTS) built = await buildPackage()
  project.provide('command', built?.command ?? SOURCE_COMMAND)
  if (hasKubernetes && hasHelm) account = await createOperatorAccount()
  project.provide('operatorConfig', account?.config)
}

/** Stops the servers. */
export async function teardown(): Promise<void> {
  await account?.remove()
  await built?.remove()
  await server?.stop()
}
