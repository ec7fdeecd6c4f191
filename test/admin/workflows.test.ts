// Workflows over REST: cases without a recorded exchange of Keycloak.
import { load } from 'js-yaml'
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { app, call, create, createRealm } = await testServer()

const steps = [{ uses: 'disable-user', after: '1d' }]

test.each([
  [{ steps }, 'Workflow name cannot be null or empty.'],
  [{ name: ' ', steps }, 'Workflow name cannot be null or empty.'],
  [{ name: 'w' }, 'Steps provided should support a single type, actual: USERS, CLIENTS'],
  [{ name: 'w', steps: [{ after: '1d' }] }, "Step 'uses' cannot be null or empty."],
  [{ name: 'w', steps: [{ uses: 'nowhere' }] }, 'Could not find step provider: nowhere'],
  [{ name: 'w', steps: [{ uses: 'toString' }] }, 'Could not find step provider: toString'],
  [
    { name: 'w', steps: [{ uses: 'delete-client' }, { uses: 'disable-user' }] },
    'Steps provided are not compatible with each other.',
  ],
  [{ name: 'w', steps: [{ uses: 'disable-user', after: '1w' }] }, "Step 'after' configuration is not valid: 1w"],
  [{ name: 'w', steps: [{ uses: 'disable-user', after: '-1d' }] }, "Step 'after' configuration cannot be negative."],
  [
    { name: 'w', schedule: { after: '5y' }, steps: [{ uses: 'disable-user', after: '1y' }] },
    "Step 'after' configuration is not valid: 1y",
  ],
  [{ name: 'w', schedule: { after: '5y' }, steps }, "Schedule 'after' configuration is not valid: 5y"],
  [{ name: 'w', steps: [{ uses: 'restart' }, ...steps] }, 'Workflow restart step must be the last step.'],
  [
    { name: 'w', steps: [{ uses: 'disable-user' }, { uses: 'restart' }] },
    'No scheduled step found if restarting at position 0',
  ],
  [{ name: 'w', steps, on: 'user_created or full_moon' }, 'Could not find provider factory with id: full-moon'],
  [{ name: 'w', steps, if: 'Has_Role(x)' }, 'Could not find provider factory with id: Has_Role'],
  [{ name: 'w', steps, if: 'in-organization(x)' }, 'Could not find provider factory with id: in-organization'],
  [
    { name: 'w', steps, concurrency: { 'cancel-in-progress': 'false' } },
    'Could not find provider factory with id: false',
  ],
  [{ name: 'w', steps, if: '(has-role(a)' }, 'Invalid expression "(has-role(a)": expected ")", but found the end'],
  [
    { name: 'w', steps, if: 'has-role(a) and' },
    'Invalid expression "has-role(a) and": expected a name, "not" or "(", but found the end',
  ],
  [
    { name: 'w', steps, if: `${'('.repeat(11)}has-role(a)${')'.repeat(11)}` },
    'Expression exceeds maximum allowed nesting depth of 10',
  ],
  [
    { name: 'w', steps: [{ uses: 'disable-client' }], if: 'has-role(a)' },
    'Provided condition types (USERS) are not compatible with workflow type (CLIENTS).',
  ],
  [
    { name: 'w', steps: [...steps, { uses: 'restart' }, { uses: 'restart' }] },
    'Workflow can have only one restart step.',
  ],
  [
    { name: 'w', steps: [...steps, { uses: 'restart', with: { position: '5' } }] },
    'Workflow restart step has invalid position: 5',
  ],
  [{ name: 'w', steps, schedule: { after: '0' } }, "Schedule 'after' configuration must be at least one second."],
  [
    { name: 'w', steps, if: 'has-role(a))' },
    'Invalid expression "has-role(a))": expected "and", "or" or the end, but found ")" at character 12',
  ],
])('a new workflow %j returns 400', async (body, errorMessage) => {
  expect(await call('POST', `${await createRealm()}/workflows`, { body })).toMatchObject({
    status: 400,
    body: { errorMessage },
  })
})

