// A masked or absent secret is retained only if its destination does not change: otherwise a caller could have it sent to their own server.
import { describe, expect, onTestFinished, test } from 'vitest'
import { readObject } from '../../src/kinds/json.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { createAdminTokens } from '../support/admin-tokens.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, createRealm, create } = await testServer()
const { service } = await testService()
const MASK = '**********'

/** Plans or applies a source with the document, and returns the response. */
const runSource = async (name: string, document: object, path: 'plan' | 'apply' = 'apply') => {
  const files = [{ file: 'x.json', text: JSON.stringify(document), values: [{}] }]
  const { status, body } = await call('POST', `/regent/v1/${path}`, {
    body: { name: `s-${name}`, revision: String(Math.random()), files },
  })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const listChangedPaths = (outcome: { realms: { plan: { actions: { changes: { path: string }[] }[] } }[] }) =>
  outcome.realms.flatMap(({ plan }) => plan.actions.flatMap(({ changes }) => changes.map(({ path }) => path)))

/** Returns the password of the realm's mail server in plain text. */
async function readSmtpPassword(realm: string): Promise<string> {
  const { representation } = await getLiveObject(service, SYSTEM, realm, 'realm', realm)
  return service.vault.open(String(readObject(representation.smtpServer).password))
}

const smtpSettings = {
  host: 'smtp.example',
  port: '587',
  from: 'a@b.example',
  auth: 'true',
  user: 'u1',
  password: 'S3CRET',
}
const tokenSettings = {
  authType: 'token',
  authTokenUrl: 'https://t.example/t',
  authTokenClientId: 'c',
  authTokenClientSecret: 'T',
}

describe('the mail server of a realm', () => {
  test.each([
    ['the host', { host: 'evil.example' }],
    ['the port', { port: '588' }],
    ['the port to the default', { port: undefined }],
    ['the user', { user: 'u2' }],
    ['the token URL', { authTokenUrl: 'https://evil.example/t' }],
    ['the client id for access tokens', { authTokenClientId: 'd' }],
  ])('loses masked secrets if an update changes %s', async (_, change) => {
    const path = await createRealm({ smtpServer: { ...smtpSettings, ...tokenSettings } })
    const { smtpServer } = (await call('GET', path)).body
    expect(smtpServer).toMatchObject({ password: MASK, authTokenClientSecret: MASK })
    expect((await call('PUT', path, { body: { smtpServer: { ...smtpServer, ...change } } })).status).toBe(204)
    const updated = (await call('GET', path)).body.smtpServer
    expect(updated).not.toHaveProperty('password')
    expect(updated).not.toHaveProperty('authTokenClientSecret')
  })

  test('retains masked secrets if only other settings change, except STARTTLS that is turned off, and gets the new password in an update with a new host', async () => {
    const path = await createRealm({ smtpServer: smtpSettings })
    const { smtpServer } = (await call('GET', path)).body
    await call('PUT', path, { body: { smtpServer: { ...smtpServer, from: 'c@d.example', starttls: 'true' } } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ from: 'c@d.example', password: MASK })
    await call('PUT', path, { body: { smtpServer: { ...smtpServer, starttls: 'false' } } })
    expect((await call('GET', path)).body.smtpServer).not.toHaveProperty('password')
    await call('PUT', path, { body: { smtpServer: { ...smtpServer, host: 'other.example', password: 'new' } } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ host: 'other.example', password: MASK })
  })

  test.each([
    ['host', 'evil.example'],
    ['port', '588'],
    ['user', 'u2'],
    ['authTokenUrl', 'https://evil.example/t'],
  ])(
    'loses masked secrets if %s is removed by one update and set to another value by a second one',
    async (setting, value) => {
      const path = await createRealm({ smtpServer: { ...smtpSettings, ...tokenSettings } })
      const { [setting]: _, ...remaining } = (await call('GET', path)).body.smtpServer
      await call('PUT', path, { body: { smtpServer: remaining } })
      const masked = { ...remaining, [setting]: value, password: MASK, authTokenClientSecret: MASK }
      await call('PUT', path, { body: { smtpServer: masked } })
      const updated = (await call('GET', path)).body.smtpServer
      expect(updated).not.toHaveProperty('password')
      expect(updated).not.toHaveProperty('authTokenClientSecret')
    },
  )

  test.each([
    [{ port: '25' }, {}, true],
    [{}, { port: '25' }, true],
    [{}, { port: '465' }, false],
    [{ port: '465' }, {}, false],
    [{ ssl: 'true' }, { ssl: 'true', port: '465' }, true],
    [{ ssl: 'true' }, {}, false],
    [{ ssl: 'true', port: '465' }, { port: '465' }, false],
    [{ port: '465' }, { ssl: 'true', port: '465' }, true],
  ])('with %j, updated to %j, retains the masked password: %s', async (before, after, isRetained) => {
    const { port: _, ...server } = smtpSettings
    const path = await createRealm({ smtpServer: { ...server, ...before } })
    await call('PUT', path, { body: { smtpServer: { ...server, ...after, password: MASK } } })
    expect('password' in (await call('GET', path)).body.smtpServer).toBe(isRetained)
  })

  test('retains the masked password in an update without a host, to which nothing is sent', async () => {
    const path = await createRealm({ smtpServer: smtpSettings })
    await call('PUT', path, { body: { smtpServer: { from: 'a@b.example', password: MASK } } })
    expect((await call('GET', path)).body.smtpServer).toEqual({ from: 'a@b.example', password: MASK })
  })

  test('gets the stored password in testSMTPConnection only with unchanged settings', async () => {
    const credentials: unknown[] = []
    const mailbox = await openMailbox({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        credentials.push([username, password])
        done(null, { user: username })
      },
    })
    onTestFinished(() => mailbox.close())
    const server = { ...smtpSettings, host: '127.0.0.1', port: mailbox.port }
    const path = await createRealm({ smtpServer: server })
    const [token] = await createAdminTokens('master', [{ realmRoles: ['admin'] }])
    const maskedServer = { ...server, password: MASK }
    expect((await call('POST', `${path}/testSMTPConnection`, { token: token!, body: maskedServer })).status).toBe(204)
    expect(credentials).toEqual([['u1', 'S3CRET']])
    await call('POST', `${path}/testSMTPConnection`, { token: token!, body: { ...maskedServer, user: 'u2' } })
    expect(JSON.stringify(credentials.slice(1))).not.toContain('S3CRET')
  })

  test.each([
    ['absent', {}],
    ['masked', { password: MASK }],
  ])(
    'loses a secret that is %s in a document with another host, and the plan shows the change',
    async (title, password) => {
      const path = await createRealm({ smtpServer: smtpSettings })
      const name = path.split('/').at(-1)!
      const document = { realm: name, smtpServer: { host: 'evil.example', ...password } }
      const plan = await runSource(name, document, 'plan')
      expect(listChangedPaths(plan)).toEqual(['smtpServer.host', 'smtpServer.password'])
      if (title === 'masked') expect(JSON.stringify(plan)).toContain('smtpServer.password is masked and is removed')
      await runSource(name, document)
      expect((await call('GET', path)).body.smtpServer).not.toHaveProperty('password')
      expect(listChangedPaths(await runSource(name, document, 'plan'))).toEqual([])
    },
  )

  test('has the password that a document declares, and retains it if only other settings change', async () => {
    const path = await createRealm({ smtpServer: smtpSettings })
    const name = path.split('/').at(-1)!
    await runSource(name, { realm: name, smtpServer: { host: 'smtp.example', password: 'S3CRET' } })
    expect(await readSmtpPassword(name)).toBe('S3CRET')
    await runSource(name, { realm: name, smtpServer: { host: 'other.example', password: 'NEW' } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ host: 'other.example', password: MASK })
    expect(await readSmtpPassword(name)).toBe('NEW')
    await runSource(name, { realm: name, smtpServer: { host: 'other.example', password: MASK, from: 'x@y.example' } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ from: 'x@y.example', password: MASK })
    expect(await readSmtpPassword(name)).toBe('NEW')
  })

  test('loses the secret when a rollback changes the host', async () => {
    const path = await createRealm({ smtpServer: { ...smtpSettings, host: 'evil.example' } })
    const name = path.split('/').at(-1)!
    const [{ number: revision }] = (await call('GET', `/regent/v1/history/${name}`)).body
    await call('PUT', path, { body: { smtpServer: smtpSettings } })
    const response = await call('POST', `/regent/v1/rollback/${name}`, { body: { revision } })
    expect(response.status, JSON.stringify(response.body)).toBe(200)
    const updated = (await call('GET', path)).body.smtpServer
    expect(updated.host).toBe('evil.example')
    expect(updated).not.toHaveProperty('password')
  })
})

