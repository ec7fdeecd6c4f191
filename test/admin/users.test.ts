// Users over REST: bodies, searches and credentials.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const getUsernames = (response: { body: { username: string }[] }) => response.body.map(({ username }) => username)

test('a new user with invalid names and email returns an error for each field', async () => {
  const path = `${await createRealm()}/users`
  const response = await call('POST', path, { body: { username: 'ab', email: 'no', firstName: 'a<b' } })
  expect(response.status).toBe(400)
  expect(response.body.errors).toEqual([
    { field: 'username', errorMessage: 'error-invalid-length', params: ['username', 3, 255] },
    { field: 'email', errorMessage: 'error-invalid-email', params: ['email', 'no'] },
    { field: 'firstName', errorMessage: 'error-person-name-invalid-character', params: ['firstName'] },
  ])
  expect((await call('POST', path, { body: { username: 'аdmin' } })).body).toMatchObject({ field: 'username' })
  expect((await call('GET', `${path}/count`)).body).toBe(0)
})

test('PUT with attributes clears absent names and email, and ignores attributes outside the user profile', async () => {
  const user = await create(`${await createRealm()}/users`, {
    username: 'ann',
    firstName: 'Ann',
    email: 'Ann@Example.org',
  })
  await call('PUT', user, { body: { lastName: 'Lee' } })
  expect((await call('GET', user)).body).toMatchObject({ firstName: 'Ann', lastName: 'Lee', email: 'ann@example.org' })
  await call('PUT', user, { body: { attributes: { firstName: ['Anna'], colour: ['red'] } } })
  const { body } = await call('GET', user)
  expect(body).toMatchObject({ username: 'ann', firstName: 'Anna' })
  for (const field of ['lastName', 'email', 'attributes']) expect(body).not.toHaveProperty(field)
})

test('an imported empty name stays if it is updated to an empty name, and an empty name in place of another is removed', async () => {
  const realm = await createRealm()
  await call('POST', `${realm}/partialImport`, { body: { users: [{ username: 'ann', firstName: '', lastName: '' }] } })
  const { body: users } = await call('GET', `${realm}/users`)
  const user = `${realm}/users/${users[0].id}`
  expect(users).toMatchObject([{ firstName: '', lastName: '' }])
  await call('PUT', user, { body: { firstName: '', lastName: 'Lee' } })
  expect((await call('GET', user)).body).toMatchObject({ firstName: '', lastName: 'Lee' })
  await call('PUT', user, { body: { lastName: '' } })
  const { body } = await call('GET', user)
  expect(body).toMatchObject({ firstName: '' })
  expect(body).not.toHaveProperty('lastName')
})

test('attributes that violate the user profile return an error for each, and attributes outside it are not stored', async () => {
  const permissions = { view: ['admin'], edit: ['admin'] }
  const path = await createRealm()
  const attributes = [
    { name: 'username' },
    { name: 'email' },
    { name: 'dept', permissions, required: {}, validations: { options: { options: ['lab', 'shop'] } } },
    { name: 'size', permissions, validations: { integer: { min: 20, max: 55 } } },
    { name: 'tags', permissions, multivalued: true, validations: { multivalued: { max: 2 } } },
    { name: 'site', permissions, defaultValue: 'north' },
    { name: 'private', permissions: { view: ['user'], edit: ['user'] } },
    { name: 'fixed', permissions: { view: ['admin'], edit: ['user'] } },
  ]
  await call('PUT', `${path}/users/profile`, { body: { attributes } })
  const invalid = { size: ['x'], tags: ['a', 'b', 'c'] }
  expect((await call('POST', `${path}/users`, { body: { username: 'ann', attributes: invalid } })).body.errors).toEqual(
    [
      { field: 'dept', errorMessage: 'error-user-attribute-required', params: ['dept'] },
      { field: 'size', errorMessage: 'error-invalid-number', params: ['size'] },
      { field: 'tags', errorMessage: 'error-invalid-multivalued-size', params: ['tags', 0, 2] },
    ],
  )
  const validAttributes = { dept: ['lab'], size: ['42'], colour: ['red'], private: ['x'] }
  const user = await create(`${path}/users`, { username: 'ann', firstName: 'Ann', attributes: validAttributes })
  const { body } = await call('GET', user)
  expect(body.attributes).toEqual({ dept: ['lab'], size: ['42'], site: ['north'] })
  expect(body).not.toHaveProperty('firstName')
  expect((await call('PUT', user, { body: { attributes: { dept: ['lab'], fixed: ['x'] } } })).body).toEqual({
    field: 'fixed',
    errorMessage: 'error-user-attribute-read-only',
    params: ['fixed'],
  })
  expect((await call('PUT', user, { body: { attributes: {} } })).body).toMatchObject({ field: 'dept' })
})

