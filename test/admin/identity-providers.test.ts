// Identity providers over REST: cases without a recorded exchange of Keycloak.
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Element, parseXml } from '../../src/lib/xml.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const config = { clientId: 'regent', clientSecret: 'hush', tokenUrl: 'https://op.example.org/token' }
const postProvider = (path: string, body: object) => call('POST', `${path}/identity-provider/instances`, { body })
const createProvider = async (more: object = {}) => {
  const path = await createRealm()
  return create(`${path}/identity-provider/instances`, { alias: 'op', providerId: 'oidc', config, ...more })
}
const toErrorResponse = (errorMessage: string) => ({ status: 400, body: { errorMessage } })

let providerServer: Server
/** The URL of the server of a provider. */
let providerUrl: string
/** The responses of that server, by path. */
const documents: Record<string, string> = {
  '/op': JSON.stringify({ issuer: 'https://op.example.org', jwks_uri: 'https://op.example.org/keys' }),
  '/keys': JSON.stringify({ keys: [{ kty: 'RSA' }] }),
  '/none': JSON.stringify({ keys: [] }),
  '/text': 'text',
  '/saml': `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:d="http://www.w3.org/2000/09/xmldsig#" entityID="a&amp;b">
    <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <KeyDescriptor use="signing"><d:KeyInfo><d:X509Data><d:X509Certificate> MIIone </d:X509Certificate></d:X509Data></d:KeyInfo></KeyDescriptor>
      <KeyDescriptor><d:KeyInfo><d:X509Data><d:X509Certificate>MII
        both</d:X509Certificate></d:X509Data></d:KeyInfo></KeyDescriptor>
      <SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://other/out"/>
      <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://other/redirect"/>
      <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://other/post"/>
    </IDPSSODescriptor></EntityDescriptor>`,
  '/entity': '<!DOCTYPE a [<!ENTITY b "c">]><EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata"/>',
  '/service': '<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="sp"/>',
}

beforeAll(async () => {
  providerServer = createServer(({ url = '' }, response) => {
    response.statusCode = url in documents ? 200 : 404
    response.end(documents[url])
  })
  await new Promise<void>((resolve) => providerServer.listen(0, '127.0.0.1', resolve))
  providerUrl = `http://127.0.0.1:${(providerServer.address() as AddressInfo).port}`
})
afterAll(() => providerServer.close())

test('a new provider gets the internalId in its body, and GET finds it by that id', async () => {
  const path = await createProvider({ internalId: 'my-id' })
  expect((await call('GET', path)).body.internalId).toBe('my-id')
  expect((await call('GET', path.replace(/op$/, 'my-id'))).body.alias).toBe('op')
})

test('PUT clears absent fields, and does not change alias, internalId and providerId', async () => {
  const path = await createProvider({ internalId: 'my-id', displayName: 'The OP', trustEmail: true, enabled: false })
  expect((await call('PUT', path, { body: { internalId: 'other', providerId: 'saml' } })).status).toBe(204)
  const { types: _, ...representation } = (await call('GET', path)).body
  expect(representation).toEqual({ alias: 'op', internalId: 'my-id', providerId: 'oidc', enabled: true, config: {} })
})

test('the admin event of a provider has its id and masked secrets, and the one of a mapper has the path below its provider', async () => {
  const path = await createRealm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  const op = await create(`${path}/identity-provider/instances`, { alias: 'op', providerId: 'oidc', config })
  const mapper = { name: 'login', identityProviderAlias: 'op', identityProviderMapper: 'oidc-username-idp-mapper' }
  const id = (await create(`${op}/mappers`, mapper)).split('/').at(-1)
  const [mapperEvent, providerEvent] = (await call('GET', `${path}/admin-events`)).body
  expect(mapperEvent).toMatchObject({
    resourceType: 'IDENTITY_PROVIDER_MAPPER',
    resourcePath: `identity-provider/instances/op/mappers/${id}`,
  })
  expect(providerEvent).toMatchObject({
    resourceType: 'IDENTITY_PROVIDER',
    resourcePath: 'identity-provider/instances/op',
  })
  expect(JSON.parse(providerEvent.representation)).toEqual({
    alias: 'op',
    internalId: (await call('GET', op)).body.internalId,
    providerId: 'oidc',
    enabled: true,
    config: { ...config, clientSecret: '**********' },
  })
})

test('a secret that is a vault reference is not masked', async () => {
  const path = await createProvider({ config: { clientSecret: '${vault.op}' } })
  expect((await call('GET', path)).body.config).toEqual({ clientSecret: '${vault.op}' })
})

