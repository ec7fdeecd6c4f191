// Messages about wrong resources: each has the path of the field, whether the API server refuses the resource or its status reports it.
import { beforeAll, describe, expect, test } from 'vitest'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'
import {
  createNamespace,
  findCondition,
  resource,
  setUpOperator,
  type TestNamespace,
  waitUntil,
} from '../support/test-operator.ts'

const flow = (step: object) => ({
  ...{ providerId: 'basic-flow', topLevel: true },
  authenticationExecutions: [{ requirement: 'REQUIRED', ...step }],
})
const workflow = (fields: object) => ({ on: 'user_created', steps: [{ uses: 'disable-user' }], ...fields })
const profile = {
  'org.keycloak.userprofile.UserProfileProvider': [
    { providerId: 'declarative-user-profile', config: { 'kc.user.profile.config': ['{"attributes":[{"name":""}]}'] } },
  ],
}

/** Specs that the definitions refuse, with the path in the message. */
const refused: readonly [kind: string, path: string, spec: object][] = [
  ['Realm', 'spec.displayName', { displayName: { a: 1 } }],
  ['Realm', 'spec.realm', { realm: 'a/b' }],
  ['Realm', 'spec.defaultLocale', { defaultLocale: 'zz zz' }],
  ['Realm', 'spec.supportedLocales[0]', { supportedLocales: ['??'] }],
  ['Realm', 'spec.interval', { interval: '9999999999h' }],
  ['Realm', 'spec.retryInterval', { retryInterval: '0s' }],
  ['Realm', 'spec.timeout', { timeout: '999999h' }],
  ['Realm', 'spec.users[0].email', { users: [{ username: 'ann', email: 'none' }] }],
  ['RealmAuthorizationResource', 'spec.scopes[0]', { client: 'shop', scopes: [{ name: 'view' }] }],
  ['RealmClient', 'spec.name', { name: ['Shop'] }],
  ['RealmClient', 'spec.protocol', { protocol: 'oidc' }],
  ['RealmClient', 'spec.baseUrl', { baseUrl: 'no url at all' }],
  ['RealmClientScope', 'spec.protocol', { protocol: 'oidc' }],
  ['RealmProtocolMapper', 'spec.protocol', { client: 'shop', protocol: 'oidc' }],
  ['RealmFlow', 'spec.providerId', { providerId: 'basic' }],
  ['RealmFlow', 'spec.authenticationExecutions[0].requirement', flow({ requirement: 'MUST' })],
  ['RealmAuthorizationPolicy', 'spec.logic', { client: 'shop', logic: 'MAYBE' }],
  ['RealmLocalization', 'spec.locale', { locale: 'zz zz' }],
  ['RealmUser', 'spec.email', { email: 'not an email' }],
]

