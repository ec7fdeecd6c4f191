// Identity providers over REST, beyond the recorded exchanges.
import { generateKeyPairSync } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Element, parseXml } from '../../src/lib/xml.ts'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

const config = { clientId: 'regent', clientSecret: 'hush', tokenUrl: 'https://op.example.org/token' }
const post = (path: string, body: object) => call('POST', `${path}/identity-provider/instances`, { body })
const newProvider = async (more: object = {}) => {
  const path = await realm()
  return make(`${path}/identity-provider/instances`, { alias: 'op', providerId: 'oidc', config, ...more })
}
const refusal = (errorMessage: string) => ({ status: 400, body: { errorMessage } })

let other: Server
let address: string
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
  other = createServer(({ url = '' }, response) => {
    response.statusCode = url in documents ? 200 : 404
    response.end(documents[url])
  })
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening))
  address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
})
afterAll(() => other.close())

test('a provider gets the id of its body, and is found by it', async () => {
  const path = await newProvider({ internalId: 'my-own-id' })
  expect((await call('GET', path)).body.internalId).toBe('my-own-id')
  expect((await call('GET', path.replace(/op$/, 'my-own-id'))).body.alias).toBe('op')
})

test('an update clears undeclared fields, and does not change alias, id and type', async () => {
  const path = await newProvider({ internalId: 'kept', displayName: 'The OP', trustEmail: true, enabled: false })
  expect((await call('PUT', path, { body: { internalId: 'other', providerId: 'saml' } })).status).toBe(204)
  const { types: _, ...remaining } = (await call('GET', path)).body
  expect(remaining).toEqual({ alias: 'op', internalId: 'kept', providerId: 'oidc', enabled: true, config: {} })
})

test('admin events contain providers with id and masked secrets, and mappers below their provider', async () => {
  const path = await realm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  const op = await make(`${path}/identity-provider/instances`, { alias: 'op', providerId: 'oidc', config })
  const mapper = { name: 'login', identityProviderAlias: 'op', identityProviderMapper: 'oidc-username-idp-mapper' }
  const id = (await make(`${op}/mappers`, mapper)).split('/').at(-1)
  const [ofMapper, ofProvider] = (await call('GET', `${path}/admin-events`)).body
  expect(ofMapper).toMatchObject({
    resourceType: 'IDENTITY_PROVIDER_MAPPER',
    resourcePath: `identity-provider/instances/op/mappers/${id}`,
  })
  expect(ofProvider).toMatchObject({
    resourceType: 'IDENTITY_PROVIDER',
    resourcePath: 'identity-provider/instances/op',
  })
  expect(JSON.parse(ofProvider.representation)).toEqual({
    alias: 'op',
    internalId: (await call('GET', op)).body.internalId,
    providerId: 'oidc',
    enabled: true,
    config: { ...config, clientSecret: '**********' },
  })
})

test('a secret that is a vault reference is not masked', async () => {
  const path = await newProvider({ config: { clientSecret: '${vault.op}' } })
  expect((await call('GET', path)).body.config).toEqual({ clientSecret: '${vault.op}' })
})

test('a mask in a new provider is not stored as a secret', async () => {
  const path = await newProvider({ config: { clientId: 'regent', clientSecret: '**********' } })
  expect((await call('GET', path)).body.config).toEqual({ clientId: 'regent' })
})

test('GET returns the default settings of provider types', async () => {
  const path = await newProvider({ providerId: 'kubernetes', config: {} })
  expect((await call('GET', path)).body).toMatchObject({
    hideOnLogin: true,
    config: { issuer: 'https://kubernetes.default.svc.cluster.local' },
    types: ['CLIENT_ASSERTION'],
  })
})

test('hideOnLogin is also read in its legacy form', async () => {
  const path = await newProvider({ config: { hideOnLoginPage: 'true' } })
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
])('%j returns 400', async (settings, message) => {
  expect(await post(await realm(), { alias: 'op', providerId: 'oidc', config: settings })).toMatchObject(
    refusal(message),
  )
})