test('a mask in a new provider is not stored as a secret', async () => {
  const path = await createProvider({ config: { clientId: 'regent', clientSecret: '**********' } })
  expect((await call('GET', path)).body.config).toEqual({ clientId: 'regent' })
})

test('GET returns the default settings of provider types', async () => {
  const path = await createProvider({ providerId: 'kubernetes', config: {} })
  expect((await call('GET', path)).body).toMatchObject({
    hideOnLogin: true,
    config: { issuer: 'https://kubernetes.default.svc.cluster.local' },
    types: ['CLIENT_ASSERTION'],
  })
})

test('hideOnLogin is also read in its legacy form', async () => {
  const path = await createProvider({ config: { hideOnLoginPage: 'true' } })
  expect((await call('GET', path)).body).toMatchObject({ hideOnLogin: true, config: {} })
})

test.each([
  [{ tokenUrl: 'http://op.example.org' }, 'The url [token_url] requires secure connections'],
  [{ tokenUrl: 'http://8.8.8.8' }, 'The url [token_url] requires secure connections'],
  [{ jwksUrl: 'ftp://op.example.org' }, 'Invalid protocol/scheme for url [jwks_url]'],
  [{ logoutUrl: 'https://{op}/' }, 'The url [logout_url] is malformed'],
  [
    { validateSignature: 'true' },
    "The 'Validating public key' is required when 'Validate signatures' enabled and 'Use JWKS URL' disabled",
  ],
  [
    { supportsClientAssertions: 'true', useJwksUrl: 'true' },
    "JWKS URL is required when 'Supports client assertions' enabled and 'Use JWKS URL' enabled",
  ],
  [{ supportsClientAssertions: 'true', useJwksUrl: 'true', jwksUrl: 'https://op.example.org' }, 'Issuer is required'],
])('a new provider with %j returns 400', async (settings, message) => {
  expect(await postProvider(await createRealm(), { alias: 'op', providerId: 'oidc', config: settings })).toMatchObject(
    toErrorResponse(message),
  )
})

test('an http URL is accepted in private networks unless sslRequired is all, and in public networks if it is none', async () => {
  const privateUrls = {
    tokenUrl: 'http://10.0.0.7/token',
    authorizationUrl: 'http://op:8080/auth',
    jwksUrl: 'http://[::1]/keys',
  }
  expect(
    (await postProvider(await createRealm(), { alias: 'op', providerId: 'oidc', config: privateUrls })).status,
  ).toBe(201)
  const publicUrl = { tokenUrl: 'http://op.example.org/token' }
  const withoutSsl = await createRealm({ sslRequired: 'none' })
  expect((await postProvider(withoutSsl, { alias: 'op', providerId: 'oidc', config: publicUrl })).status).toBe(201)
  const withSsl = await createRealm({ sslRequired: 'all' })
  expect((await postProvider(withSsl, { alias: 'op', providerId: 'oidc', config: privateUrls })).status).toBe(400)
})

test('a second enabled provider for JWT authorization grants with the same issuer returns 400', async () => {
  const path = await createRealm()
  const body = { providerId: 'jwt-authorization-grant', config: { issuer: 'https://op.example.org' } }
  expect((await postProvider(path, { alias: 'first', ...body })).status).toBe(201)
  expect((await postProvider(path, { alias: 'second', ...body, enabled: false })).status).toBe(201)
  expect(await postProvider(path, { alias: 'third', ...body })).toMatchObject(
    toErrorResponse(
      "Issuer URL already used for IDP 'first', Issuer must be unique if the idp supports JWT Authorization Grant or Federated Client Authentication",
    ),
  )
})

test('the list of providers is filtered by type, capability and search', async () => {
  const path = await createRealm()
  for (const [alias, providerId] of [
    ['a', 'saml'],
    ['b', 'github'],
    ['c', 'kubernetes'],
  ])
    await create(`${path}/identity-provider/instances`, { alias, providerId, displayName: `Log in with ${alias}` })
  const listAliases = async (query: string) => {
    const { body } = await call('GET', `${path}/identity-provider/instances?briefRepresentation=true&${query}`)
    return body.map(({ alias }: { alias: string }) => alias).join('')
  }
  expect(await listAliases('type=USER_AUTHENTICATION')).toBe('ab')
  expect(await listAliases('type=CLIENT_ASSERTION&capability=USER_LINKING')).toBe('')
  expect(await listAliases('search=LOG*b')).toBe('b')
  expect(await listAliases('search=%22Log%20in%20with%20c%22')).toBe('c')
  expect(await listAliases('search=%25')).toBe('')
  expect((await call('GET', `${path}/identity-provider/instances?type=X`)).status).toBe(400)
})

