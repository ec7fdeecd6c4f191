// A server whose clock a test moves, and realms with workflows, whose due steps a test executes.
import { sql } from 'kysely'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { startTaskRunner } from '../../src/service/tasks/scheduled-tasks.ts'
import { workflowTasks } from '../../src/service/workflows/activation.ts'
import { startWorkflowRunner } from '../../src/service/workflows/run-steps.ts'
import { openTimedServer } from './timed-server.ts'

/** A step that is due after a month, so that its execution stays in progress. */
export const WAIT = { uses: 'remove-user-attribute', after: '30d', with: { attribute: 'none' } }

/** Executes what is due, and returns the reports. */
export async function runDueWorkflows(service: Service): Promise<string[]> {
  const reports: string[] = []
  const report = ({ message, cause }: Error) =>
    reports.push(cause instanceof Error ? `${message}: ${cause.message}` : message)
  for (const start of [
    () => startTaskRunner(service, workflowTasks, report),
    () => startWorkflowRunner(service, report),
  ]) {
    const runner = start()
    await runner.whenIdle()
    await runner.close()
  }
  return reports
}

/** Opens the server. The caller must close it. */
export async function openWorkflowServer() {
  const server = await openTimedServer()
  const { call, service } = server

  /** Creates a realm with users who may have any attribute. */
  const createRealm = async () => {
    const realm = await server.createRealm()
    const { path } = realm
    const profile = await call('GET', `${path}/users/profile`)
    await call('PUT', `${path}/users/profile`, { ...profile, unmanagedAttributePolicy: 'ENABLED' })
    const create = async (collection: string, body: object): Promise<string> => {
      const created = await call('POST', `${path}/${collection}`, body)
      return typeof created === 'string' ? created.split('/').at(-1)! : created.id
    }
    return {
      ...realm,
      /** Creates an object, and returns its id. */
      create,
      get: (address: string) => call('GET', `${path}/${address}`),
      put: (address: string, body?: object) => call('PUT', `${path}/${address}`, body),
      post: (address: string, body?: object) => call('POST', `${path}/${address}`, body),
      delete: (address: string, body?: object) => call('DELETE', `${path}/${address}`, body),
      createWorkflow: (workflow: object) => create('workflows', { name: 'w', steps: [WAIT], ...workflow }),
      createUser: (user: object = {}) => create('users', { username: 'bob', enabled: true, ...user }),
      /** Returns the names of the workflows in progress for a user or client. */
      async listInProgress(id: string): Promise<string[]> {
        const workflows: { name: string }[] = await call('GET', `${path}/workflows/scheduled/${id}`)
        return workflows.map(({ name }) => name).sort()
      },
      /** Returns what a workflow has changed, by kind of its object, oldest first. */
      async listAuthors(user: string): Promise<string[]> {
        return service.read(SYSTEM, realm.name, async ({ tx, realm: { number } }) => {
          const { rows } = await sql<{ actor: { kind: string; workflow?: string } }>`
            select actor from user_journal where realm = ${number} and object = ${user} order by number`.execute(tx)
          return rows.map(({ actor }) => actor.workflow ?? actor.kind)
        })
      },
    }
  }

  return { ...server, createRealm, run: () => runDueWorkflows(service) }
}