test('PUT of a user from a document checks every value but an unchanged username', async () => {
  const permissions = { view: ['admin'], edit: ['admin'] }
  const attributes = [
    { name: 'username', validations: { length: { min: 5 } } },
    { name: 'email' },
    { name: 'dept', permissions, validations: { length: { min: 3 } } },
    { name: 'team', permissions, required: {} },
  ]
  const path = await createRealm({ users: [{ username: 'ann', attributes: { dept: ['it'] } }] })
  await call('PUT', `${path}/users/profile`, { body: { attributes } })
  const user = `${path}/users/${(await call('GET', `${path}/users`)).body[0].id}`
  for (const body of [{ enabled: true }, { firstName: 'Ann' }, { username: 'ann' }])
    expect((await call('PUT', user, { body })).body.errors).toEqual([
      { field: 'dept', errorMessage: 'error-invalid-length-too-short', params: ['dept', 3, null] },
      { field: 'team', errorMessage: 'error-user-attribute-required', params: ['team'] },
    ])
})

test('PUT of a user from a document does not remove unmanaged attributes', async () => {
  const permissions = { view: ['admin'], edit: ['admin'] }
  const attributes = [
    { name: 'username', validations: { length: { min: 5 } } },
    { name: 'email' },
    { name: 'dept', permissions },
  ]
  const path = await createRealm({ users: [{ username: 'ann', attributes: { colour: ['red'] } }] })
  await call('PUT', `${path}/users/profile`, { body: { attributes } })
  const user = `${path}/users/${(await call('GET', `${path}/users`)).body[0].id}`
  const getAttributes = async () => (await call('GET', user)).body.attributes
  expect((await call('PUT', user, { body: { username: 'ann', attributes: { colour: ['blue'] } } })).status).toBe(204)
  expect(await getAttributes()).toBeUndefined()
  for (const [unmanagedAttributePolicy, colour] of [
    ['ADMIN_VIEW', 'red'],
    ['ADMIN_EDIT', 'blue'],
  ]) {
    await call('PUT', `${path}/users/profile`, { body: { attributes, unmanagedAttributePolicy } })
    await call('PUT', user, { body: { attributes: { colour: ['blue'] } } })
    expect(await getAttributes()).toEqual({ colour: [colour] })
  }
})

test('with registrationEmailAsUsername, the username is the email of the user', async () => {
  const path = `${await createRealm({ registrationEmailAsUsername: true })}/users`
  const user = await create(path, { username: 'any', email: 'ann@example.org' })
  expect((await call('GET', user)).body.username).toBe('ann@example.org')
  await call('PUT', user, { body: { email: 'lee@example.org', username: 'other' } })
  expect((await call('GET', user)).body).toMatchObject({ username: 'lee@example.org', email: 'lee@example.org' })
  expect((await call('POST', path, { body: { username: 'any' } })).body).toEqual({
    field: 'email',
    errorMessage: 'error-user-attribute-required',
    params: ['email'],
  })
})

