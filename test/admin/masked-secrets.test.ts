// A secret follows its destination: one that is masked, or not declared, is retained only while it is sent to where it was sent before.
import { afterAll, describe, expect, test } from 'vitest'
import { createAdminTokens } from '../support/admin-tokens.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'

const { call, realm, make } = await testServer()
const MASK = '**********'

const applied = async (name: string, document: object, path: 'plan' | 'apply' = 'apply') => {
  const files = [{ file: 'x.json', text: JSON.stringify(document), values: [{}] }]
  const { status, body } = await call('POST', `/regent/v1/${path}`, {
    body: { name: `s-${name}`, revision: String(Math.random()), files },
  })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const changesIn = (outcome: { realms: { plan: { actions: { changes: { path: string }[] }[] } }[] }) =>
  outcome.realms.flatMap(({ plan }) => plan.actions.flatMap(({ changes }) => changes.map(({ path }) => path)))

const smtp = { host: 'smtp.example', port: '587', from: 'a@b.example', auth: 'true', user: 'u1', password: 'S3CRET' }
const token = {
  authType: 'token',
  authTokenUrl: 'https://t.example/t',
  authTokenClientId: 'c',
  authTokenClientSecret: 'T',
}

describe('the mail server of a realm', () => {
  test.each([
    ['the host', { host: 'evil.example' }],
    ['the port', { port: '588' }],
    ['the port, left out', { port: undefined }],
    ['the user', { user: 'u2' }],
    ['the address of access tokens', { authTokenUrl: 'https://evil.example/t' }],
    ['the client of access tokens', { authTokenClientId: 'd' }],
  ])('loses masked secrets with another value of %s', async (_, change) => {
    const path = await realm({ smtpServer: { ...smtp, ...token } })
    const { smtpServer } = (await call('GET', path)).body
    expect(smtpServer).toMatchObject({ password: MASK, authTokenClientSecret: MASK })
    expect((await call('PUT', path, { body: { smtpServer: { ...smtpServer, ...change } } })).status).toBe(204)
    const now = (await call('GET', path)).body.smtpServer
    expect(now).not.toHaveProperty('password')
    expect(now).not.toHaveProperty('authTokenClientSecret')
  })

  test('keeps masked secrets where only other settings change, and takes a new one with a new host', async () => {
    const path = await realm({ smtpServer: smtp })
    const { smtpServer } = (await call('GET', path)).body
    await call('PUT', path, { body: { smtpServer: { ...smtpServer, from: 'c@d.example', starttls: 'true' } } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ from: 'c@d.example', password: MASK })
    await call('PUT', path, { body: { smtpServer: { ...smtpServer, host: 'other.example', password: 'new' } } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ host: 'other.example', password: MASK })
  })

  test.each([
    ['host', 'evil.example'],
    ['port', '588'],
    ['user', 'u2'],
    ['authTokenUrl', 'https://evil.example/t'],
  ])('loses masked secrets where another %s is set in two steps', async (setting, value) => {
    const path = await realm({ smtpServer: { ...smtp, ...token } })
    const { [setting]: _, ...without } = (await call('GET', path)).body.smtpServer
    await call('PUT', path, { body: { smtpServer: without } })
    const masked = { ...without, [setting]: value, password: MASK, authTokenClientSecret: MASK }
    await call('PUT', path, { body: { smtpServer: masked } })
    const now = (await call('GET', path)).body.smtpServer
    expect(now).not.toHaveProperty('password')
    expect(now).not.toHaveProperty('authTokenClientSecret')
  })

  test.each([
    [{ port: '25' }, {}, true],
    [{}, { port: '25' }, true],
    [{}, { port: '465' }, false],
    [{ port: '465' }, {}, false],
    [{ ssl: 'true' }, { ssl: 'true', port: '465' }, true],
    [{ ssl: 'true' }, {}, false],
    [{ ssl: 'true', port: '465' }, { port: '465' }, true],
  ])('of %j, with %j, is the same only by its effective port', async (before, after, isSame) => {
    const { port: _, ...server } = smtp
    const path = await realm({ smtpServer: { ...server, ...before } })
    await call('PUT', path, { body: { smtpServer: { ...server, ...after, password: MASK } } })
    expect('password' in (await call('GET', path)).body.smtpServer).toBe(isSame)
  })

  test('keeps the password without a host, where nothing is sent', async () => {
    const path = await realm({ smtpServer: smtp })
    await call('PUT', path, { body: { smtpServer: { from: 'a@b.example', password: MASK } } })
    expect((await call('GET', path)).body.smtpServer).toEqual({ from: 'a@b.example', password: MASK })
  })

  test('in a test gets the masked password only if saving would retain it', async () => {
    const credentials: unknown[] = []
    const mailbox = await openMailbox({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, done) {
        credentials.push([username, password])
        done(null, { user: username })
      },
    })
    afterAll(() => mailbox.close())
    const server = { ...smtp, host: '127.0.0.1', port: mailbox.port }
    const path = await realm({ smtpServer: server })
    const [token] = await createAdminTokens('master', [{ realmRoles: ['admin'] }])
    const masked = { ...server, password: MASK }
    expect((await call('POST', `${path}/testSMTPConnection`, { token: token!, body: masked })).status).toBe(204)
    expect(credentials).toEqual([['u1', 'S3CRET']])
    await call('POST', `${path}/testSMTPConnection`, { token: token!, body: { ...masked, user: 'u2' } })
    expect(JSON.stringify(credentials.slice(1))).not.toContain('S3CRET')
  })

  test.each([
    ['absent', {}],
    ['masked', { password: MASK }],
  ])('loses a secret that is %s in a document with another host, and the plan shows it', async (form, more) => {
    const path = await realm({ smtpServer: smtp })
    const name = path.split('/').at(-1)!
    const document = { realm: name, smtpServer: { host: 'evil.example', ...more } }
    const plan = await applied(name, document, 'plan')
    expect(changesIn(plan)).toEqual(['smtpServer.host', 'smtpServer.password'])
    if (form === 'masked') expect(JSON.stringify(plan)).toContain('smtpServer.password is masked and is removed')
    await applied(name, document)
    expect((await call('GET', path)).body.smtpServer).not.toHaveProperty('password')
    expect(changesIn(await applied(name, document, 'plan'))).toEqual([])
  })

  test('keeps a secret that the document declares, with another host or not', async () => {
    const path = await realm({ smtpServer: smtp })
    const name = path.split('/').at(-1)!
    await applied(name, { realm: name, smtpServer: { host: 'smtp.example', password: 'S3CRET' } })
    expect((await call('GET', path)).body.smtpServer.password).toBe(MASK)
    await applied(name, { realm: name, smtpServer: { host: 'other.example', password: 'S3CRET' } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ host: 'other.example', password: MASK })
    await applied(name, { realm: name, smtpServer: { host: 'other.example', password: MASK, from: 'x@y.example' } })
    expect((await call('GET', path)).body.smtpServer).toMatchObject({ from: 'x@y.example', password: MASK })
  })

  test('loses the secret when a rollback changes the host', async () => {
    const path = await realm({ smtpServer: { ...smtp, host: 'evil.example' } })
    const name = path.split('/').at(-1)!
    const [{ number: revision }] = (await call('GET', `/regent/v1/history/${name}`)).body
    await call('PUT', path, { body: { smtpServer: smtp } })
    const back = await call('POST', `/regent/v1/rollback/${name}`, { body: { revision } })
    expect(back.status, JSON.stringify(back.body)).toBe(200)
    const now = (await call('GET', path)).body.smtpServer
    expect(now.host).toBe('evil.example')
    expect(now).not.toHaveProperty('password')
  })
})