const providerUrls = { authorizationUrl: 'https://i.example/a', tokenUrl: 'https://i.example/t' }
const config = { clientId: 'c', clientSecret: 'S3CRET', ...providerUrls }

describe('an identity provider', () => {
  const createProvider = async (settings = {}, providerId = 'oidc') =>
    create(`${await createRealm()}/identity-provider/instances`, {
      alias: 'idp',
      providerId,
      config: { ...config, ...settings },
    })
  const updateConfig = async (path: string, change: (config: Record<string, string>) => object) => {
    const provider = (await call('GET', path)).body
    const body = { ...provider, config: { ...change(provider.config), clientSecret: MASK } }
    expect((await call('PUT', path, { body })).status).toBe(204)
    return (await call('GET', path)).body.config
  }

  test.each([
    ['tokenUrl', 'https://evil.example/t'],
    ['tokenIntrospectionUrl', 'https://evil.example/i'],
    ['userInfoUrl', 'https://evil.example/u'],
    ['logoutUrl', 'https://evil.example/l'],
    ['baseUrl', 'https://evil.example'],
    ['apiUrl', 'https://evil.example'],
  ])('loses its masked secret if one update or two updates change %s', async (setting, value) => {
    for (const settings of [{}, { [setting]: 'https://i.example/x' }]) {
      const path = await createProvider(settings)
      expect(await updateConfig(path, (settings) => ({ ...settings, [setting]: value }))).not.toHaveProperty(
        'clientSecret',
      )
    }
    const path = await createProvider({ [setting]: 'https://i.example/x' })
    await updateConfig(path, ({ [setting]: _, ...remaining }) => remaining)
    expect(await updateConfig(path, (settings) => ({ ...settings, [setting]: value }))).not.toHaveProperty(
      'clientSecret',
    )
  })

  test('retains its masked secret in an update without URLs and with another client id', async () => {
    const path = await createProvider()
    expect(await updateConfig(path, () => ({ clientId: 'd' }))).toEqual({ clientId: 'd', clientSecret: MASK })
    // The response only has the mask, so the export shows whether the secret is the same.
    const realmExport = await call('GET', `/regent/v1/export/${path.split('/')[3]}?secrets=true`)
    expect(JSON.stringify(realmExport.body)).toContain('S3CRET')
    expect(await updateConfig(path, () => config)).not.toHaveProperty('clientSecret')
  })

  test.each(['baseUrl', 'apiUrl'])(
    'loses its masked secret if an update removes %s, since the default is a public server',
    async (setting) => {
      const path = await createProvider({ [setting]: 'https://github.example' }, 'github')
      expect(await updateConfig(path, ({ [setting]: _, ...remaining }) => remaining)).not.toHaveProperty('clientSecret')
    },
  )

  test('loses its secret if a document changes its provider type', async () => {
    const path = await createProvider({}, 'github')
    const name = path.split('/')[3]!
    await runSource(name, { realm: name, identityProviders: [{ alias: 'idp', providerId: 'oidc' }] })
    expect((await call('GET', path)).body.config).not.toHaveProperty('clientSecret')
  })

  test('loses its secret if a document removes its token URL and another document declares another one', async () => {
    const path = await createProvider()
    const name = path.split('/')[3]!
    const toDocument = (tokenUrl: string | null) => ({
      realm: name,
      identityProviders: [{ alias: 'idp', providerId: 'oidc', config: { tokenUrl } }],
    })
    await runSource(name, toDocument(null))
    expect((await call('GET', path)).body.config.clientSecret).toBe(MASK)
    await runSource(name, toDocument('https://evil.example/t'))
    expect((await call('GET', path)).body.config).not.toHaveProperty('clientSecret')
  })

  test('loses its secret when a rollback changes its token URL', async () => {
    const path = await createProvider({ tokenUrl: 'https://evil.example/t' })
    const name = path.split('/')[3]!
    const [{ number: revision }] = (await call('GET', `/regent/v1/history/${name}`)).body
    await updateConfig(path, ({ tokenUrl: _, ...remaining }) => remaining)
    const provider = (await call('GET', path)).body
    await call('PUT', path, { body: { ...provider, config: { ...provider.config, clientSecret: 'N3W' } } })
    expect((await call('POST', `/regent/v1/rollback/${name}`, { body: { revision } })).status).toBe(200)
    const updated = (await call('GET', path)).body.config
    expect(updated.tokenUrl).toBe('https://evil.example/t')
    expect(updated).not.toHaveProperty('clientSecret')
  })

  test('retains its masked secret if an update changes the authorization URL', async () => {
    const path = await create(`${await createRealm()}/identity-provider/instances`, {
      alias: 'idp',
      providerId: 'oidc',
      config,
    })
    const provider = (await call('GET', path)).body
    const body = { ...provider, config: { ...provider.config, authorizationUrl: 'https://j.example/a' } }
    await call('PUT', path, { body })
    expect((await call('GET', path)).body.config.clientSecret).toBe(MASK)
  })

  test('loses its secret if a document declares another token URL', async () => {
    const path = await createRealm()
    const name = path.split('/').at(-1)!
    await create(`${path}/identity-provider/instances`, { alias: 'idp', providerId: 'oidc', config })
    const provider = { alias: 'idp', providerId: 'oidc', config: { tokenUrl: 'https://evil.example/t' } }
    const outcome = await runSource(name, { realm: name, identityProviders: [provider] })
    expect(listChangedPaths(outcome)).toContain('config.clientSecret')
    const updated = (await call('GET', `${path}/identity-provider/instances/idp`)).body.config
    expect(updated).not.toHaveProperty('clientSecret')
  })
})