test('a condition with 10,000 open parentheses returns 400', async () => {
  const condition = '('.repeat(10_000)
  const response = await call('POST', `${await createRealm()}/workflows`, { body: { name: 'w', steps, if: condition } })
  expect(response).toMatchObject({
    status: 400,
    body: { errorMessage: 'Expression exceeds maximum allowed length of 2048 characters' },
  })
})

test.each([
  'has-role',
  'NOT has-role(a) AND !has-role(a\\) b)',
  'has-role(a "b) or has-role (c)',
  `${'('.repeat(10)}has-role(a)${')'.repeat(10)}`,
  'has-role(a) and (has-user-attribute(b:c) or is-member-of(/x))',
  '',
])('the condition %j is accepted', async (condition) => {
  const address = await create(`${await createRealm()}/workflows`, { name: 'w', if: condition, steps })
  expect((await call('GET', address)).body).toMatchObject({ if: condition })
})

test('PUT replaces the workflow, and a step has the id of the former step at its position', async () => {
  const path = await createRealm()
  const address = await create(`${path}/workflows`, {
    id: 'my-workflow',
    name: 'w',
    on: 'user_created',
    enabled: false,
    steps,
  })
  expect(address).toBe(`${path}/workflows/my-workflow`)
  const before = (await call('GET', address)).body
  expect((await call('PUT', address, { body: { name: 'v', steps: [{ uses: 'delete-user' }] } })).status).toBe(204)
  expect((await call('GET', address)).body).toEqual({
    id: 'my-workflow',
    name: 'v',
    steps: [{ uses: 'delete-user', id: before.steps[0].id }],
  })
  expect((await call('PUT', address, { body: { steps } })).body).toEqual({
    errorMessage: 'Workflow name cannot be null or empty.',
  })
  expect((await call('GET', `${address}?includeId=false`)).body).toEqual({
    name: 'v',
    steps: [{ uses: 'delete-user' }],
  })
})

test('workflows can be read and written as YAML', async () => {
  const path = await createRealm()
  const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' }
  const text = 'name: w\non: user_created\nsteps:\n  - uses: disable-user\n    after: 30d\n'
  const { status, headers: responseHeaders } = await call('POST', `${path}/workflows`, { body: text, headers })
  expect(status).toBe(201)
  const address = new URL(String(responseHeaders.location)).pathname
  const response = await call('GET', `${address}?includeId=false`, { headers: { accept: 'application/json' } })
  expect(response.body).toEqual({ name: 'w', on: 'user_created', steps: [{ uses: 'disable-user', after: '30d' }] })
  const { body: token } = await call('POST', '/realms/master/protocol/openid-connect/token', {
    body: 'grant_type=password&client_id=admin-cli&username=admin&password=admin',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    token: null,
  })
  const yamlResponse = await app.inject({
    url: `${address}?includeId=false`,
    headers: { accept: 'application/yaml', authorization: `Bearer ${token.access_token}` },
  })
  expect(yamlResponse.headers['content-type']).toBe('application/yaml;charset=UTF-8')
  expect(load(yamlResponse.body)).toEqual(response.body)
  expect(await call('POST', `${path}/workflows`, { body: 'name: [', headers })).toMatchObject({ status: 400 })
})

test('a workflow in YAML has an ETag of its own, which If-Match accepts', async () => {
  const address = await create(`${await createRealm()}/workflows`, { name: 'w', steps })
  const [json, yaml] = await Promise.all(
    ['application/json', 'application/yaml'].map(
      async (accept) => (await call('GET', address, { headers: { accept } })).headers.etag,
    ),
  )
  expect(yaml).toBe(json?.toString().replace(/"$/, '-yaml"'))
  const put = (etag: unknown) =>
    call('PUT', address, { body: { name: 'v', steps }, headers: { 'if-match': String(etag) } })
  expect((await put(yaml)).status).toBe(204)
  expect((await put(yaml)).status).toBe(412)
})