test('an http URL is accepted in private networks, and everywhere if the realm requires no SSL', async () => {
  const near = {
    tokenUrl: 'http://10.0.0.7/token',
    authorizationUrl: 'http://op:8080/auth',
    jwksUrl: 'http://[::1]/keys',
  }
  expect((await post(await realm(), { alias: 'op', providerId: 'oidc', config: near })).status).toBe(201)
  const far = { tokenUrl: 'http://op.example.org/token' }
  const open = await realm({ sslRequired: 'none' })
  expect((await post(open, { alias: 'op', providerId: 'oidc', config: far })).status).toBe(201)
  const closed = await realm({ sslRequired: 'all' })
  expect((await post(closed, { alias: 'op', providerId: 'oidc', config: near })).status).toBe(400)
})

test('only one enabled provider may have an issuer whose assertions authenticate users', async () => {
  const path = await realm()
  const body = { providerId: 'jwt-authorization-grant', config: { issuer: 'https://op.example.org' } }
  expect((await post(path, { alias: 'one', ...body })).status).toBe(201)
  expect((await post(path, { alias: 'two', ...body, enabled: false })).status).toBe(201)
  expect(await post(path, { alias: 'three', ...body })).toMatchObject(
    refusal(
      "Issuer URL already used for IDP 'one', Issuer must be unique if the idp supports JWT Authorization Grant or Federated Client Authentication",
    ),
  )
})

test('lists are filtered by capability, and have at most 100 elements by default', async () => {
  const path = await realm()
  for (const [alias, providerId] of [
    ['a', 'saml'],
    ['b', 'github'],
    ['c', 'kubernetes'],
  ])
    await make(`${path}/identity-provider/instances`, { alias, providerId, displayName: `Log in with ${alias}` })
  const listed = async (query: string) => {
    const { body } = await call('GET', `${path}/identity-provider/instances?briefRepresentation=true&${query}`)
    return body.map(({ alias }: { alias: string }) => alias).join('')
  }
  expect(await listed('type=USER_AUTHENTICATION')).toBe('ab')
  expect(await listed('type=CLIENT_ASSERTION&capability=USER_LINKING')).toBe('')
  expect(await listed('search=LOG*b')).toBe('b')
  expect(await listed('search=%22Log%20in%20with%20c%22')).toBe('c')
  expect(await listed('search=%25')).toBe('')
  expect((await call('GET', `${path}/identity-provider/instances?type=X`)).status).toBe(400)
})

test('a mapper belongs to the provider in its body, and keeps its id when it is moved', async () => {
  const op = await newProvider()
  const instances = op.replace(/\/op$/, '')
  const saml = await make(instances, { alias: 'saml', providerId: 'saml' })
  const mapper = {
    name: 'staff',
    identityProviderAlias: 'op',
    identityProviderMapper: 'oidc-hardcoded-role-idp-mapper',
  }
  const address = await make(`${saml}/mappers`, mapper)
  expect((await call('GET', `${saml}/mappers`)).body).toEqual([])
  await call('PUT', address, { body: { ...mapper, identityProviderAlias: 'saml' } })
  expect((await call('GET', `${saml}/mappers`)).body).toMatchObject([{ id: address.split('/').at(-1), name: 'staff' }])
  expect(await call('POST', `${saml}/mappers`, { body: { name: 'x' } })).toMatchObject({ status: 409 })
  expect(await call('POST', `${op}/mappers`, { body: { ...mapper, identityProviderAlias: 'x' } })).toMatchObject(
    refusal('There is no identity provider x'),
  )
})

