// The example tokens of the client scope evaluation.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const getId = (path: string) => path.split('/').at(-1)!

test('an example token has the claims of a real token, and with audiences only the roles of their clients', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, {
    clientId: 'web',
    publicClient: true,
    directAccessGrantsEnabled: true,
  })
  for (const clientId of ['api', 'other']) {
    const resourceServer = await create(`${path}/clients`, { clientId })
    await create(`${resourceServer}/roles`, { name: 'use' })
  }
  const user = { username: 'ann', enabled: true, firstName: 'Ann', lastName: 'Example', email: 'ann@example.org' }
  const credentials = [{ type: 'password', value: 'pw' }]
  const ann = await create(`${path}/users`, { ...user, credentials })
  for (const { id, clientId } of (await call('GET', `${path}/clients`)).body) {
    if (!['api', 'other'].includes(clientId)) continue
    const role = (await call('GET', `${path}/clients/${id}/roles/use`)).body
    await call('POST', `${ann}/role-mappings/clients/${id}`, { body: [role] })
  }
  const response = await call('POST', `/realms/${getId(path)}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=password&client_id=web&username=ann&password=pw&scope=openid+phone',
  })
  const getExample = async (token: string, query = '') =>
    (
      await call(
        'GET',
        `${client}/evaluate-scopes/generate-example-${token}?userId=${getId(ann)}&scope=openid+phone${query}`,
      )
    ).body
  const omitVariableClaims = ({ exp, iat, jti, sid, iss, at_hash, ...claims }: Record<string, unknown>) => {
    expect([typeof exp, typeof iat, typeof jti, typeof sid, typeof iss]).toEqual([
      ...['number', 'number', 'string', 'string', 'string'],
    ])
    return claims
  }
  expect(omitVariableClaims(await getExample('access-token'))).toEqual(
    omitVariableClaims(decodeJwt(response.body.access_token)),
  )
  expect(omitVariableClaims(await getExample('id-token'))).toEqual(
    omitVariableClaims(decodeJwt(response.body.id_token)),
  )
  const { aud, resource_access, realm_access } = await getExample('access-token', '&audience=api+nowhere')
  expect({ aud, resource_access }).toEqual({ aud: 'api', resource_access: { api: { roles: ['use'] } } })
  expect(realm_access.roles).toContain('offline_access')
})