test('after registrationEmailAsUsername is enabled, existing users have their email as username, but are found by their former one', async () => {
  const path = await createRealm()
  const ann = await create(`${path}/users`, { username: 'ann', email: 'ann@example.org' })
  const bob = await create(`${path}/users`, { username: 'bob' })
  const group = await create(`${path}/groups`, { name: 'staff' })
  await call('PUT', `${ann}/groups/${group.split('/').at(-1)}`)
  const listProfileMetadata = async () =>
    (await call('GET', `${ann}?userProfileMetadata=true`)).body.userProfileMetadata.attributes.flatMap(
      ({ name, required, readOnly }: Record<string, unknown>) =>
        name === 'username' || name === 'email' ? [[name, required, readOnly]] : [],
    )
  await call('PUT', path, { body: { registrationEmailAsUsername: true } })
  expect((await call('GET', ann)).body.username).toBe('ann@example.org')
  expect(getUsernames(await call('GET', `${path}/users`))).toEqual(['ann@example.org', 'bob'])
  expect(getUsernames(await call('GET', `${path}/users?username=ann&exact=true`))).toEqual(['ann@example.org'])
  expect(getUsernames(await call('GET', `${group}/members`))).toEqual(['ann@example.org'])
  expect(await listProfileMetadata()).toEqual([
    ['username', false, true],
    ['email', true, false],
  ])
  expect((await call('PUT', bob, { body: { username: 'rob' } })).body.errors).toMatchObject([
    { field: 'username', errorMessage: 'error-user-attribute-read-only' },
    { field: 'email', errorMessage: 'error-user-attribute-required' },
  ])
  expect((await call('PUT', ann, { body: { attributes: {} } })).body).toMatchObject({
    field: 'email',
    errorMessage: 'error-user-attribute-required',
  })
  await call('PUT', path, { body: { registrationEmailAsUsername: false } })
  expect(getUsernames(await call('GET', `${path}/users`))).toEqual(['ann', 'bob'])
})

test('a search ignores case in any alphabet, and does not expand database wildcards', async () => {
  const path = await createRealm()
  await create(`${path}/users`, { username: 'ann_x', firstName: 'Ännchen', lastName: 'Straße' })
  await create(`${path}/users`, { username: 'annax', email: 'x%y@example.org' })
  const findUsernames = async (query: string) => getUsernames(await call('GET', `${path}/users?${query}`))
  expect(await findUsernames('search=%C3%84NN')).toEqual(['ann_x'])
  expect(await findUsernames('search=*STRA%C3%9F*')).toEqual(['ann_x'])
  expect(await findUsernames('search=ann_')).toEqual(['ann_x'])
  expect(await findUsernames('search=ann%20*x')).toEqual(['ann_x', 'annax'])
  expect(await findUsernames('search=%22ann%22')).toEqual([])
  expect(await findUsernames('email=%25')).toEqual(['annax'])
  expect(await findUsernames('firstName=%C3%A4nnCHEN&exact=true')).toEqual(['ann_x'])
})

test('users are found by ids in their order, by states in q, and by no attribute with an empty value', async () => {
  const path = `${await createRealm()}/users`
  const [bob, ann] = [
    await create(path, { username: 'bob', enabled: true, lastName: 'Lee' }),
    await create(path, { username: 'ann', enabled: true, emailVerified: true }),
  ]
  const ids = [bob, ann].map((user) => user.split('/').at(-1)).join('%20')
  const findUsernames = async (query: string) => getUsernames(await call('GET', `${path}?${query}`))
  expect(await findUsernames(`search=id:${ids}`)).toEqual(['bob', 'ann'])
  expect(await findUsernames('q=emailVerified:true')).toEqual(['ann'])
  expect(await findUsernames('q=enabled:true%20emailVerified:false')).toEqual(['bob'])
  expect(await findUsernames('q=enabled:false&enabled=true')).toEqual(['ann', 'bob'])
  expect(await findUsernames('q=dept:')).toEqual([])
  expect(await findUsernames('q=dept')).toEqual(['ann', 'bob'])
})

test('users are found by the time of their creation, in lists and counts', async () => {
  const path = `${await createRealm()}/users`
  const noon = Date.UTC(2024, 4, 5, 12)
  await create(path, { username: 'ann', createdTimestamp: noon })
  await create(path, { username: 'bob', createdTimestamp: noon + 24 * 60 * 60 * 1000 })
  for (const [query, usernames] of [
    ['createdAfter=2024-05-05&createdBefore=2024-05-05', ['ann']],
    [`createdAfter=${noon}`, ['ann', 'bob']],
    [`createdAfter=${noon + 1}`, ['bob']],
    [`createdBefore=${noon}&search=a`, ['ann']],
    ['createdBefore=2024-05-04', []],
    ['createdAfter=&createdBefore=', ['ann', 'bob']],
  ] as const) {
    expect(getUsernames(await call('GET', `${path}?${query}`)), query).toEqual(usernames)
    expect((await call('GET', `${path}/count?${query}`)).body, query).toBe(usernames.length)
  }
  const error = "Invalid value for 'createdAfter', expected format is yyyy-MM-dd or an Epoch timestamp"
  expect(await call('GET', `${path}?createdAfter=2024-02-31`)).toMatchObject({ status: 400, body: { error } })
})