test('the list of providers has 100 elements unless the request asks for more', async () => {
  const path = await createRealm({
    identityProviders: Array.from({ length: 101 }, (_, index) => ({
      alias: `op-${index}`,
      providerId: 'oidc',
      config,
    })),
  })
  const listProviders = async (query: string) =>
    (await call('GET', `${path}/identity-provider/instances?briefRepresentation=true${query}`)).body
  expect(await listProviders('&first=0')).toHaveLength(100)
  expect(await listProviders('&first=0&max=200')).toHaveLength(101)
})

test('a mapper belongs to the provider in its body, and has the same id after an update with another provider', async () => {
  const op = await createProvider()
  const instances = op.replace(/\/op$/, '')
  const saml = await create(instances, { alias: 'saml', providerId: 'saml' })
  const mapper = {
    name: 'staff',
    identityProviderAlias: 'op',
    identityProviderMapper: 'oidc-hardcoded-role-idp-mapper',
  }
  const address = await create(`${saml}/mappers`, mapper)
  expect((await call('GET', `${saml}/mappers`)).body).toEqual([])
  await call('PUT', address, { body: { ...mapper, identityProviderAlias: 'saml' } })
  expect((await call('GET', `${saml}/mappers`)).body).toMatchObject([{ id: address.split('/').at(-1), name: 'staff' }])
  expect(await call('POST', `${saml}/mappers`, { body: { name: 'x' } })).toMatchObject({ status: 409 })
  expect(await call('POST', `${op}/mappers`, { body: { ...mapper, identityProviderAlias: 'x' } })).toMatchObject(
    toErrorResponse('There is no identity provider x'),
  )
})

test('import-config reads settings from a URL, and reports why a URL cannot be read', async () => {
  const path = `${await createRealm()}/identity-provider/import-config`
  const importSettings = (providerId: string, fromUrl: string) => call('POST', path, { body: { providerId, fromUrl } })
  expect((await importSettings('oidc', `${providerUrl}/op`)).body).toEqual({
    issuer: 'https://op.example.org',
    jwksUrl: 'https://op.example.org/keys',
    validateSignature: 'true',
    useJwksUrl: 'true',
    metadataDescriptorUrl: `${providerUrl}/op`,
  })
  expect((await importSettings('github', `${providerUrl}/op`)).body).toEqual({
    metadataDescriptorUrl: `${providerUrl}/op`,
  })
  expect(await importSettings('oidc', `${providerUrl}/nothing`)).toMatchObject(
    toErrorResponse(`${providerUrl}/nothing cannot be read: the response has status 404`),
  )
  expect((await importSettings('oidc', `${providerUrl}/text`)).body.error_description).toBe('Cannot parse the JSON')
  for (const [providerId, url] of [
    ['oidc', 'data:application/json,{}'],
    ['nowhere', providerUrl],
    ['kubernetes', providerUrl],
  ] as const)
    expect((await importSettings(providerId, url)).status).toBe(400)
})

test('reload-keys reads the keys of a provider again', async () => {
  const reload = async (jwksUrl: string) => {
    const path = await createProvider({ config: { useJwksUrl: 'true', jwksUrl } })
    return call('GET', `${path}/reload-keys`)
  }
  expect((await reload(`${providerUrl}/keys`)).body).toBe(true)
  expect((await reload(`${providerUrl}/none`)).body).toBe(false)
  expect((await reload(`${providerUrl}/nothing`)).status).toBe(400)
})

test('upload-certificate reads keys in PEM and JWKS files, and refuses other files', async () => {
  const path = `${await createRealm()}/identity-provider/upload-certificate`
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'sig', kid: 'k' }] })
  const upload = async (keystoreFormat: string, text: string) => {
    const form = new FormData()
    form.append('keystoreFormat', keystoreFormat)
    form.append('file', new Blob([text]), 'key')
    const request = new Request('http://localhost', { method: 'POST', body: form })
    const headers = { 'content-type': request.headers.get('content-type')! }
    return call('POST', path, { body: await request.text(), headers })
  }
  expect((await upload('Public Key PEM', pem)).body).toEqual({ publicKey: pem })
  expect((await upload('JSON Web Key Set', jwks)).body).toEqual({
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    kid: 'k',
    jwks,
  })
  for (const [format, text] of [
    ['Certificate PEM', pem],
    ['JSON Web Key Set', '{}'],
    ['JKS', pem],
  ] as const)
    expect((await upload(format, text)).body.error).toBe('certificate-not-found')
})

