// The child process of admin/killed-workflows.test.ts: it executes the steps of workflows that are due, and kills itself meanwhile. It prints a
// line for each executed statement.
import { writeSync } from 'node:fs'
import type { StoreLocation } from '../../src/service/context/store-types.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { startWorkflowRunner } from '../../src/service/workflows/run-steps.ts'

/** The argument of the process, as JSON. */
export interface KilledWorkflowsOptions {
  readonly location: StoreLocation
  /** The process kills itself after so many statements. Absent: never. */
  readonly statements?: number
}

if (process.argv[1] === import.meta.filename) await run(JSON.parse(process.argv[2]!))

async function run({ location, statements }: KilledWorkflowsOptions): Promise<void> {
  let executed = -1
  const service = await openService({
    location,
    key: new Uint8Array(32),
    onStatement: ({ sql }) => {
      if (executed < 0) return
      writeSync(1, `${sql.replace(/\s+/g, ' ').trim().slice(0, 60)}\n`)
      executed++
      if (executed === statements) process.kill(process.pid, 'SIGKILL')
    },
  })
  executed = 0
  await startWorkflowRunner(service, (error) => writeSync(2, `${error.message}: ${error.cause}\n`)).whenIdle()
  await service.close()
}