test('an empty list as attributes, which PHP writes for an empty map, is none', async () => {
  const path = `${await createRealm()}/users`
  const user = await create(path, { username: 'ann', attributes: [] })
  expect((await call('GET', user)).body).not.toHaveProperty('attributes')
  expect((await call('PUT', user, { body: { attributes: ['a'] } })).status).toBe(400)
})

test('service accounts are found by username, but are not in other lists or counts', async () => {
  const path = await createRealm()
  await create(`${path}/clients`, { clientId: 'shop', serviceAccountsEnabled: true })
  const findUsernames = async (query: string) => getUsernames(await call('GET', `${path}/users${query}`))
  expect([await findUsernames(''), await findUsernames('?search=service')]).toEqual([[], []])
  expect(await findUsernames('?username=service-account')).toEqual(['service-account-shop'])
  expect((await call('GET', `${path}/users/count`)).body).toBe(0)
})

test('with the parameter exact, lists and counts without a filter have service accounts, as in Keycloak', async () => {
  const path = await createRealm()
  await create(`${path}/clients`, { clientId: 'app', serviceAccountsEnabled: true })
  await create(`${path}/users`, { username: 'ann' })
  for (const [query, names] of [
    ['', ['ann']],
    ['exact=true', ['ann', 'service-account-app']],
    ['exact=false', ['ann', 'service-account-app']],
    ['exact=true&username=ann', ['ann']],
    ['exact=true&search=service', []],
  ] as const) {
    expect(getUsernames(await call('GET', `${path}/users?${query}`)), query).toEqual(names)
    expect((await call('GET', `${path}/users/count?${query}`)).body, query).toBe(names.length)
  }
})

test('administrators see unmanaged attributes exactly if the user profile permits it, of users and of members', async () => {
  const path = await createRealm({ organizationsEnabled: true })
  const organization = await create(`${path}/organizations`, { name: 'acme', domains: [{ name: 'acme.example' }] })
  const { body: profile } = await call('GET', `${path}/users/profile`)
  const setPolicy = (unmanagedAttributePolicy?: string) =>
    call('PUT', `${path}/users/profile`, { body: { ...profile, unmanagedAttributePolicy } })
  await setPolicy('ADMIN_EDIT')
  const user = await create(`${path}/users`, { username: 'ann', attributes: { team: ['a'] } })
  const id = user.split('/').at(-1)
  await call('POST', `${organization}/members`, { body: JSON.stringify(id) })
  const readAttributes = async () => [
    (await call('GET', user)).body.attributes,
    (await call('GET', `${organization}/members/${id}`)).body.attributes,
    (await call('GET', `${organization}/members?briefRepresentation=false`)).body[0].attributes,
    (await call('GET', `${user}/unmanagedAttributes`)).body,
  ]
  for (const policy of ['ENABLED', 'ADMIN_EDIT', 'ADMIN_VIEW']) {
    await setPolicy(policy)
    expect(await readAttributes(), policy).toEqual(Array(4).fill({ team: ['a'] }))
  }
  await setPolicy()
  expect(await readAttributes()).toEqual([undefined, undefined, undefined, {}])
})

test('a user of a federation provider is shown with the provider as federationLink and origin, wherever users are listed', async () => {
  const config = { kerberosRealm: ['X'], serverPrincipal: ['HTTP/x@X'], keyTab: ['/tmp/x'], editMode: ['UNSYNCED'] }
  const provider = { id: randomUUID(), name: 'directory', providerId: 'kerberos', config }
  const path = await createRealm({
    organizationsEnabled: true,
    components: { 'org.keycloak.storage.UserStorageProvider': [provider] },
    roles: { realm: [{ name: 'reader' }] },
    groups: [{ name: 'staff' }],
    users: [
      { username: 'ann', realmRoles: ['reader'], groups: ['/staff'], federationLink: provider.id },
      { username: 'ben', realmRoles: ['reader'], groups: ['/staff'] },
    ],
  })
  const organization = await create(`${path}/organizations`, { name: 'acme', domains: [{ name: 'acme.example' }] })
  const ids = (await call('GET', `${path}/users`)).body.map(({ id }: { id: string }) => id)
  for (const id of ids) await call('POST', `${organization}/members`, { body: JSON.stringify(id) })
  const group = (await call('GET', `${path}/groups`)).body[0].id
  const lists = [
    `${path}/users`,
    `${path}/groups/${group}/members`,
    `${path}/roles/reader/users`,
    `${organization}/members`,
  ]
  const links = (users: Record<string, unknown>[]) =>
    users.map(({ federationLink, origin }) => ({ federationLink, origin }))
  const none = { federationLink: undefined, origin: undefined }
  const linked = { federationLink: provider.id, origin: provider.id }
  for (const list of lists)
    for (const brief of [true, false])
      expect(links((await call('GET', `${list}?briefRepresentation=${brief}`)).body), list).toEqual([linked, none])
  for (const [id, expected] of [
    [ids[0], linked],
    [ids[1], none],
  ])
    for (const address of [`${path}/users/${id}`, `${organization}/members/${id}`])
      expect(links([(await call('GET', address)).body]), address).toEqual([expected])
})

