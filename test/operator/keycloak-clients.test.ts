// The resources of Keycloak's operator for clients: from files, and in a cluster beside Regent's own resources.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { installKeycloakClients, removeKeycloakClients } from '../support/keycloak-imports.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName, newRealm, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'
import { createNamespace, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

const { service } = await testService()

const toResource = (kind: string, name: string, realm: string, client: object) => ({
  apiVersion: 'k8s.keycloak.org/v2alpha1',
  ...{ kind, metadata: { name }, spec: { keycloakCRName: 'keycloak', realm, client } },
})
const findClient = async (realm: string, name: string) =>
  (await getLiveObject(service, SYSTEM, realm, 'client', name)).representation

// The values are those that Keycloak 26.7.3 creates for the same resource.
test.each([
  [
    'KeycloakOIDCClient',
    {
      loginFlows: ['STANDARD'],
      redirectUris: ['https://a.example/*'],
      displayName: 'App',
      appUrl: 'https://a.example',
    },
    {
      ...{ enabled: false, publicClient: true, standardFlowEnabled: true, directAccessGrantsEnabled: false },
      ...{ name: 'App', baseUrl: 'https://a.example', redirectUris: ['https://a.example/*'], fullScopeAllowed: false },
    },
  ],
  [
    'KeycloakOIDCClient',
    { enabled: true, loginFlows: ['DIRECT_GRANT', 'DEVICE'], auth: { method: 'client-secret', secret: 'secret-1' } },
    {
      ...{ enabled: true, publicClient: false, standardFlowEnabled: false, directAccessGrantsEnabled: true },
      ...{ clientAuthenticatorType: 'client-secret', fullScopeAllowed: false },
    },
  ],
  [
    'KeycloakSAMLClient',
    { nameIdFormat: 'persistent', signDocuments: true, forcePostBinding: true, frontChannelLogout: true },
    {
      ...{ enabled: false, protocol: 'saml', frontchannelLogout: true },
      attributes: expect.objectContaining({
        saml_name_id_format: 'persistent',
        'saml.server.signature': 'true',
        'saml.force.post.binding': 'true',
      }),
    },
  ],
])('a %s of a file is a client as Keycloak creates it', async (kind, client, expected) => {
  const realm = await newRealm(service)
  const source = createSource([toResource(kind, 'app', realm, client)], realm)
  await applySource(service, source)
  expect(await findClient(realm, 'app')).toMatchObject({ clientId: 'app', ...expected })
  expect((await planSources(service, SYSTEM, [source])).realms[0]?.plan.actions).toEqual([])
})

test('roles and the roles of the service account are those of the resource', async () => {
  const realm = await newRealm(service)
  const client = { enabled: true, loginFlows: ['SERVICE_ACCOUNT'], auth: { method: 'client-secret' } }
  const roles = { roles: ['reader'], serviceAccountRoles: ['reader', 'offline_access'] }
  await applySource(
    service,
    createSource([toResource('KeycloakOIDCClient', 'App', realm, { ...client, ...roles })], realm),
  )
  const account = await getLiveObject(service, SYSTEM, realm, 'user', 'service-account-app')
  expect(account.representation).toMatchObject({ serviceAccountClientId: 'App' })
  expect(account.representation.realmRoles).toContain('offline_access')
  expect(account.representation.clientRoles).toMatchObject({ App: ['reader'] })
})

test.each([
  [{ bogus: 1 }, /KeycloakOIDCClient: unknown field bogus/],
  [{ auth: { method: 'client-secret', token: 'x' } }, /KeycloakOIDCClient: unknown field token/],
  [{ auth: { secretRef: { name: 'a', key: 'b' } } }, /a reference to a Secret can only be read in Kubernetes/],
])('an invalid client is refused with its position: %j', (client, message) => {
  expect(() => createSource([toResource('KeycloakOIDCClient', 'app', newName(), client)])).toThrow(message)
})

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  beforeAll(() => installKeycloakClients(setup.kubernetes, 'KeycloakOIDCClient'))
  afterAll(() => removeKeycloakClients(setup.kubernetes, 'KeycloakOIDCClient'))

  test('a client of a realm that admits its namespace is applied with the Secret that it names, and again when it changes', async () => {
    const [owner, tenant] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const realm = newName()
    await owner.apply(resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: tenant.namespace }] }))
    const auth = { method: 'client-secret', secretRef: { name: 'app', key: 'secret' } }
    const app = (redirectUri: string) =>
      toResource('KeycloakOIDCClient', 'app', realm, { enabled: true, auth, redirectUris: [redirectUri] })
    await tenant.apply(app('https://one.example/*'))
    await tenant.apply({
      ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'app', labels: { 'regent.dev/secret': 'true' } } },
      stringData: { secret: 'clear-1' },
    })
    const hasUri = (uri: string) => async () =>
      (await findClient(realm, 'app').catch(() => undefined))?.redirectUris?.toString() === uri
    await waitUntil(hasUri('https://one.example/*'))
    expect(service.vault.open(String((await findClient(realm, 'app')).secret))).toBe('clear-1')
    await tenant.apply(app('https://two.example/*'))
    await waitUntil(hasUri('https://two.example/*'))
    // The owner is not changed by a client of another namespace that takes its name.
    await tenant.apply(toResource('KeycloakOIDCClient', 'account-console', realm, { enabled: false }))
    await waitUntil(async () => {
      const { body } = await setup.kubernetes.request(
        'GET',
        `/apis/events.k8s.io/v1/namespaces/${tenant.namespace}/events`,
      )
      return body.items.some(({ note }: { note: string }) => note.includes('client account-console is built in'))
    })
  })
})
