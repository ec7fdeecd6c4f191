// Two servers execute the due steps of 1,000 users, and one of them is killed at any point: each step is executed once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import type { KilledWorkflowsOptions } from '../support/killed-workflows.ts'
import { newDatabase, newRealm } from '../support/service.ts'

/** Number of statements at which a server is killed. */
const STEPS = Number(process.env.REGENT_STEPS ?? 3)
const USERS = 1000

const location = await newDatabase()
const service = await openService({ location, key: new Uint8Array(32) })
afterAll(() => service.close())

/** Runs a server until its due steps are executed, or it is killed, and returns the lines that it has printed. */
async function runServer(statements?: number): Promise<string[]> {
  const options: KilledWorkflowsOptions = { location, ...(statements !== undefined && { statements }) }
  const entry = `${import.meta.dirname}/../support/killed-workflows.ts`
  const child = spawn(process.execPath, [entry, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [code, signal] = await closed
  expect(errors).toBe('')
  if (statements === undefined || signal !== 'SIGKILL') expect(code).toBe(0)
  return output.split('\n').filter(Boolean)
}

/** Counts the emails in the outbox and the changes by the workflow. */
function countEffects(realm: string): Promise<{ emails: number; changes: number }> {
  return service.read(SYSTEM, realm, async ({ tx, realm: { number } }) => {
    const { rows } = await sql<{ emails: number; changes: number; remaining: number }>`
      select (select count(*)::integer from outbox where realm = ${number}) as emails,
        (select count(*)::integer from user_journal where realm = ${number} and actor ->> 'workflow' = 'w') as changes`.execute(
      tx,
    )
    return rows[0]!
  })
}

test.runIf(inject('databaseUrl'))(
  'each due step of 1,000 users is executed once, at whatever statement a server is killed',
  async () => {
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    const realm = await newRealm(service)
    const steps = [
      { uses: 'notify-user', with: { message: 'Hello' } },
      { uses: 'set-user-attribute', with: { ran: 'yes' } },
      { uses: 'remove-user-attribute', with: { attribute: 'ran' } },
      { uses: 'notify-user', with: { message: 'The end' }, after: '1000d' },
    ]
    const workflow = { name: 'w', on: 'user_created', concurrency: { 'restart-in-progress': 'user_created' }, steps }
    await service.write(SYSTEM, realm, (context) => writers.workflow.create(context, [{ representation: workflow }]))
    const users = Array.from({ length: USERS }, (_, at) => ({
      representation: { username: `user-${at}`, email: `user-${at}@example.org`, enabled: true },
    }))
    await service.write(SYSTEM, { realm, isLarge: true }, (context) => writers.user.create(context, users))
    const restart = () =>
      service.write(SYSTEM, realm, ({ tx, realm: { number } }) =>
        sql`update workflow_execution set step = 0, due = now(), is_resumed = false where realm = ${number}`.execute(
          tx,
        ),
      )
    const statements = (await runServer()).length
    expect(await countEffects(realm)).toEqual({ emails: USERS, changes: 2 * USERS })
    const points = Array.from({ length: STEPS }, (_, at) => Math.round(((at + 1) * statements) / (STEPS + 1)))
    for (const [at, point] of points.entries()) {
      await restart()
      await Promise.all([runServer(point), runServer()])
      await runServer()
      expect(await countEffects(realm), `killed after statement ${point} of ${statements}`).toEqual({
        emails: (at + 2) * USERS,
        changes: 2 * (at + 2) * USERS,
      })
    }
  },
)
