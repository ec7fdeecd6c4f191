// Service accounts in documents and imports: they log in as their clients do, so nobody gives them a password.
import { expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { applyAs, planText, source } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { service } = await testService()
const { call, make } = await testServer()

const client = { clientId: 'robot', secret: 's', serviceAccountsEnabled: true }
const credentials = [{ type: 'password', value: 'pw' }]
const account = { username: 'service-account-robot', enabled: true, serviceAccountClientId: 'robot', credentials }

async function credentialsIn(realm: string): Promise<unknown> {
  const [{ id }] = (await call('GET', `/admin/realms/${realm}/clients?clientId=robot`)).body
  const user = (await call('GET', `/admin/realms/${realm}/clients/${id}/service-account-user`)).body
  expect(user.username).toBe('service-account-robot')
  return (await call('GET', `/admin/realms/${realm}/users/${user.id}/credentials`)).body
}

test('a document applies without the credentials of a service account, and the plan notes that', async () => {
  const realm = newName()
  const state = source([{ realm, clients: [client], users: [account] }], realm)
  const { realms } = await planSources(service, SYSTEM, [state])
  expect(realms.flatMap(({ plan }) => plan.notes.map(({ message }) => message))).toEqual([
    'user service-account-robot: credentials are ignored, since a service account logs in as its client does',
  ])
  await applyAs(service, state)
  expect(await credentialsIn(realm)).toEqual([])
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('POST of a realm and partialImport make service accounts without the credentials in their bodies', async () => {
  const realm = newName()
  await make('/admin/realms', { realm, clients: [client], users: [account] })
  expect(await credentialsIn(realm)).toEqual([])
  const other = newName()
  await make('/admin/realms', { realm: other })
  const body = { clients: [client], users: [account] }
  expect(await call('POST', `/admin/realms/${other}/partialImport`, { body })).toMatchObject({ status: 200 })
  expect(await credentialsIn(other)).toEqual([])
})

test('a document that gives a service account credentials as if it were a user is refused', async () => {
  const realm = newName()
  const { serviceAccountClientId: _, credentials: __, ...user } = account
  const declared = (more: object) => source([{ realm, clients: [client], users: [{ ...user, ...more }] }], realm)
  await applyAs(service, source([{ realm, clients: [client] }], realm))
  // What was there before keeps its credentials, until others are declared.
  await applyAs(service, declared({ credentials }))
  const others = [{ type: 'password', value: 'another' }]
  await expect(applyAs(service, declared({ credentials: others }))).rejects.toThrow(
    'A service account has no credentials',
  )
  expect(await credentialsIn(realm)).toEqual([])
})
