// Service accounts in documents and imports: they have no credentials of their own.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource, planText } from '../support/sources.ts'

const { service } = await testService()
const { call, create } = await testServer()

const client = { clientId: 'robot', secret: 's', serviceAccountsEnabled: true }
const credentials = [{ type: 'password', value: 'pw' }]
const account = { username: 'service-account-robot', enabled: true, serviceAccountClientId: 'robot', credentials }

async function listCredentials(realm: string): Promise<unknown> {
  const [{ id }] = (await call('GET', `/admin/realms/${realm}/clients?clientId=robot`)).body
  const user = (await call('GET', `/admin/realms/${realm}/clients/${id}/service-account-user`)).body
  expect(user.username).toBe('service-account-robot')
  return (await call('GET', `/admin/realms/${realm}/users/${user.id}/credentials`)).body
}

test('a document applies without the credentials of a service account, and the plan notes that', async () => {
  const realm = newName()
  const state = createSource([{ realm, clients: [client], users: [account] }], realm)
  const { realms } = await planSources(service, SYSTEM, [state])
  expect(realms.flatMap(({ plan }) => plan.notes.map(({ message }) => message))).toEqual([
    'user service-account-robot: credentials are ignored, since a service account logs in as its client',
  ])
  await applySource(service, state)
  expect(await listCredentials(realm)).toEqual([])
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('POST of a realm and partialImport create service accounts without the credentials in the body', async () => {
  const realm = newName()
  await create('/admin/realms', { realm, clients: [client], users: [account] })
  expect(await listCredentials(realm)).toEqual([])
  const other = newName()
  await create('/admin/realms', { realm: other })
  const body = { clients: [client], users: [account] }
  expect(await call('POST', `/admin/realms/${other}/partialImport`, { body })).toMatchObject({ status: 200 })
  expect(await listCredentials(other)).toEqual([])
})

test.each(['apply', 'POST of a realm'])(
  '%s creates service accounts with the ids that their users declare',
  async (way) => {
    const realm = newName()
    const [id, secondId] = [randomUUID(), randomUUID()]
    const user = { username: account.username, serviceAccountClientId: 'robot', id }
    const second = { username: 'service-account-second', serviceAccountClientId: 'Second', id: secondId }
    const clients = [client, { clientId: 'Second', serviceAccountsEnabled: way === 'POST of a realm' }]
    const source = (more: object) => createSource([{ realm, clients, users: [user], ...more }], realm)
    if (way === 'apply') await applySource(service, source({}))
    else await create('/admin/realms', { realm, clients, users: [user, second] })
    if (way === 'apply') {
      const enabled = { clients: [client, { clientId: 'Second', serviceAccountsEnabled: true }], users: [user, second] }
      await applySource(service, source(enabled))
      expect(await planText(service, source(enabled))).toContain('Nothing to do.')
    }
    for (const [username, expected] of [
      ['service-account-robot', id],
      ['service-account-second', secondId],
    ])
      expect((await call('GET', `/admin/realms/${realm}/users/${expected}`)).body).toMatchObject({ username })
  },
)

test('credentials of a service account that is declared as a user are refused', async () => {
  const realm = newName()
  const { serviceAccountClientId: _, credentials: __, ...user } = account
  const toSource = (more: object) => createSource([{ realm, clients: [client], users: [{ ...user, ...more }] }], realm)
  await applySource(service, createSource([{ realm, clients: [client] }], realm))
  // An existing account keeps its credentials, until others are declared.
  await applySource(service, toSource({ credentials }))
  const newCredentials = [{ type: 'password', value: 'another' }]
  await expect(applySource(service, toSource({ credentials: newCredentials }))).rejects.toThrow(
    'A service account cannot have credentials',
  )
  expect(await listCredentials(realm)).toEqual([])
})
