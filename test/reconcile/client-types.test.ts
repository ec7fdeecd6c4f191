// Client types in documents: a type gives its values on creation, and a client cannot have others.
import { expect, test } from 'vitest'
import { apply, exportDocument, getLive, plan, useNewRealmPerTest } from '../support/realm-documents.ts'

useNewRealmPerTest()

const types = (config: object) =>
  JSON.stringify({ 'client-types': [{ name: 'web', provider: 'default', parent: 'oidc', config }] })
const config = {
  consentRequired: { applicable: true, value: true },
  standardFlowEnabled: { applicable: false },
  logoUri: { applicable: true, value: 'https://logo.example/a.png' },
}
const withClient = (client: object, text = types(config)) => ({
  attributes: { 'client-types': text },
  clients: [{ clientId: 'shop', ...client }],
})

test('a client gets the values of its type, and the plans of the document and of an export are empty', async () => {
  const document = withClient({ type: 'web' })
  await apply(document)
  expect((await getLive('client', 'shop')).representation).toMatchObject({
    type: 'web',
    consentRequired: true,
    standardFlowEnabled: false,
    fullScopeAllowed: false,
    attributes: { logoUri: 'https://logo.example/a.png' },
  })
  expect(await plan(document)).toContain('Nothing to do.')
  const exported = await exportDocument()
  expect(exported.clients).toEqual([{ clientId: 'shop', type: 'web' }])
  expect(await plan(exported)).toContain('Nothing to do.')
})

test('a service account is created with a client whose type gives it, and the plan shows it', async () => {
  const document = { clients: [{ clientId: 'job', type: 'service-account' }] }
  expect(await plan(document)).toContain('user service-account-job')
  await apply(document)
  expect((await getLive('user', 'service-account-job')).representation.enabled).toBe(true)
  expect((await exportDocument()).clients).toEqual([{ clientId: 'job', type: 'service-account' }])
})

test('a declared value that the type does not allow, and an unknown type, are refused with the field', async () => {
  const refused = 'the client type web does not allow the values of '
  await expect(apply(withClient({ type: 'web', consentRequired: false }))).rejects.toThrow(
    `${refused}consentRequired. Declare`,
  )
  // Over REST, Keycloak ignores it.
  await expect(apply(withClient({ type: 'web', standardFlowEnabled: true }))).rejects.toThrow(
    `${refused}standardFlowEnabled`,
  )
  await expect(apply(withClient({ type: 'web', attributes: { logoUri: 'https://b.example' } }))).rejects.toThrow(
    `${refused}logoUri`,
  )
  await expect(apply(withClient({ type: 'nowhere' }))).rejects.toThrow('or one of its parents, does not exist')
})

test('a value removed from the source returns to that of the type', async () => {
  await apply(withClient({ type: 'web', standardFlowEnabled: false, consentRequired: true }))
  const fewer = withClient({ type: 'web' })
  await apply(fewer)
  expect((await getLive('client', 'shop')).representation).toMatchObject({
    consentRequired: true,
    standardFlowEnabled: false,
  })
  expect(await plan(fewer)).toContain('Nothing to do.')
})

test('a document can change the type of a client that conforms to it, and remove it', async () => {
  await apply(withClient({ type: 'web' }))
  const asService = withClient({ type: 'service-account', standardFlowEnabled: false })
  await expect(apply(asService)).rejects.toThrow('does not allow the values of consentRequired, logoUri')
  const values = { consentRequired: false, serviceAccountsEnabled: true, attributes: { logoUri: null } }
  const complete = withClient({
    type: 'service-account',
    ...values,
    attributes: {
      logoUri: null,
      'oauth2.device.authorization.grant.enabled': 'false',
      'oidc.ciba.grant.enabled': 'false',
    },
  })
  await apply(complete)
  expect((await getLive('client', 'shop')).representation.type).toBe('service-account')
  await apply(withClient({}))
  expect((await getLive('client', 'shop')).representation.type).toBeUndefined()
})

test('clients keep their values when their type changes or is removed, and only changes of ruled values are checked', async () => {
  await apply(withClient({ type: 'web' }))
  await apply(withClient({ type: 'web', name: 'Shop' }, types({ consentRequired: { applicable: true, value: false } })))
  expect((await getLive('client', 'shop')).representation).toMatchObject({ name: 'Shop', consentRequired: true })
  await apply({ clients: [{ clientId: 'shop', type: 'web', name: 'Shop 2' }] })
  expect((await getLive('client', 'shop')).representation).toMatchObject({ name: 'Shop 2', consentRequired: true })
})

test.each([
  ['text that is no JSON', 'x', 'The attribute client-types must be the JSON of'],
  [
    'a type without a name',
    '{"client-types":[{"provider":"default","config":{}}]}',
    'The attribute client-types must be',
  ],
  [
    'the name of a global type',
    '{"client-types":[{"name":"sla","provider":"default","config":{}}]}',
    'Duplicated client type name',
  ],
  [
    'a value of another type',
    types({ publicClient: { applicable: true, value: 'yes' } }),
    'Invalid configuration of property',
  ],
  [
    'a private key',
    types({ 'saml.signing.private.key': { applicable: true, value: 'k' } }),
    'Invalid configuration of property',
  ],
  ['clients without a protocol', types({ protocol: { applicable: false } }), 'Invalid configuration of property'],
])('client types with %s are refused', async (_, text, message) => {
  await expect(apply({ attributes: { 'client-types': text } })).rejects.toThrow(message)
})

test('the order of a list does not matter, and an empty attribute counts as absent', async () => {
  const text = types({
    redirectUris: { applicable: true, value: ['https://b.example/*', 'https://a.example/*'] },
    login_theme: { applicable: false },
  })
  await apply(withClient({ type: 'web', attributes: { login_theme: '' } }, text))
  const { representation } = await getLive('client', 'shop')
  expect(representation.redirectUris).toEqual(['https://a.example/*', 'https://b.example/*'])
  await apply(withClient({ type: 'web', redirectUris: ['https://b.example/*', 'https://a.example/*'] }, text))
})

test('a type that is its own parent does not exist', async () => {
  const text = '{"client-types":[{"name":"web","provider":"default","parent":"web","config":{}}]}'
  await expect(apply(withClient({ type: 'web' }, text))).rejects.toThrow('or one of its parents, does not exist')
})