/** Specs that are refused when they are applied, with the beginning of the message. */
const invalid: readonly [kind: string, name: string, message: string, spec: object][] = [
  ['Realm', 'length', 'spec.passwordPolicy: ', { passwordPolicy: 'length(x)' }],
  ['Realm', 'typing-error', 'spec.passwordPolicy: ', { passwordPolicy: 'lenght(8)' }],
  ['Realm', 'sender', 'spec.smtpServer.from: ', { smtpServer: { host: 'mail', from: 'nobody' } }],
  ['Realm', 'ssl', 'spec.sslRequired: ', { sslRequired: 'sometimes' }],
  ['Realm', 'profiles', 'spec.clientProfiles: ', { clientProfiles: { profiles: [{ name: '' }] } }],
  ['Realm', 'text', 'spec.attributes.a: ', { attributes: { a: { b: 1 } } }],
  [
    ...(['Realm', 'twice', 'spec.clients[1]: client a is declared twice, first at spec.clients[0]'] as const),
    { clients: [{ clientId: 'a' }, { clientId: 'a' }] },
  ],
  [
    'Realm',
    'nested',
    'spec.clients[1].rootUrl: ',
    { clients: [{ clientId: 'a' }, { clientId: 'b', rootUrl: 'none' }] },
  ],
  ['Realm', 'user-profile', 'spec.components.', { components: profile }],
  ['Realm', 'guard', 'spec.guards', { guards: { deletion: 0 } }],
  ['RealmClient', 'flag', 'spec.enabled: ', { enabled: { b: 1 } }],
  ['RealmClient', 'redirect', 'spec.redirectUris: ', { redirectUris: ['https://a.example.org/#fragment'] }],
  ['RealmClient', 'root-url', 'spec.rootUrl: ', { rootUrl: 'javascript:alert(1)' }],
  ['RealmClient', 'jwks', 'spec.attributes.jwks.url: ', { attributes: { 'jwks.url': 'none' } }],
  [
    ...(['RealmClient', 'public', 'spec.authorizationServicesEnabled: '] as const),
    { publicClient: true, authorizationServicesEnabled: true },
  ],
  ['RealmClientScope', 'scope', 'spec.name: ', { name: 'a b', protocol: 'openid-connect' }],
  ['RealmOrganization', 'domain', 'spec.domains: ', { domains: [{ name: 'not a domain' }] }],
  ['RealmOrganization', 'landing', 'spec.redirectUrl: ', { redirectUrl: 'none' }],
  ['RealmFlow', 'cycle', 'spec.authenticationExecutions: ', flow({ flowAlias: 'cycle' })],
  ['RealmFlow', 'step', 'spec.authenticationExecutions: ', flow({})],
  ['RealmWorkflow', 'event', 'spec.on: ', workflow({ on: 'user_creaed' })],
  ['RealmWorkflow', 'step', 'spec.steps: ', workflow({ steps: [{ uses: 'disable-usr' }] })],
  ['RealmWorkflow', 'condition', 'spec.if: ', workflow({ if: 'nonsense(' })],
  [
    ...(['RealmIdentityProvider', 'url', 'spec.config.authorizationUrl: '] as const),
    { providerId: 'oidc', config: { authorizationUrl: 'none' } },
  ],
  [
    ...(['RealmComponent', 'key', 'spec.config.priority: '] as const),
    { providerId: 'rsa-generated', providerType: 'org.keycloak.keys.KeyProvider', config: { priority: ['x'] } },
  ],
  ['RealmUser', 'password', 'spec.credentials: ', { credentials: [{ type: 'password' }] }],
  ['RealmUser', 'group', 'spec.groups[0]: ', { groups: ['/none'] }],
  ['RealmRole', 'composite', 'spec.composites.realm[0]: ', { composites: { realm: ['none'] } }],
]

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  let space: TestNamespace
  beforeAll(async () => {
    space = await createNamespace(setup.kubernetes)
    await space.apply(resource('Realm', 'acme', { realm: newName(), organizationsEnabled: true }))
  })
  const inRealm = (kind: string, name: string, spec: object) =>
    resource(kind, name, kind === 'Realm' ? { realm: newName(), ...spec } : { realmRef: { name: 'acme' }, ...spec })

  test.each(refused)('the definition of %s refuses an invalid value of %s', async (kind, path, spec) => {
    const message = await space.apply(inRealm(kind, 'refused', spec)).then(
      () => 'accepted',
      (error: Error) => error.message,
    )
    expect(message).toContain(`${path}: Invalid value`)
    expect(message).not.toContain('Too many')
  })

  test.each(invalid)('the status of the %s %s reports its path', async (kind, name, message, spec) => {
    const item = inRealm(kind, name, spec)
    await space.apply(item)
    const readMessage = async () => findCondition(await space.get(item), 'Ready')?.message ?? ''
    await waitUntil(async () => (await readMessage()) !== '' && !(await readMessage()).includes('does not exist yet'))
    expect((await readMessage()).slice(0, message.length)).toBe(message)
  })
})