describe('a user store', () => {
  const connection = {
    vendor: ['other'],
    connectionUrl: ['ldap://l.example'],
    bindDn: ['cn=a'],
    bindCredential: ['S3CRET'],
  }
  const schema = {
    usersDn: ['ou=p'],
    rdnLDAPAttribute: ['uid'],
    uuidLDAPAttribute: ['entryUUID'],
    editMode: ['READ_ONLY'],
  }
  const store = {
    name: 'ldap',
    providerId: 'ldap',
    providerType: 'org.keycloak.storage.UserStorageProvider',
    config: {
      ...connection,
      ...schema,
      usernameLDAPAttribute: ['uid'],
      userObjectClasses: ['inetOrgPerson'],
      authType: ['simple'],
    },
  }
  test.each<[string, string, object]>([
    ['connectionUrl', 'ldap://evil.example', {}],
    ['bindDn', 'cn=b', {}],
    ['connectionUrl', 'ldap://evil.example', { bindCredential: undefined }],
  ])('loses its bind credential if an update changes %s to %s with %j', async (setting, value, credential) => {
    const path = await create(`${await createRealm()}/components`, store)
    const component = (await call('GET', path)).body
    expect(component.config.bindCredential).toEqual([MASK])
    await call('PUT', path, { body: { ...component, config: { ...component.config, priority: ['3'] } } })
    expect((await call('GET', path)).body.config.bindCredential).toEqual([MASK])
    const body = { ...component, config: { ...component.config, [setting]: [value], ...credential } }
    expect((await call('PUT', path, { body })).status).toBe(204)
    expect((await call('GET', path)).body.config).not.toHaveProperty('bindCredential')
  })
})

