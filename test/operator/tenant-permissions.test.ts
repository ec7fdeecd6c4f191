// Permissions of tenant namespaces: `allowedNamespaces` of a Realm limits what they declare, and they change no foreign objects.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  const findObject = async (realm: string, kind: Parameters<typeof getLiveObject>[3], ...key: string[]) =>
    (await getLiveObject(setup.service, SYSTEM, realm, kind, ...key).catch(() => undefined))?.representation

  /** A realm with objects of its owner, and a tenant namespace with these permissions. */
  async function createTenant(permissions: object = {}) {
    const [owner, team] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    const allowedNamespaces = [{ name: team.namespace, ...permissions }]
    const acme = resource('Realm', 'acme', {
      realm,
      enabled: true,
      allowedNamespaces,
      clients: [{ clientId: 'shop', redirectUris: ['https://shop.example.org/*'] }],
      roles: { client: { shop: [{ name: 'admin' }] } },
      groups: [{ name: 'staff' }],
    })
    await owner.apply(acme)
    await owner.waitForReady(acme, 'True')
    const realmRef = { name: 'acme', namespace: owner.namespace }
    const declare = (kind: string, name: string, spec: object) => resource(kind, name, { realmRef, ...spec })
    return { owner, team, realm, declare, acme }
  }

  test('without kinds, a tenant declares a client with its role and mapper, and nothing else', async () => {
    const { team, realm, declare } = await createTenant()
    const permitted = [
      declare('RealmClient', 'app', { serviceAccountsEnabled: true, authorizationServicesEnabled: true }),
      declare('RealmRole', 'user', { client: 'app' }),
      declare('RealmProtocolMapper', 'team', {
        client: 'app',
        ...{ protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' },
      }),
      declare('RealmAuthorizationScope', 'read', { client: 'app' }),
    ]
    for (const item of permitted) await team.apply(item)
    for (const item of permitted) await team.waitForReady(item, 'True')
    const claim = { protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' }
    const refused: [resource: ReturnType<typeof resource>, reason: string][] = [
      [declare('RealmClient', 'account-console', { redirectUris: ['https://evil.example.org/*'] }), 'is built in'],
      [
        declare('RealmClient', 'shop', { redirectUris: ['https://evil.example.org/*'] }),
        'client shop is declared by Realm',
      ],
      [declare('RealmFlow', 'browser', { topLevel: true }), 'kind not permitted'],
      [declare('RealmProtocolMapper', 'evil', { client: 'shop', ...claim }), 'client shop is declared by Realm'],
      [
        declare('RealmIdentityProvider', 'evil', { alias: 'evil', providerId: 'oidc', trustEmail: true }),
        'kind not permitted',
      ],
      [declare('RealmRequiredAction', 'verify', { alias: 'VERIFY_EMAIL', enabled: false }), 'kind not permitted'],
      [declare('RealmClientScope', 'profile', {}), 'kind not permitted'],
      [declare('RealmLocalization', 'en', { texts: { a: 'b' } }), 'kind not permitted'],
      [
        declare('RealmComponent', 'ldap', {
          ...{ providerId: 'ldap', providerType: 'org.keycloak.storage.UserStorageProvider' },
          config: { editMode: ['READ_ONLY'] },
        }),
        'kind not permitted',
      ],
      [declare('RealmGroup', 'staff', {}), 'group /staff is declared by Realm'],
      [declare('RealmRole', 'admin', { composites: { client: { shop: ['admin'] } } }), 'kind not permitted'],
      [
        declare('RealmRole', 'lead', { client: 'app', composites: { client: { shop: ['admin'] } } }),
        'may not grant role admin of client shop',
      ],
    ]
    for (const [item] of refused) await team.apply(item)
    for (const [item, reason] of refused) {
      const { status } = await team.waitForReady(item, 'False', 'NotAdmitted')
      expect(status.conditions[0].message).toContain(reason)
      expect(status.conditions[0].message).toContain(`namespace ${team.namespace} may not`)
    }
    expect(await findObject(realm, 'client', 'shop')).toMatchObject({ redirectUris: ['https://shop.example.org/*'] })
    for (const item of permitted) await team.waitForReady(item, 'True')
  })

  test('a request to the API in the name of a tenant is refused like its resource', async () => {
    const { team, realm, declare } = await createTenant()
    const group = declare('RealmGroup', 'crew', {})
    await team.apply(group)
    const { status } = await team.waitForReady(group, 'False', 'NotAdmitted')
    const { call } = await testServer()
    const text = JSON.stringify({ ...group, spec: { realm } })
    const body = { name: `kubernetes:${team.namespace}`, files: [{ file: 'team.yaml', text }] }
    const response = await call('POST', '/regent/v1/apply', { body })
    expect([response.status, JSON.stringify(response.body)]).toEqual([
      400,
      expect.stringContaining(status.conditions[0].message),
    ])
    const { body: explanations } = await call('POST', '/regent/v1/explain', { body })
    expect(explanations).toMatchObject([{ isPermitted: false, message: status.conditions[0].message }])
  })

  test('kinds and patterns of names extend the permissions, and a change of them is applied at once', async () => {
    const { owner, team, realm, declare, acme } = await createTenant({
      kinds: ['RealmClient', 'RealmGroup'],
      names: ['team-*', '/team-*'],
      roles: ['client/shop/admin'],
    })
    const group = declare('RealmGroup', 'team-crew', { clientRoles: { shop: ['admin'] } })
    const other = declare('RealmClient', 'other', {})
    for (const item of [group, other]) await team.apply(item)
    await team.waitForReady(group, 'True')
    const { status } = await team.waitForReady(other, 'False', 'NotAdmitted')
    expect(status.conditions[0].message).toContain('name not permitted. Permitted names: team-*, /team-*')
    const spec = acme.spec as object
    await owner.apply({ ...acme, spec: { ...spec, allowedNamespaces: [{ name: team.namespace, names: ['other'] }] } })
    await team.waitForReady(other, 'True')
    await team.waitForReady(group, 'False', 'NotAdmitted')
    // What was applied before stays until the tenant removes it.
    expect(await findObject(realm, 'group', '/team-crew')).toBeDefined()
    await team.delete(group)
    await waitUntil(async () => (await findObject(realm, 'group', '/team-crew')) === undefined)
  })
})