test('attributes that user federation sets cannot be set by an administrator, only removed', async () => {
  const path = await createRealm()
  const { body: profile } = await call('GET', `${path}/users/profile`)
  const user = await create(`${path}/users`, { username: 'ann' })
  const put = (attributes: object, email?: string) =>
    call('PUT', user, { body: { attributes, ...(email && { email }) } })
  expect((await put({ LDAP_ID: ['1'] })).status).toBe(204)
  expect((await call('GET', user)).body).not.toHaveProperty('attributes')
  await call('PUT', `${path}/users/profile`, { body: { ...profile, unmanagedAttributePolicy: 'ENABLED' } })
  for (const name of [
    'LDAP_ID',
    'ldap_id',
    'LDAP_ENTRY_DN',
    'KERBEROS_PRINCIPAL',
    'CREATED_TIMESTAMP',
    'createTimestamp',
    'modifyTimestamp',
  ]) {
    const refusal = { field: name, errorMessage: 'updateReadOnlyAttributesRejectedMessage', params: [name] }
    const attributes = { [name]: ['1'] }
    expect(await put(attributes), name).toMatchObject({ status: 400, body: refusal })
    expect((await put({ [name]: [''] })).status, name).toBe(204)
    const creation = await call('POST', `${path}/users`, { body: { username: 'ben', attributes } })
    expect(creation, name).toMatchObject({ status: 400, body: refusal })
  }
  expect((await put({ LDAP_ID: ['1'] }, 'none')).body.errors.map(({ field }: { field: string }) => field)).toEqual([
    'email',
    'LDAP_ID',
  ])
  expect((await put({ userCertificate: ['1'], xLDAP_ID: ['1'] })).status).toBe(204)
})

test('the list takes the same number of statements for any number of users', async () => {
  const path = `${await createRealm()}/users`
  const { statements } = await testService()
  await create(path, { username: 'first' })
  const before = await statements(() => call('GET', path))
  for (const username of ['second', 'third', 'fourth']) await create(path, { username })
  expect((await statements(() => call('GET', path))).length).toBe(before.length)
})

test('a credential in PUT of a user replaces the one of its type, or is added at the end', async () => {
  const password = { type: 'password', value: 'first' }
  const user = await create(`${await createRealm()}/users`, { username: 'ann', enabled: true, credentials: [password] })
  const listCredentials = async () =>
    (await call('GET', `${user}/credentials`)).body.map(({ id, type }: { id: string; type: string }) => ({ id, type }))
  const [first] = await listCredentials()
  const otp = { type: 'otp', secretData: '{"value":"x"}', credentialData: '{"subType":"totp"}' }
  await call('PUT', user, { body: { credentials: [otp] } })
  await call('PUT', user, { body: { credentials: [{ ...password, value: 'second' }] } })
  expect(await listCredentials()).toMatchObject([first, { type: 'otp' }])
  expect((await call('GET', user)).body.totp).toBe(true)
  expect(JSON.stringify((await call('GET', `${user}/credentials`)).body)).not.toContain('secretData')
})

test('remove-totp deletes only credentials of type otp, and returns 204 without any', async () => {
  const otp = { type: 'otp', secretData: '{"value":"x"}', credentialData: '{"subType":"totp"}' }
  const credentials = [{ type: 'password', value: 'pw' }, otp, otp]
  const user = await create(`${await createRealm()}/users`, { username: 'ann', enabled: true, credentials })
  for (const _attempt of [1, 2]) expect((await call('PUT', `${user}/remove-totp`)).status).toBe(204)
  expect((await call('GET', `${user}/credentials`)).body).toMatchObject([{ type: 'password' }])
})

