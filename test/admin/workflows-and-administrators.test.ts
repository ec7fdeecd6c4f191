// Workflows and the administrators of all realms. Each test has a store of its own, since it could lock others out of master.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import type { TestResponse } from '../support/server.ts'
import { openNewService } from '../support/service.ts'
import { runDueWorkflows } from '../support/workflow-realm.ts'

let service: Service
let call: (
  method: 'GET' | 'POST',
  path: string,
  body?: object,
) => Promise<Pick<TestResponse, 'body'> & { location: string }>

beforeEach(async () => {
  service = await openNewService()
  await bootstrap(service, { user: 'admin', password: 'admin' })
  const app = await createServer(service, { caller: SYSTEM })
  call = async (method, path, body) => {
    const response = await app.inject({
      method,
      url: path.startsWith('/') ? path : `/admin/realms/master/${path}`,
      headers: { accept: 'application/json' },
      ...(body && { payload: body }),
    })
    const { pathname } = new URL(String(response.headers.location ?? '/'), 'http://localhost')
    return { body: response.body && JSON.parse(response.body), location: pathname }
  }
})

afterEach(() => service.close())

test.each(['delete-user', 'disable-user'])(
  'a workflow with %s does not lock out the last administrator',
  async (uses) => {
    const [admin] = (await call('GET', 'users?username=admin&exact=true')).body
    const { location } = await call('POST', 'workflows', { name: 'w', steps: [{ uses }] })
    await call('POST', `${location}/activate/USERS/${admin.id}`)
    await service.workflowRunner?.whenIdle()
    await runDueWorkflows(service)
    expect((await call('GET', `users/${admin.id}`)).body.enabled).toBe(true)
    expect((await call('GET', location)).body.state.errors[0]).toContain('This would lock everyone out')
  },
)
