// Example responses for SAML clients. They were compared with Keycloak's.
import { expect, test } from 'vitest'
import { type Element, parseXml } from '../../src/lib/xml.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const OFF = { 'saml.client.signature': 'false', 'saml.server.signature': 'false' }
const mapper = (protocolMapper: string, config: object) => ({
  name: `${protocolMapper} ${JSON.stringify(config)}`,
  protocol: 'saml',
  protocolMapper,
  config,
})

/** Creates a SAML client in a realm with the user Mia, and returns a function that requests an example. */
async function createClient(attributes: object = {}, client: object = {}) {
  const realm = await createRealm({
    accessCodeLifespan: 60,
    accessTokenLifespan: 300,
  })
  await call('PUT', `${realm}/users/profile`, {
    body: {
      attributes: ['username', 'email', 'firstName', 'lastName'].map((name) => ({
        name,
        permissions: { view: ['admin'], edit: ['admin'] },
      })),
      unmanagedAttributePolicy: 'ENABLED',
    },
  })
  const user = await create(`${realm}/users`, {
    username: 'mia',
    email: 'mia@example.org',
    firstName: 'Mia',
    enabled: true,
    attributes: { team: ['a & b', 'c'] },
  })
  const group = await create(`${realm}/groups`, { name: 'staff' })
  await call('PUT', `${user}/groups/${group.split('/').at(-1)}`)
  const body = {
    clientId: 'sp',
    protocol: 'saml',
    fullScopeAllowed: false,
    attributes: { ...OFF, ...attributes },
    ...client,
  }
  const address = await create(`${realm}/clients`, body)
  return {
    user: user.split('/').at(-1)!,
    name: realm.split('/').at(-1)!,
    request: (query: string) => call('GET', `${address}/evaluate-scopes/generate-example-saml-response?${query}`),
  }
}

/** Returns the elements of an example with a name. */
async function readExample({ user, request }: Awaited<ReturnType<typeof createClient>>) {
  const { status, body } = await request(`userId=${user}`)
  expect(status).toBe(200)
  const root = (await parseXml(body))!
  return (name: string): Element[] => [...root.getElementsByTagName(name)]
}

test('an example names the user and the client, and is valid for the lifespans of the realm', async () => {
  const client = await createClient()
  const find = await readExample(client)
  const [nameId] = find('saml:NameID')
  expect([nameId?.textContent, nameId?.getAttribute('Format')]).toEqual([
    'mia',
    'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  ])
  expect(find('saml:Issuer')[0]?.textContent).toMatch(new RegExp(`/realms/${client.name}$`))
  expect(find('saml:Audience').map((audience) => audience.textContent)).toEqual(['sp'])
  const [conditions] = find('saml:Conditions')
  const time = (element: Element | undefined, name: string) => Date.parse(element?.getAttribute(name) ?? '')
  const from = time(conditions, 'NotBefore')
  expect(time(conditions, 'NotOnOrAfter') - from).toBe(60_000)
  expect(time(find('saml:SubjectConfirmationData')[0], 'NotOnOrAfter') - from).toBe(300_000)
  expect([find('saml:AuthnStatement').length, find('saml:AttributeStatement').length]).toEqual([1, 0])
})

test.each([
  ['email', 'mia@example.org'],
  ['persistent', expect.stringMatching(/^G-/)],
  ['transient', expect.stringMatching(/^G-/)],
])(
  'the attributes of the client choose the name in the format %s, the statements and the lifespan',
  async (format, name) => {
    const settings = {
      saml_name_id_format: format,
      'saml.authnstatement': 'false',
      'saml.onetimeuse.condition': 'true',
      'saml.assertion.lifespan': '120',
    }
    const find = await readExample(await createClient(settings))
    expect(find('saml:NameID')[0]?.textContent).toEqual(name)
    expect([find('saml:AuthnStatement').length, find('saml:OneTimeUse').length]).toEqual([0, 1])
    const [conditions] = find('saml:Conditions')
    const [from, until] = ['NotBefore', 'NotOnOrAfter'].map((attribute) =>
      Date.parse(conditions!.getAttribute(attribute)!),
    )
    expect(until! - from!).toBe(120_000)
  },
)

test('mappers write attributes, audiences, roles and the name', async () => {
  const basic = 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic'
  const protocolMappers = [
    mapper('saml-user-property-mapper', {
      'user.attribute': 'firstName',
      'friendly.name': 'first',
      'attribute.name': 'name',
      'attribute.nameformat': 'URI Reference',
    }),
    mapper('saml-user-attribute-mapper', { 'user.attribute': 'team', 'attribute.name': 'team' }),
    mapper('saml-user-attribute-mapper', { 'user.attribute': 'none', 'attribute.name': 'none' }),
    mapper('saml-hardcode-attribute-mapper', { 'attribute.name': 'fixed', 'attribute.value': '<v>' }),
    mapper('saml-group-membership-mapper', { 'attribute.name': 'group', 'full.path': 'false', single: 'true' }),
    mapper('saml-audience-mapper', { 'included.custom.audience': 'https://aud.example' }),
    mapper('saml-hardcode-role-mapper', { role: 'extra' }),
    mapper('saml-role-list-mapper', { 'attribute.name': 'Roles', single: 'true' }),
    mapper('saml-user-attribute-nameid-mapper', {
      'user.attribute': 'team',
      'mapper.nameid.format': 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
    }),
  ]
  const find = await readExample(await createClient({}, { protocolMappers }))

  const attributes = find('saml:Attribute').map((attribute) => [
    attribute.getAttribute('Name'),
    attribute.getAttribute('FriendlyName'),
    attribute.getAttribute('NameFormat'),
    [...attribute.getElementsByTagName('saml:AttributeValue')].map((value) => value.textContent),
  ])
  expect(attributes.sort()).toEqual([
    ['Roles', null, basic, ['extra']],
    ['fixed', null, basic, ['<v>']],
    ['group', null, basic, ['staff']],
    ['name', 'first', 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri', ['Mia']],
    ['team', null, basic, ['a & b', 'c']],
  ])
  expect(find('saml:Audience').map((audience) => audience.textContent)).toEqual(['sp', 'https://aud.example'])
  expect(find('saml:NameID')[0]?.textContent).toBe('a & b')
})

test('the roles in the scope of the client are attributes of their own by default', async () => {
  const find = await readExample(await createClient({}, { fullScopeAllowed: true }))
  const names = find('saml:Attribute').map((attribute) => attribute.getAttribute('Name'))
  expect(new Set(names)).toEqual(new Set(['Role']))
  expect(find('saml:AttributeValue').map((value) => value.textContent)).toContain('offline_access')
})

test('without a user, for an unknown one, and for an encrypted assertion there is no example', async () => {
  const { user, request } = await createClient({ 'saml.encrypt': 'true' })
  expect((await request('')).body).toEqual({ error: 'No userId provided' })
  expect((await request('userId=unknown')).body).toEqual({ error: 'No user found' })
  expect(await request(`userId=${user}`)).toMatchObject({
    status: 404,
    body: { error: 'Could not generate a SAML response for the given user and client' },
  })
})
