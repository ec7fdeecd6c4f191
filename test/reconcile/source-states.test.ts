// Statuses of sources, and requests about them: for administrators of all their realms only.
import { expect, test } from 'vitest'
import { applySources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { createSource } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()

test('only administrators of all realms of a source can read its status, and suspend or resume it', async () => {
  const { name: realm, token } = await createAdminRealm({})
  const [administered, shared] = [newName('own'), newName('shared')]
  await applySources(service, SYSTEM, [createSource([{ realm }], administered)])
  await applySources(service, SYSTEM, [createSource([{ realm }, { realm: newName() }], shared)])
  const send = async (method: string, path = '') =>
    server.call(method, `/regent/v1/source-states${path}`, { token: await token('admin') })
  expect((await send('GET')).body).toMatchObject([{ name: administered, realms: [realm] }])
  // No server follows it, so that it cannot be read now.
  for (const [request, status] of Object.entries({ suspend: 204, resume: 204, force: 409, rename: 204 })) {
    expect((await send('POST', `/${request}?source=${shared}&to=${shared}-2`)).status, request).toBe(403)
    expect((await send('POST', `/${request}?source=${administered}&to=${administered}-2`)).status, request).toBe(status)
  }
})