describe('a provider of generated keys', () => {
  test.each([
    ['rsa-generated', 'keySize', '2048', '3072'],
    ['hmac-generated', 'secretSize', '64', '32'],
    ['aes-generated', 'secretSize', '16', '32'],
    ['ecdsa-generated', 'ecdsaEllipticCurveKey', 'P-256', 'P-384'],
    ['eddsa-generated', 'eddsaEllipticCurveKey', 'Ed25519', 'Ed448'],
    ['ecdh-generated', 'ecdhEllipticCurveKey', 'P-256', 'P-384'],
    ['rsa-enc-generated', 'keySize', '2048', '3072'],
  ])('%s retains its keys in updates that do not change %s', async (providerId, setting, before, after) => {
    const path = await createRealm()
    const type = { providerId, providerType: 'org.keycloak.keys.KeyProvider' }
    const componentPath = await create(`${path}/components`, {
      ...type,
      name: 'k',
      config: { priority: ['5'], [setting]: [before] },
    })
    const component = (await call('GET', componentPath)).body
    const listKeyIds = async () => {
      const keys = (await call('GET', `${path}/keys`)).body.keys as { providerId: string; kid: string }[]
      return keys.filter((key) => key.providerId === component.id).map(({ kid }) => kid)
    }
    const keyIds = await listKeyIds()
    expect(keyIds.length).toBeGreaterThan(0)
    const settings = [
      'privateKey',
      'certificate',
      'secret',
      'kid',
      'ecdsaPrivateKey',
      'ecdsaPublicKey',
      'eddsaPrivateKey',
    ]
    const allSettings = [...settings, 'eddsaPublicKey', 'ecdhPrivateKey', 'ecdhPublicKey']
    for (const value of [[''], null, [], [MASK], ['another']]) {
      const names = allSettings.filter((name) => name !== 'kid' || value?.[0] !== 'another')
      const secrets = Object.fromEntries(names.map((name) => [name, value]))
      const body = { ...component, config: { ...component.config, ...secrets } }
      expect((await call('PUT', componentPath, { body })).status).toBe(204)
      expect(await listKeyIds(), JSON.stringify(value)).toEqual(keyIds)
    }
    for (const body of [
      component,
      { ...component, config: { priority: ['9'] } },
      { ...component, config: undefined },
    ]) {
      expect((await call('PUT', componentPath, { body })).status).toBe(204)
      expect(await listKeyIds()).toEqual(keyIds)
    }
    const body = { ...component, config: { ...component.config, [setting]: [after] } }
    expect((await call('PUT', componentPath, { body })).status).toBe(204)
    expect(await listKeyIds()).not.toEqual(keyIds)
  })
})