test('a new user in a missing group returns 400, and is not created', async () => {
  const path = await createRealm()
  expect(await call('POST', `${path}/users`, { body: { username: 'ann', groups: ['/nowhere'] } })).toMatchObject({
    status: 400,
    body: { errorMessage: 'There is no group /nowhere' },
  })
  expect((await call('GET', `${path}/users`)).body).toEqual([])
})

test('a revoked consent is no longer listed, and revoking it again returns 404', async () => {
  const clientConsents = [{ clientId: 'shop', grantedClientScopes: ['email'], createdDate: 1, lastUpdatedDate: 2 }]
  const path = await createRealm({ clients: [{ clientId: 'shop' }], users: [{ username: 'ann', clientConsents }] })
  const [{ id }] = (await call('GET', `${path}/users`)).body
  const consents = `${path}/users/${id}/consents`
  expect((await call('GET', consents)).body).toEqual([{ ...clientConsents[0], additionalGrants: [] }])
  expect((await call('DELETE', `${consents}/shop`)).status).toBe(204)
  expect(await call('DELETE', `${consents}/shop`)).toMatchObject({
    status: 404,
    body: { error: 'Consent nor offline token not found' },
  })
  expect((await call('DELETE', `${consents}/nowhere`)).body).toEqual({ error: 'Client not found' })
  expect((await call('GET', consents)).body).toEqual([])
})

test('joining or leaving a group twice creates one admin event', async () => {
  const path = await createRealm({ adminEventsEnabled: true })
  const group = (await create(`${path}/groups`, { name: 'crew' })).split('/').at(-1)
  const ann = await create(`${path}/users`, { username: 'ann' })
  for (const method of ['PUT', 'PUT', 'DELETE', 'DELETE']) await call(method, `${ann}/groups/${group}`)
  const events = await call('GET', `${path}/admin-events?resourceTypes=GROUP_MEMBERSHIP&direction=asc`)
  expect(events.body.map(({ operationType }: { operationType: string }) => operationType)).toEqual(['CREATE', 'DELETE'])
})

test('with internationalizationEnabled, users have the attribute locale even if the user profile does not define it', async () => {
  const path = await createRealm()
  const user = await create(`${path}/users`, { username: 'ann', attributes: { locale: ['de'] } })
  expect((await call('GET', user)).body).not.toHaveProperty('attributes')
  await call('PUT', path, { body: { internationalizationEnabled: true } })
  await call('PUT', user, { body: { attributes: { locale: ['de'] } } })
  const { body } = await call('GET', `${user}?userProfileMetadata=true`)
  expect(body.attributes).toEqual({ locale: ['de'] })
  expect(body.userProfileMetadata.attributes[0]).toMatchObject({ name: 'locale' })
  expect((await call('GET', `${path}/users/profile`)).body.attributes[0]).toMatchObject({ name: 'username' })
})

test('an undeclared locale may have several values, and a declared one has a single value', async () => {
  const path = await createRealm({ internationalizationEnabled: true })
  const user = await create(`${path}/users`, { username: 'ann' })
  const { body: profile } = await call('GET', `${path}/users/profile`)
  const getValidators = async () =>
    (await call('GET', `${path}/users/profile/metadata`)).body.attributes.find(
      ({ name }: { name: string }) => name === 'locale',
    ).validators
  const put = async () => (await call('PUT', user, { body: { attributes: { locale: ['de', 'en'] } } })).status
  expect(await getValidators()).toEqual({})
  expect(await put()).toBe(204)
  const locale = { name: 'locale', permissions: { view: ['admin'], edit: ['admin'] } }
  await call('PUT', `${path}/users/profile`, { body: { ...profile, attributes: [...profile.attributes, locale] } })
  expect(await getValidators()).toEqual({ multivalued: { max: '1' } })
  expect(await put()).toBe(400)
})

