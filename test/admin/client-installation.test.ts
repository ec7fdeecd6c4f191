// Installation documents of clients: archives, escaped values, and secrets.
import { X509Certificate } from 'node:crypto'
import { unzipSync } from 'fflate'
import { expect, test } from 'vitest'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'

const { app, adminToken, call, create, createRealm } = await testServer()

async function getDocument(client: string, format: string, token?: string) {
  return app.inject({
    url: `${client}/installation/providers/${format}`,
    headers: { authorization: `Bearer ${token ?? (await adminToken())}` },
  })
}

test('the archive for mod_auth_mellon has the metadata of both sides, and the key and certificate of a client that signs', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, {
    clientId: 'https://sp.example.org/x',
    protocol: 'saml',
    attributes: { 'saml.client.signature': 'true' },
  })
  await call('POST', `${client}/certificates/saml.signing/generate`)
  const response = await getDocument(client, 'mod-auth-mellon')
  expect(response.headers['content-type']).toBe('application/zip')
  const files = Object.entries(unzipSync(response.rawPayload)).map(
    ([name, bytes]) => [name.replace('https:__sp.example.org_x/', ''), Buffer.from(bytes).toString()] as const,
  )
  expect(files.map(([name]) => name)).toEqual([
    'idp-metadata.xml',
    'sp-metadata.xml',
    'client-private-key.pem',
    'client-cert.pem',
  ])
  const { 'idp-metadata.xml': idp, 'client-cert.pem': certificate } = Object.fromEntries(files)
  expect(idp).toMatch(/entityID="http:\/\/[^"]+\/realms\/[^"]+"><md:IDPSSODescriptor .*<ds:X509Certificate>MII/)
  expect(new X509Certificate(certificate!).subject).toBe('CN=https://sp.example.org/x')
})

test('values are escaped in XML and in commands', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: 'a<b>&"c', secret: 's</credential>"\n/shutdown' })
  const xml = (await getDocument(client, 'keycloak-oidc-jboss-subsystem')).body
  expect(xml).toContain('<resource>a&lt;b&gt;&amp;&quot;c</resource>')
  expect(xml).toContain('>s&lt;/credential&gt;&quot;')
  const commands = (await getDocument(client, 'keycloak-oidc-jboss-subsystem-cli')).body
  expect(commands).toContain('resource="a<b>&\\"c"')
  expect(commands).toContain('credential=secret:add(value="s</credential>\\" /shutdown")\n')
})

test('secrets are masked for administrators who may only view clients, and the server information lists the formats', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: 'shop', secret: 'a-secret' })
  const viewer = await createAdminToken(path.split('/').at(-1)!, {
    clientRoles: { 'realm-management': ['view-clients'] },
  })
  const masked = await getDocument(client, 'keycloak-oidc-keycloak-json', viewer)
  expect([masked.statusCode, masked.json().credentials]).toEqual([200, { secret: '**********' }])
  const none = await createAdminToken(path.split('/').at(-1)!, { clientRoles: { 'realm-management': ['query-users'] } })
  expect((await getDocument(client, 'keycloak-oidc-keycloak-json', none)).statusCode).toBe(403)
  const { clientInstallations } = (await call('GET', '/admin/serverinfo')).body
  for (const { id } of Object.values<{ id: string }[]>(clientInstallations).flat())
    expect([id, (await getDocument(client, id)).statusCode]).toEqual([id, 200])
})
