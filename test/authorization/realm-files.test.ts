// The realm files of Keycloak's examples for authorization services: each user has the same permissions by evaluation and by the grant.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Representation, readObject, readObjects, readText } from '../../src/kinds/json.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const { call, create } = await testServer()
const shared = new URL('../../../shared/data/realms/', import.meta.url)
const files = ['rest-authz.json', 'servlet-authz-client.json'].map((name) => [name, new URL(name, shared)] as const)

/** The permissions of each user by request, as one of both ways returns them. */
type Permissions = Record<string, unknown>

const toComparable = (permissions: unknown): string[] =>
  (Array.isArray(permissions) ? permissions : [])
    .map(({ rsname, scopes = [] }) => `${rsname}: ${[...scopes].sort().join(' ')}`)
    .sort()

describe.each(files)('%s', (_, file) => {
  test.skipIf(!existsSync(file))(
    'each permission of each user is the same by evaluation and by the grant',
    async () => {
      const name = newName()
      const document: Representation = { ...JSON.parse(readFileSync(file, 'utf8')), realm: name }
      const path = await create('/admin/realms', document)
      const clients = readObjects(document.clients)
      const { clientId, secret } = clients.find((client) => client.authorizationServicesEnabled === true)!
      const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
      await call('PUT', `${path}/clients/${client.id}`, { body: { ...client, directAccessGrantsEnabled: true } })
      const server = `${path}/clients/${client.id}/authz/resource-server`
      const resources = (await call('GET', `${server}/resource`)).body
      const post = async (form: Record<string, string>, token?: string) => {
        const headers = {
          'content-type': 'application/x-www-form-urlencoded',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        }
        const body = new URLSearchParams(form).toString()
        return (await call('POST', `/realms/${name}/protocol/openid-connect/token`, { token: null, headers, body }))
          .body
      }
      /** Requests: everything, each resource, and each scope of it. */
      const requests: { permission?: string; resources: object[] }[] = [
        { resources: [] },
        ...resources.flatMap(({ _id, scopes = [] }: { _id: string; scopes?: { name: string }[] }) => [
          { permission: _id, resources: [{ _id }] },
          ...scopes.map((scope) => ({ permission: `${_id}#${scope.name}`, resources: [{ _id, scopes: [scope] }] })),
        ]),
      ]
      const [evaluated, granted]: [Permissions, Permissions] = [{}, {}]
      for (const { username, credentials } of readObjects(document.users)) {
        const [credential] = readObjects(credentials ?? null)
        const password = readText(credential?.value)
        if (password === undefined) continue
        const login = { grant_type: 'password', client_id: String(clientId), username: String(username), password }
        const { access_token: token } = await post({ ...login, client_secret: String(secret) })
        expect(token, String(username)).toBeDefined()
        for (const { permission = '', resources: requested } of requests) {
          const title = `${username} ${permission}`
          const body = { userId: username, resources: requested }
          const { rpt } = (await call('POST', `${server}/policy/evaluate`, { body })).body
          evaluated[title] = toComparable(readObject(rpt.authorization).permissions)
          const form = {
            grant_type: 'urn:ietf:params:oauth:grant-type:uma-ticket',
            audience: String(clientId),
            response_mode: 'permissions',
            ...(permission && { permission }),
          }
          granted[title] = toComparable(await post(form, token))
        }
      }
      expect(Object.values(granted).flat().length).toBeGreaterThan(0)
      expect(granted).toEqual(evaluated)
    },
  )
})
