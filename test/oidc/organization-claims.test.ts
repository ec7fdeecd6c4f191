// The organization claim with the groups of organizations and their roles. Compared with Keycloak 26.7.3.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call, create } = await testServer()
const { statements } = await testService()

/** Creates a realm whose user ann is in groups of the organization acme, and a member of bolt. `mapper`: settings of the mapper of groups. */
async function createOrganizations(mapper: object, groupCount = 0): Promise<string> {
  const realm = newName()
  const numbered = Array.from({ length: groupCount }, (_, at) => ({ name: `g${at}`, realmRoles: ['clerk'] }))
  await create('/admin/realms', {
    realm,
    enabled: true,
    organizationsEnabled: true,
    roles: {
      realm: [
        { name: 'clerk' },
        { name: 'manager', composite: true, composites: { realm: ['clerk'] } },
        { name: 'parent' },
      ],
      client: { web: [{ name: 'buyer' }] },
    },
    users: [
      {
        username: 'ann',
        enabled: true,
        email: 'ann@acme.example',
        firstName: 'Ann',
        lastName: 'Example',
        credentials: [{ type: 'password', value: 'pw' }],
      },
    ],
    organizations: [
      {
        name: 'acme',
        groups: [
          {
            name: 'staff',
            realmRoles: ['parent'],
            subGroups: [{ name: 'night', realmRoles: ['manager'], clientRoles: { web: ['buyer'] } }],
          },
          { name: 'a/b' },
          ...numbered,
        ],
        members: [{ username: 'ann', groups: ['/staff/night', '/a~/b', ...numbered.map(({ name }) => name)] }],
      },
      { name: 'bolt', members: [{ username: 'ann' }] },
    ],
    clients: [
      {
        clientId: 'web',
        publicClient: true,
        directAccessGrantsEnabled: true,
        fullScopeAllowed: false,
        protocolMappers: [
          {
            name: 'groups',
            protocol: 'openid-connect',
            protocolMapper: 'oidc-organization-group-membership-mapper',
            config: { 'access.token.claim': 'true', ...mapper },
          },
        ],
      },
    ],
  })
  return realm
}

async function readClaims(realm: string): Promise<Record<string, unknown>> {
  const { body } = await call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=password&client_id=web&username=ann&password=pw&scope=organization:*',
  })
  return decodeJwt(body.access_token)
}

test('a token has the groups of organizations that its user is a direct member of', async () => {
  const { organization } = await readClaims(await createOrganizations({}))
  expect(organization).toEqual({ acme: { groups: ['/a/b', '/staff/night'] }, bolt: { groups: [] } })
})

test('a mapper that adds roles adds those of the groups with their composites, which the user does not have otherwise', async () => {
  const { organization, realm_access } = await readClaims(await createOrganizations({ addGroupRoleMappings: 'true' }))
  expect(organization).toEqual({
    acme: {
      groups: ['/a/b', '/staff/night'],
      realm_access: { roles: ['clerk', 'manager'] },
      resource_access: { web: { roles: ['buyer'] } },
    },
    bolt: { groups: [] },
  })
  expect(realm_access).toBeUndefined()
})

test('a token takes the same number of statements, however many groups of organizations its user is in', async () => {
  const settings = { addGroupRoleMappings: 'true' }
  const [small, large] = [await createOrganizations(settings), await createOrganizations(settings, 40)]
  await Promise.all([readClaims(small), readClaims(large)])
  const few = await statements(() => readClaims(small))
  expect(await statements(() => readClaims(large))).toHaveLength(few.length)
})