test('import-config reads SAML metadata from a URL, and returns 400 for other documents', async () => {
  const importPath = `${await createRealm()}/identity-provider/import-config`
  const importMetadata = async (path: string) =>
    call('POST', importPath, { body: { providerId: 'saml', fromUrl: `${providerUrl}${path}` } })
  expect((await importMetadata('/saml')).body).toEqual({
    metadataDescriptorUrl: `${providerUrl}/saml`,
    idpEntityId: 'a&b',
    singleSignOnServiceUrl: 'https://other/post',
    singleLogoutServiceUrl: 'https://other/out',
    signingCertificate: 'MIIone',
    encryptionPublicKey: 'MIIboth',
    validateSignature: 'true',
    wantAuthnRequestsSigned: 'false',
    postBindingAuthnRequest: 'true',
    postBindingResponse: 'true',
    postBindingLogout: 'false',
    artifactBindingResponse: 'false',
    addExtensionsElementWithKeyInfo: 'false',
    loginHint: 'false',
    enabledFromMetadata: 'true',
  })
  expect((await importMetadata('/service')).body).toEqual({ metadataDescriptorUrl: `${providerUrl}/service` })
  for (const documentPath of ['/text', '/entity', '/op'])
    expect(await importMetadata(documentPath)).toMatchObject(toErrorResponse('The text is not SAML metadata'))
})

test('the SP metadata for a SAML provider that signs requests contain the key of the realm and the requested attributes', async () => {
  const path = await createRealm()
  const settings = {
    singleSignOnServiceUrl: 'https://other/post',
    postBindingResponse: 'true',
    entityId: 'sp & <idp>',
  }
  const signing = { wantAuthnRequestsSigned: 'true', wantAssertionsSigned: 'true' }
  await postProvider(path, { alias: 'plain', providerId: 'saml', config: settings })
  await postProvider(path, { alias: 'signed', providerId: 'saml', config: { ...settings, ...signing } })
  await call('POST', `${path}/identity-provider/instances/signed/mappers`, {
    body: {
      name: 'mail',
      identityProviderAlias: 'signed',
      identityProviderMapper: 'saml-user-attribute-idp-mapper',
      config: { 'attribute.friendly.name': 'mail', 'user.attribute': 'email' },
    },
  })
  const exportMetadata = async (alias: string) => {
    const { headers, body } = await call('GET', `${path}/identity-provider/instances/${alias}/export`)
    expect(headers['content-type']).toContain('application/xml')
    return (await parseXml(body))!
  }
  const findElements = (root: Element, name: string) => [...root.getElementsByTagNameNS('*', name)]
  const plain = await exportMetadata('plain')
  expect(plain.getAttribute('entityID')).toBe('sp & <idp>')
  expect(findElements(plain, 'X509Certificate')).toEqual([])
  expect(findElements(plain, 'AssertionConsumerService')[0]!.getAttribute('Location')).toMatch(
    /\/broker\/plain\/endpoint$/,
  )
  const { keys } = (await call('GET', `${path}/keys`)).body as { keys: { algorithm: string; certificate: string }[] }
  const certificate = keys.find(({ algorithm }) => algorithm === 'RS256')!.certificate
  const signed = await exportMetadata('signed')
  expect(findElements(signed, 'X509Certificate').map((element) => element.textContent)).toEqual([certificate])
  expect(findElements(signed, 'RequestedAttribute').map((element) => element.getAttribute('FriendlyName'))).toEqual([
    'mail',
  ])
})

test('an identity provider is enabled unless enabled is false or null', async () => {
  const path = `${await createRealm()}/identity-provider/instances`
  const config = { clientId: 'regent', clientSecret: 'secret' }
  for (const [enabled, expected] of [
    [undefined, true],
    [true, true],
    [false, false],
    [null, false],
  ]) {
    const body = { alias: 'partner', providerId: 'oidc', config, ...(enabled !== undefined && { enabled }) }
    expect((await call('POST', path, { body })).status).toBe(201)
    const isEnabled = async () => (await call('GET', `${path}/partner`)).body.enabled
    expect(await isEnabled(), String(enabled)).toBe(expected)
    await call('PUT', `${path}/partner`, { body: { ...body, enabled: !expected } })
    await call('PUT', `${path}/partner`, { body })
    expect(await isEnabled(), String(enabled)).toBe(expected)
    await call('DELETE', `${path}/partner`)
  }
})