const urls = { authorizationUrl: 'https://i.example/a', tokenUrl: 'https://i.example/t' }
const config = { clientId: 'c', clientSecret: 'S3CRET', ...urls }

describe('an identity provider', () => {
  const newProvider = async (more = {}, providerId = 'oidc') =>
    make(`${await realm()}/identity-provider/instances`, { alias: 'idp', providerId, config: { ...config, ...more } })
  const put = async (path: string, change: (config: Record<string, string>) => object) => {
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
  ])('loses its masked secret with another %s, in one step or in two', async (setting, value) => {
    for (const change of [{}, { [setting]: 'https://i.example/x' }]) {
      const path = await newProvider(change)
      expect(await put(path, (settings) => ({ ...settings, [setting]: value }))).not.toHaveProperty('clientSecret')
    }
    const path = await newProvider({ [setting]: 'https://i.example/x' })
    await put(path, ({ [setting]: _, ...without }) => without)
    expect(await put(path, (settings) => ({ ...settings, [setting]: value }))).not.toHaveProperty('clientSecret')
  })

  test('keeps it without a token URL, and with another client id', async () => {
    const path = await newProvider()
    expect(await put(path, () => ({ clientId: 'd' }))).toEqual({ clientId: 'd', clientSecret: MASK })
    // What was kept is the secret itself, and no other one.
    const exported = await call('GET', `/regent/v1/export/${path.split('/')[3]}?secrets=true`)
    expect(JSON.stringify(exported.body)).toContain('S3CRET')
    expect(await put(path, () => config)).not.toHaveProperty('clientSecret')
  })

  test.each(['baseUrl', 'apiUrl'])(
    'loses it without %s, since it would be sent to the public network',
    async (setting) => {
      const path = await newProvider({ [setting]: 'https://own.example' }, 'github')
      expect(await put(path, ({ [setting]: _, ...without }) => without)).not.toHaveProperty('clientSecret')
    },
  )

  test('loses it as a provider of another type in a document', async () => {
    const path = await newProvider({}, 'github')
    const name = path.split('/')[3]!
    await applied(name, { realm: name, identityProviders: [{ alias: 'idp', providerId: 'oidc' }] })
    expect((await call('GET', path)).body.config).not.toHaveProperty('clientSecret')
  })

  test('loses it in documents that remove its URL and declare another one', async () => {
    const path = await newProvider()
    const name = path.split('/')[3]!
    const declared = (tokenUrl: string | null) => ({
      realm: name,
      identityProviders: [{ alias: 'idp', providerId: 'oidc', config: { tokenUrl } }],
    })
    await applied(name, declared(null))
    expect((await call('GET', path)).body.config.clientSecret).toBe(MASK)
    await applied(name, declared('https://evil.example/t'))
    expect((await call('GET', path)).body.config).not.toHaveProperty('clientSecret')
  })

  test('loses it when a rollback changes its URL', async () => {
    const path = await newProvider({ tokenUrl: 'https://evil.example/t' })
    const name = path.split('/')[3]!
    const [{ number: revision }] = (await call('GET', `/regent/v1/history/${name}`)).body
    await put(path, ({ tokenUrl: _, ...without }) => without)
    const provider = (await call('GET', path)).body
    await call('PUT', path, { body: { ...provider, config: { ...provider.config, clientSecret: 'N3W' } } })
    expect((await call('POST', `/regent/v1/rollback/${name}`, { body: { revision } })).status).toBe(200)
    const now = (await call('GET', path)).body.config
    expect(now.tokenUrl).toBe('https://evil.example/t')
    expect(now).not.toHaveProperty('clientSecret')
  })

  test('keeps it with another authorization URL', async () => {
    const path = await make(`${await realm()}/identity-provider/instances`, {
      alias: 'idp',
      providerId: 'oidc',
      config,
    })
    const provider = (await call('GET', path)).body
    const body = { ...provider, config: { ...provider.config, authorizationUrl: 'https://j.example/a' } }
    await call('PUT', path, { body })
    expect((await call('GET', path)).body.config.clientSecret).toBe(MASK)
  })

  test('loses it in a document with another token URL', async () => {
    const path = await realm()
    const name = path.split('/').at(-1)!
    await make(`${path}/identity-provider/instances`, { alias: 'idp', providerId: 'oidc', config })
    const provider = { alias: 'idp', providerId: 'oidc', config: { tokenUrl: 'https://evil.example/t' } }
    const outcome = await applied(name, { realm: name, identityProviders: [provider] })
    expect(changesIn(outcome)).toContain('config.clientSecret')
    const now = (await call('GET', `${path}/identity-provider/instances/idp`)).body.config
    expect(now).not.toHaveProperty('clientSecret')
  })
})

