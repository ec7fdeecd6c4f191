// Nobody grants or revokes admin permissions beyond their own by the steps of a workflow.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { runDueWorkflows } from '../support/workflow-realm.ts'

const { call, create, app } = await testServer()
const { service } = await testService()
const MASTER = '/admin/realms/master'

/** Creates a user of master with all of its admin roles except `admin`, and returns a function that calls as that user. */
async function createWeakAdministrator() {
  const username = `weak-${randomUUID().slice(0, 8)}`
  const credentials = [{ type: 'password', value: 'pw' }]
  const user = await create(`${MASTER}/users`, { username, enabled: true, credentials })
  const [client] = (await call('GET', `${MASTER}/clients?clientId=master-realm`)).body
  const roles = (await call('GET', `${MASTER}/clients/${client.id}/roles`)).body
  await call('POST', `${user}/role-mappings/clients/${client.id}`, { body: roles })
  const response = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `grant_type=password&client_id=admin-cli&username=${username}&password=pw`,
  })
  const token: string = response.json().access_token
  return {
    id: user.split('/').at(-1)!,
    as: (method: string, path: string, body: unknown) => call(method, path, { body, token }),
  }
}

test.each(['grant-role', 'revoke-role'])(
  'an administrator without the role admin cannot create or change a workflow with %s of it',
  async (uses) => {
    const { as } = await createWeakAdministrator()
    const name = `w-${randomUUID()}`
    const body = { name, steps: [{ uses, with: { role: 'admin' } }] }
    expect((await as('POST', `${MASTER}/workflows`, body)).status).toBe(403)
    const harmless = { name, steps: [{ uses, with: { role: 'offline_access' } }] }
    const response = await as('POST', `${MASTER}/workflows`, harmless)
    expect(response.status).toBe(201)
    const address = new URL(String(response.headers.location)).pathname
    expect((await as('PUT', address, body)).status).toBe(403)
    expect((await call('GET', address)).body.steps[0].with).toEqual({ role: 'offline_access' })
    await call('DELETE', address)
  },
)

test('an administrator without the role admin cannot create a workflow that adds users to a group with it', async () => {
  const { as } = await createWeakAdministrator()
  const group = await create(`${MASTER}/groups`, { name: `bosses-${randomUUID()}` })
  const admin = (await call('GET', `${MASTER}/roles/admin`)).body
  await call('POST', `${group}/role-mappings/realm`, { body: [admin] })
  const { path } = (await call('GET', group)).body
  for (const uses of ['join-group', 'leave-group']) {
    const body = { name: 'w', steps: [{ uses, with: { group: [path] } }] }
    expect((await as('POST', `${MASTER}/workflows`, body)).status).toBe(403)
  }
  await call('DELETE', group)
})

test('a workflow neither deletes nor disables the last administrator', async () => {
  const [admin] = (await call('GET', `${MASTER}/users?username=admin&exact=true`)).body
  for (const uses of ['delete-user', 'disable-user']) {
    const workflow = await create(`${MASTER}/workflows`, { name: `w-${randomUUID()}`, steps: [{ uses }] })
    const { workflowRunner } = service
    await call('POST', `${workflow}/activate/USERS/${admin.id}`)
    await workflowRunner?.whenIdle()
    await runDueWorkflows(service)
    expect((await call('GET', `${MASTER}/users/${admin.id}`)).body.enabled).toBe(true)
    expect((await call('GET', workflow)).body.state.errors[0]).toContain('This would lock everyone out')
    await call('DELETE', workflow)
  }
})
