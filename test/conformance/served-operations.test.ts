// Each operation of Keycloak's OpenAPI document is served.
import { expect, test } from 'vitest'
import { listedOperations } from '../support/listed-operations.ts'
import { testServer } from '../support/server.ts'

const { call, createRealm } = await testServer()

test('each operation is served', async () => {
  const realm = (await createRealm()).split('/').at(-1)!
  const unserved: string[] = []
  const isCalled = ({ path }: { readonly path: string }) => path !== '/admin/realms/{realm}'
  for (const { method, path } of listedOperations.filter(isCalled)) {
    // The operation without a path is that of the legacy API.
    const url =
      path === '/'
        ? '/v1/'
        : path
            .replace('{realm}', realm)
            .replace('{themeType}', 'login')
            .replace(/\{[^}]+\}/g, 'nothing')
    const withoutToken = await call(method, url, { token: null })
    // An address without a route needs no token.
    if (withoutToken.status !== 401) expect(withoutToken.status, `${method} ${path}`).toBe(200)
    const { status } = await call(method, url, method === 'GET' || method === 'DELETE' ? {} : { body: {} })
    expect(status, `${method} ${path}`).not.toBe(405)
    if (status === 501) unserved.push(`${method} ${path}`)
  }
  expect(unserved).toEqual([])
})