describe('a user store', () => {
  const settings = {
    vendor: ['other'],
    connectionUrl: ['ldap://l.example'],
    bindDn: ['cn=a'],
    bindCredential: ['S3CRET'],
  }
  const more = {
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
      ...settings,
      ...more,
      usernameLDAPAttribute: ['uid'],
      userObjectClasses: ['inetOrgPerson'],
      authType: ['simple'],
    },
  }
  test.each<[string, string, object]>([
    ['connectionUrl', 'ldap://evil.example', {}],
    ['bindDn', 'cn=b', {}],
    ['connectionUrl', 'ldap://evil.example', { bindCredential: undefined }],
  ])('loses its masked credential with another %s', async (setting, value, change) => {
    const path = await make(`${await realm()}/components`, store)
    const component = (await call('GET', path)).body
    expect(component.config.bindCredential).toEqual([MASK])
    await call('PUT', path, { body: { ...component, config: { ...component.config, priority: ['3'] } } })
    expect((await call('GET', path)).body.config.bindCredential).toEqual([MASK])
    const body = { ...component, config: { ...component.config, [setting]: [value], ...change } }
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
  ])('%s keeps its keys after any PUT, until %s changes', async (providerId, setting, from, to) => {
    const path = await realm()
    const type = { providerId, providerType: 'org.keycloak.keys.KeyProvider' }
    const at = await make(`${path}/components`, { ...type, name: 'k', config: { priority: ['5'], [setting]: [from] } })
    const component = (await call('GET', at)).body
    const keys = async () => {
      const all = (await call('GET', `${path}/keys`)).body.keys as { providerId: string; kid: string }[]
      return all.filter((key) => key.providerId === component.id).map(({ kid }) => kid)
    }
    const before = await keys()
    expect(before.length).toBeGreaterThan(0)
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
      const changed = allSettings.filter((name) => name !== 'kid' || value?.[0] !== 'another')
      const secrets = Object.fromEntries(changed.map((name) => [name, value]))
      const body = { ...component, config: { ...component.config, ...secrets } }
      expect((await call('PUT', at, { body })).status).toBe(204)
      expect(await keys(), JSON.stringify(value)).toEqual(before)
    }
    for (const body of [
      component,
      { ...component, config: { priority: ['9'] } },
      { ...component, config: undefined },
    ]) {
      expect((await call('PUT', at, { body })).status).toBe(204)
      expect(await keys()).toEqual(before)
    }
    const body = { ...component, config: { ...component.config, [setting]: [to] } }
    expect((await call('PUT', at, { body })).status).toBe(204)
    expect(await keys()).not.toEqual(before)
  })
})
