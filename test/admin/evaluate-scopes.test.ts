// Example tokens equal real tokens.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

const last = (path: string) => path.split('/').at(-1)!

test('an example token has the claims of a real token, and with an audience only its roles', async () => {
  const path = await realm()
  const web = await make(`${path}/clients`, { clientId: 'web', publicClient: true, directAccessGrantsEnabled: true })
  for (const clientId of ['api', 'other']) {
    const client = await make(`${path}/clients`, { clientId })
    await make(`${client}/roles`, { name: 'use' })
  }
  const user = { username: 'ann', enabled: true, firstName: 'Ann', lastName: 'Example', email: 'ann@example.org' }
  const credentials = [{ type: 'password', value: 'pw' }]
  const ann = await make(`${path}/users`, { ...user, credentials })
  for (const client of (await call('GET', `${path}/clients`)).body) {
    if (!['api', 'other'].includes(client.clientId)) continue
    const role = (await call('GET', `${path}/clients/${client.id}/roles/use`)).body
    await call('POST', `${ann}/role-mappings/clients/${client.id}`, { body: [role] })
  }
  const response = await call('POST', `/realms/${last(path)}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=password&client_id=web&username=ann&password=pw&scope=openid+phone',
  })
  const example = async (token: string, query = '') =>
    (
      await call(
        'GET',
        `${web}/evaluate-scopes/generate-example-${token}?userId=${last(ann)}&scope=openid+phone${query}`,
      )
    ).body
  const lasting = ({ exp, iat, jti, sid, iss, at_hash, ...claims }: Record<string, unknown>) => {
    expect([typeof exp, typeof iat, typeof jti, typeof sid, typeof iss]).toEqual([
      ...['number', 'number', 'string', 'string', 'string'],
    ])
    return claims
  }
  expect(lasting(await example('access-token'))).toEqual(lasting(decodeJwt(response.body.access_token)))
  expect(lasting(await example('id-token'))).toEqual(lasting(decodeJwt(response.body.id_token)))
  const { aud, resource_access, realm_access } = await example('access-token', '&audience=api+nowhere')
  expect({ aud, resource_access }).toEqual({ aud: 'api', resource_access: { api: { roles: ['use'] } } })
  expect(realm_access.roles).toContain('offline_access')
})