test('a default value that its validators refuse is not stored in the user profile', async () => {
  const profile = `${await createRealm()}/users/profile`
  const put = async (defaultValue: string) => {
    const validations = { options: { options: ['north', 'south-east'] }, length: { max: 5 } }
    const attributes = [{ name: 'username' }, { name: 'email' }, { name: 'site', defaultValue, validations }]
    return (await call('PUT', profile, { body: { attributes } })).body.errorMessage
  }
  const problem = "Default value for attribute 'site' is invalid"
  expect(await put('north')).toBeUndefined()
  expect(await put('west')).toBe(`[${problem}]`)
  expect(await put('south-west')).toBe(`[${problem}, ${problem}]`)
})

test('PUT of the user profile without a body restores the default user profile', async () => {
  const path = `${await createRealm()}/users/profile`
  const defaultProfile = (await call('GET', path)).body
  await call('PUT', path, { body: { attributes: [{ name: 'username' }, { name: 'email' }] } })
  expect((await call('PUT', path)).body).toEqual(defaultProfile)
  expect((await call('GET', path)).body).toEqual(defaultProfile)
})

test('setting credentials of a service account returns 400, and other updates do not', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: 'robot', secret: 's', serviceAccountsEnabled: true })
  const account = `${path}/users/${(await call('GET', `${client}/service-account-user`)).body.id}`
  const message = 'You can not manage credentials for this user'
  const error = { status: 400, body: { error: message, error_description: message } }
  const password = { type: 'password', value: 'pw' }
  for (const body of [password, { ...password, temporary: true }, { type: 'password' }])
    expect(await call('PUT', `${account}/reset-password`, { body })).toMatchObject(error)
  expect(await call('PUT', account, { body: { credentials: [password] } })).toMatchObject(error)
  expect((await call('GET', `${account}/credentials`)).body).toEqual([])
  expect((await call('PUT', account, { body: { attributes: { colour: ['red'] } } })).status).toBe(204)
})

const otp = (userLabel: string) => ({
  type: 'otp',
  userLabel,
  secretData: '{"value":"x"}',
  credentialData: '{"subType":"totp"}',
})

test('no user has two credentials of a type with the same label, however they get it', async () => {
  const path = `${await createRealm()}/users`
  const conflict = { error: 'conflict', error_description: 'Device already exists with the same name' }
  const ann = await create(path, { username: 'ann', credentials: [otp('phone'), otp('tablet')] })
  const list = async () =>
    (await call('GET', `${ann}/credentials`)).body as { id: string; type: string; userLabel?: string }[]
  const [phone, tablet] = await list()
  const label = (id: string, text: string) =>
    call('PUT', `${ann}/credentials/${id}/userLabel`, { body: text, headers: { 'content-type': 'text/plain' } })
  const requests = [
    await call('POST', path, { body: { username: 'bob', credentials: [otp('key'), otp(' KEY ')] } }),
    await call('PUT', ann, { body: { credentials: [otp('key'), otp('Key')] } }),
    await label(tablet!.id, ' Phone '),
  ]
  expect(requests.map(({ status, body }) => ({ status, body }))).toEqual(
    requests.map(() => ({ status: 409, body: conflict })),
  )
  expect((await list()).map(({ userLabel }) => userLabel)).toEqual(['phone', 'tablet'])
  expect((await label(phone!.id, 'phone')).status).toBe(204)
  await call('PUT', `${ann}/reset-password`, { body: { type: 'password', value: 'pw' } })
  const password = (await list()).find(({ type }) => type === 'password')!
  expect((await label(password.id, 'phone')).status).toBe(204)
})

test('a text as value of an attribute of a user or an authorization resource is a list with one element', async () => {
  const path = await createRealm({ userProfile: { unmanagedAttributePolicy: 'ENABLED' } })
  const shop = await create(`${path}/clients`, {
    clientId: 'shop',
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
  })
  const attributes = { colour: 'red' }
  const ann = await create(`${path}/users`, { username: 'ann', attributes })
  const resourcePath = `${shop}/authz/resource-server/resource`
  const { body: resource } = await call('POST', resourcePath, { body: { name: 'bike', attributes } })
  for (const address of [ann, `${resourcePath}/${resource._id}`])
    expect((await call('GET', address)).body.attributes).toEqual({ colour: ['red'] })
})

