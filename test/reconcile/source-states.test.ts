// How sources are doing, and what is wanted of them: a matter of those who administer all of their realms.
import { expect, test } from 'vitest'
import { applySources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { administeredRealm } from '../support/realm-with-boss.ts'
import { source } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { service } = await testService()
const server = await testServer()

test('only who administers all realms of a source learns how it is doing, and says what becomes of it', async () => {
  const { name: realm, token } = await administeredRealm({})
  const [own, shared] = [newName('own'), newName('shared')]
  await applySources(service, SYSTEM, [source([{ realm }], own)])
  await applySources(service, SYSTEM, [source([{ realm }, { realm: newName() }], shared)])
  const ask = async (method: string, path = '') =>
    server.call(method, `/regent/v1/source-states${path}`, { token: await token('boss') })
  expect((await ask('GET')).body).toMatchObject([{ name: own, realms: [realm] }])
  // No server follows it, so that none could read it now.
  for (const [what, status] of Object.entries({ suspend: 204, resume: 204, force: 409, rename: 204 })) {
    expect((await ask('POST', `/${what}?source=${shared}&to=${shared}-2`)).status, what).toBe(403)
    expect((await ask('POST', `/${what}?source=${own}&to=${own}-2`)).status, what).toBe(status)
  }
})