test('settings are imported from a URL; the message says why one cannot be read', async () => {
  const path = `${await realm()}/identity-provider/import-config`
  const settings = (providerId: string, fromUrl: string) => call('POST', path, { body: { providerId, fromUrl } })
  expect((await settings('oidc', `${address}/op`)).body).toEqual({
    issuer: 'https://op.example.org',
    jwksUrl: 'https://op.example.org/keys',
    validateSignature: 'true',
    useJwksUrl: 'true',
    metadataDescriptorUrl: `${address}/op`,
  })
  expect((await settings('github', `${address}/op`)).body).toEqual({ metadataDescriptorUrl: `${address}/op` })
  expect(await settings('oidc', `${address}/nothing`)).toMatchObject(
    refusal(`${address}/nothing cannot be read: the response has status 404`),
  )
  expect((await settings('oidc', `${address}/text`)).body.error_description).toBe('Cannot parse the JSON')
  for (const [providerId, url] of [
    ['oidc', 'data:application/json,{}'],
    ['nowhere', address],
    ['kubernetes', address],
  ] as const)
    expect((await settings(providerId, url)).status).toBe(400)
})

test('reload-keys reads the keys of a provider again', async () => {
  const reload = async (jwksUrl: string) => {
    const path = await newProvider({ config: { useJwksUrl: 'true', jwksUrl } })
    return call('GET', `${path}/reload-keys`)
  }
  expect((await reload(`${address}/keys`)).body).toBe(true)
  expect((await reload(`${address}/none`)).body).toBe(false)
  expect((await reload(`${address}/nothing`)).status).toBe(400)
})

test('a key is read from the supported file formats', async () => {
  const path = `${await realm()}/identity-provider/upload-certificate`
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

test('SAML metadata at a URL are imported; the message says what is wrong with other texts', async () => {
  const path = `${await realm()}/identity-provider/import-config`
  const imported = async (where: string) =>
    call('POST', path, { body: { providerId: 'saml', fromUrl: `${address}${where}` } })
  expect((await imported('/saml')).body).toEqual({
    metadataDescriptorUrl: `${address}/saml`,
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
  expect((await imported('/service')).body).toEqual({ metadataDescriptorUrl: `${address}/service` })
  for (const text of ['/text', '/entity', '/op'])
    expect(await imported(text)).toMatchObject(refusal('The text is not SAML metadata'))
})

test('the metadata for a SAML provider contain the keys of the realm and the requested attributes', async () => {
  const path = await realm()
  const settings = {
    singleSignOnServiceUrl: 'https://other/post',
    postBindingResponse: 'true',
    entityId: 'we & <they>',
  }
  const signing = { wantAuthnRequestsSigned: 'true', wantAssertionsSigned: 'true' }
  await post(path, { alias: 'plain', providerId: 'saml', config: settings })
  await post(path, { alias: 'signed', providerId: 'saml', config: { ...settings, ...signing } })
  await call('POST', `${path}/identity-provider/instances/signed/mappers`, {
    body: {
      name: 'mail',
      identityProviderAlias: 'signed',
      identityProviderMapper: 'saml-user-attribute-idp-mapper',
      config: { 'attribute.friendly.name': 'mail', 'user.attribute': 'email' },
    },
  })
  const exported = async (alias: string) => {
    const { headers, body } = await call('GET', `${path}/identity-provider/instances/${alias}/export`)
    expect(headers['content-type']).toContain('application/xml')
    return parseXml(body)!
  }
  const findElements = (root: Element, name: string) => [...root.getElementsByTagNameNS('*', name)]
  const plain = await exported('plain')
  expect(plain.getAttribute('entityID')).toBe('we & <they>')
  expect(findElements(plain, 'X509Certificate')).toEqual([])
  expect(findElements(plain, 'AssertionConsumerService')[0]!.getAttribute('Location')).toMatch(
    /\/broker\/plain\/endpoint$/,
  )
  const { keys } = (await call('GET', `${path}/keys`)).body as { keys: { algorithm: string; certificate: string }[] }
  const certificate = keys.find(({ algorithm }) => algorithm === 'RS256')!.certificate
  const signed = await exported('signed')
  expect(findElements(signed, 'X509Certificate').map((element) => element.textContent)).toEqual([certificate])
  expect(findElements(signed, 'RequestedAttribute').map((element) => element.getAttribute('FriendlyName'))).toEqual([
    'mail',
  ])
})