test('a federated identity may lack the user id and username at the provider, however it is created', async () => {
  const path = await createRealm({
    identityProviders: [{ alias: 'partner', providerId: 'github', config: { clientId: 'a', clientSecret: 'b' } }],
    users: [{ username: 'imported', federatedIdentities: [{ identityProvider: 'partner' }] }],
  })
  const federatedIdentities = [{ identityProvider: 'partner', userId: null }]
  await create(`${path}/users`, { username: 'created', federatedIdentities })
  await call('POST', `${path}/partialImport`, { body: { users: [{ username: 'partial', federatedIdentities }] } })
  const linked = await create(`${path}/users`, { username: 'linked' })
  const link = () => call('POST', `${linked}/federated-identity/partner`, { body: {} })
  expect((await link()).status).toBe(204)
  expect(await link()).toMatchObject({ status: 409, body: { errorMessage: 'User is already linked with provider' } })
  const users = (await call('GET', `${path}/users`)).body as { id: string; username: string }[]
  expect(users.map(({ username }) => username)).toEqual(['created', 'imported', 'linked', 'partial'])
  for (const { id, username } of users)
    expect((await call('GET', `${path}/users/${id}/federated-identity`)).body, username).toEqual([
      { identityProvider: 'partner' },
    ])
})

test('a user keeps times of creation, and credentials with ids, labels and the order of their priorities', async () => {
  const credentials = [
    { ...otp('tablet'), id: 'second', createdDate: 2000, priority: 20 },
    { ...otp('phone'), id: 'first', createdDate: 1000, priority: 10 },
  ]
  const ann = await create(`${await createRealm()}/users`, { username: 'ann', createdTimestamp: 3000, credentials })
  expect((await call('GET', `${ann}/credentials`)).body).toMatchObject([
    { id: 'first', userLabel: 'phone', createdDate: 1000 },
    { id: 'second', userLabel: 'tablet', createdDate: 2000 },
  ])
  expect((await call('GET', ann)).body.createdTimestamp).toBe(3000)
})

test('moveAfter/null moves a credential to the first position', async () => {
  const ann = await create(`${await createRealm()}/users`, {
    username: 'ann',
    credentials: [otp('a'), otp('b'), otp('c')],
  })
  const list = async () => (await call('GET', `${ann}/credentials`)).body as { id: string; userLabel: string }[]
  await call('POST', `${ann}/credentials/${(await list())[2]!.id}/moveAfter/null`)
  expect((await list()).map(({ userLabel }) => userLabel)).toEqual(['c', 'a', 'b'])
})

test('a password that is set by its value has no label, and a one-time code can be set by its value', async () => {
  const credentials = [
    { value: 'Pa55word', userLabel: 'mine' },
    { type: 'totp', value: 'JBSWY3DPEHPK3PXP', userLabel: 'phone' },
  ]
  const ann = await create(`${await createRealm()}/users`, { username: 'ann', credentials })
  const [password, code] = (await call('GET', `${ann}/credentials`)).body
  expect(password).not.toHaveProperty('userLabel')
  expect(code).toMatchObject({ type: 'otp', userLabel: 'phone' })
  expect(JSON.parse(code.credentialData)).toMatchObject({ subType: 'totp', digits: 6, period: 30 })
})

test('new users get the required actions that are set for all new users and are enabled', async () => {
  const path = await createRealm()
  const setDefault = async (alias: string, enabled: boolean) => {
    const action = `${path}/authentication/required-actions/${alias}`
    const { body } = await call('GET', action)
    await call('PUT', action, { body: { ...body, enabled, defaultAction: true } })
  }
  await setDefault('CONFIGURE_TOTP', true)
  await setDefault('TERMS_AND_CONDITIONS', false)
  const ann = await create(`${path}/users`, { username: 'ann' })
  const bob = await create(`${path}/users`, { username: 'bob', requiredActions: ['UPDATE_PASSWORD', 'CONFIGURE_TOTP'] })
  expect((await call('GET', ann)).body.requiredActions).toEqual(['CONFIGURE_TOTP'])
  expect((await call('GET', bob)).body.requiredActions).toEqual(['CONFIGURE_TOTP', 'UPDATE_PASSWORD'])
})

test('with registrationEmailAsUsername, a taken username is reported as a taken email', async () => {
  const path = `${await createRealm({ registrationEmailAsUsername: true })}/users`
  await create(path, { email: 'ann@example.org' })
  const bob = await create(path, { email: 'bob@example.org' })
  const body = { email: 'Ann@example.org' }
  for (const response of [await call('POST', path, { body }), await call('PUT', bob, { body })])
    expect([response.status, response.body]).toEqual([409, { errorMessage: 'User exists with same email' }])
})
