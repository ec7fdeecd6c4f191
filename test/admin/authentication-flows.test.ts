// Authentication flows, executions and required actions over REST.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const getId = (address: string) => address.split('/').at(-1)!
const toFlow = (alias: string) => ({ alias, providerId: 'basic-flow', topLevel: true })

async function listExecutions(flows: string, alias: string): Promise<{ id: string; [field: string]: unknown }[]> {
  return (await call('GET', `${flows}/${alias}/executions`)).body
}

test('equal executions of a flow are moved, updated and deleted by their ids', async () => {
  const authentication = `${await createRealm()}/authentication`
  await create(`${authentication}/flows`, toFlow('custom'))
  const addExecution = () =>
    create(`${authentication}/flows/custom/executions/execution`, { provider: 'auth-otp-form' })
  const [first, second, third] = [getId(await addExecution()), getId(await addExecution()), getId(await addExecution())]
  const listIds = async () => (await listExecutions(`${authentication}/flows`, 'custom')).map(({ id }) => id)
  expect(await listIds()).toEqual([first, second, third])
  await call('POST', `${authentication}/executions/${third}/raise-priority`)
  expect(await listIds()).toEqual([first, third, second])
  const body = { id: third, requirement: 'REQUIRED', priority: 7 }
  expect((await call('PUT', `${authentication}/flows/custom/executions`, { body })).status).toBe(204)
  expect((await call('DELETE', `${authentication}/executions/${first}`)).status).toBe(204)
  expect(await listExecutions(`${authentication}/flows`, 'custom')).toMatchObject([
    { id: second, requirement: 'DISABLED' },
    { id: third, requirement: 'REQUIRED' },
  ])
})

test('a bound flow cannot be deleted; an unbound one is deleted with its subflows and their configurations', async () => {
  const path = await createRealm()
  const flows = `${path}/authentication/flows`
  const copy = await create(`${flows}/browser/copy`, { newName: 'custom' })
  const id = getId(copy)
  const executions = await listExecutions(flows, 'custom')
  const config = executions.find(({ authenticationConfig }) => authenticationConfig)!.authenticationConfig
  const client = await create(`${path}/clients`, {
    clientId: 'shop',
    authenticationFlowBindingOverrides: { browser: id },
  })
  expect(await call('DELETE', `${flows}/${id}`)).toMatchObject({
    status: 400,
    body: { errorMessage: 'Flow custom is in use: client shop is bound to it' },
  })
  await call('DELETE', client)
  expect((await call('DELETE', `${flows}/${id}`)).status).toBe(204)
  for (const { flowId } of executions.filter((execution) => execution.flowId))
    expect((await call('GET', `${flows}/${flowId}`)).status).toBe(404)
  expect((await call('GET', `${path}/authentication/config/${config}`)).status).toBe(404)
})

test('a flow is returned with its description, and its type decides which steps it may have', async () => {
  const flows = `${await createRealm()}/authentication/flows`
  const steps = {
    'basic-flow': 'auth-otp-form',
    'form-flow': 'registration-user-creation',
    'client-flow': 'client-secret',
  }
  for (const [providerId, step] of Object.entries(steps)) {
    await create(flows, { alias: providerId, providerId, topLevel: true, description: `Our ${providerId}` })
    const statuses = Object.values(steps).map(async (provider) => {
      const { status } = await call('POST', `${flows}/${providerId}/executions/execution`, { body: { provider } })
      return [provider, status]
    })
    expect(await Promise.all(statuses)).toEqual(
      Object.values(steps).map((provider) => [provider, provider === step ? 201 : 400]),
    )
  }
  const described = Object.keys(steps).map((id) => expect.objectContaining({ alias: id, description: `Our ${id}` }))
  expect((await call('GET', flows)).body).toEqual(expect.arrayContaining(described))
})

test('a built-in flow is neither changed nor deleted', async () => {
  const flows = `${await createRealm()}/authentication/flows`
  const { id } = (await call('GET', flows)).body.find(({ alias }: { readonly alias: string }) => alias === 'browser')
  expect((await call('DELETE', `${flows}/${id}`)).body.error).toBe("Can't delete built in flow")
  const added = await call('POST', `${flows}/browser/executions/execution`, { body: { provider: 'auth-otp-form' } })
  expect(added.body.error).toBe('It is illegal to add execution to a built in flow')
})

test('a flow without a type in the body is neither created nor updated', async () => {
  const flows = `${await createRealm()}/authentication/flows`
  const [browser] = (await call('GET', flows)).body
  const conflict = { status: 409, body: { error: 'conflict', error_description: 'Duplicate resource error' } }
  expect(await call('POST', flows, { body: { alias: 'own', topLevel: true } })).toMatchObject(conflict)
  expect(await call('PUT', `${flows}/${browser.id}`, { body: { alias: 'browser' } })).toMatchObject(conflict)
  expect((await call('GET', flows)).body[0]).toEqual(browser)
})

test('a shared subflow is deleted with the last flow that contains it', async () => {
  const subflow = { authenticator: null, flowAlias: 'shared', requirement: 'REQUIRED' }
  const path = await createRealm({
    authenticationFlows: [
      { ...toFlow('first'), authenticationExecutions: [subflow] },
      { ...toFlow('second'), authenticationExecutions: [subflow] },
      { alias: 'shared', authenticationExecutions: [{ authenticator: 'auth-cookie' }] },
    ],
  })
  const flows = `${path}/authentication/flows`
  const allFlows = (await call('GET', flows)).body as { id: string; alias: string }[]
  const [firstId, secondId] = ['first', 'second'].map((alias) => allFlows.find((flow) => flow.alias === alias)!.id)
  await call('DELETE', `${flows}/${firstId}`)
  expect(await listExecutions(flows, 'second')).toMatchObject([{ displayName: 'shared' }, { displayName: 'Cookie' }])
  await call('DELETE', `${flows}/${secondId}`)
  expect((await call('GET', `${flows}/shared/executions`)).status).toBe(404)
})

test('a flow cannot contain itself', async () => {
  const authentication = `${await createRealm()}/authentication`
  const parentId = getId(await create(`${authentication}/flows`, toFlow('parent')))
  const subflow = { alias: 'child', type: 'basic-flow' }
  const childId = getId(await create(`${authentication}/flows/parent/executions/flow`, subflow))
  const body = { parentFlow: childId, flowId: parentId, authenticatorFlow: true, requirement: 'REQUIRED' }
  expect(await call('POST', `${authentication}/executions`, { body })).toMatchObject({
    status: 400,
    body: { errorMessage: 'Authentication flow "child" would contain itself' },
  })
})

test('secrets in the configuration of an execution are masked, and a mask retains them', async () => {
  const path = await createRealm()
  const authentication = `${path}/authentication`
  await create(`${authentication}/flows/registration/copy`, { newName: 'custom' })
  const form = 'custom registration form'
  const captcha = getId(
    await create(`${authentication}/flows/${encodeURIComponent(form)}/executions/execution`, {
      provider: 'registration-recaptcha-action',
    }),
  )
  const config = { 'site.key': 'public', 'secret.key': 'hidden' }
  const address = await create(`${authentication}/executions/${captcha}/config`, { alias: 'captcha', config })
  const maskedConfig = { 'site.key': 'public', 'secret.key': '**********' }
  expect((await call('GET', address)).body.config).toEqual(maskedConfig)
  await call('PUT', `${authentication}/config/${getId(address)}`, {
    body: { alias: 'captcha', config: { ...maskedConfig, 'site.key': 'other' } },
  })
  const exportConfigs = async (query: string) =>
    (await call('GET', `/regent/v1/export/${getId(path)}${query}`)).body.authenticatorConfig
  expect(await exportConfigs('')).toContainEqual({ alias: 'captcha', config: { ...maskedConfig, 'site.key': 'other' } })
  expect(await exportConfigs('?secrets=true')).toContainEqual({
    alias: 'captcha',
    config: { 'site.key': 'other', 'secret.key': 'hidden' },
  })
})

test('a declared execution is listed even if its authenticator is unknown', async () => {
  const path = await createRealm({
    authenticatorConfig: [{ alias: 'phone settings', config: { digits: '6' } }],
    authenticationFlows: [
      {
        ...toFlow('custom'),
        authenticationExecutions: [{ authenticator: 'phone', authenticatorConfig: 'phone settings' }],
      },
    ],
  })
  expect(await listExecutions(`${path}/authentication/flows`, 'custom')).toMatchObject([
    { displayName: 'phone', providerId: 'phone', requirement: 'REQUIRED', configurable: true, alias: 'phone settings' },
  ])
})

test('a renamed required action is found by its new name', async () => {
  const actions = `${await createRealm()}/authentication/required-actions`
  const body = { alias: 'terms', name: 'Our terms', enabled: true, priority: 3 }
  expect((await call('PUT', `${actions}/TERMS_AND_CONDITIONS`, { body })).status).toBe(204)
  expect((await call('GET', `${actions}/terms`)).body).toEqual({
    ...body,
    providerId: 'TERMS_AND_CONDITIONS',
    defaultAction: false,
    config: {},
  })
  expect((await call('GET', actions)).body[0].alias).toBe('terms')
})

test('changes of flows and required actions create admin events without possible secrets', async () => {
  const path = await createRealm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  const authentication = `${path}/authentication`
  await create(`${authentication}/flows/browser/copy`, { newName: 'custom' })
  const execution = await create(`${authentication}/flows/custom/executions/execution`, {
    provider: 'deny-access-authenticator',
  })
  await create(`${execution}/config`, { alias: 'message', config: { denyErrorMessage: 'No', other: 'hidden' } })
  await call('POST', `${execution}/raise-priority`)
  await call('DELETE', `${authentication}/required-actions/VERIFY_EMAIL/config`)
  const events = (await call('GET', `${path}/admin-events?direction=asc`)).body as Record<string, string>[]
  const executionPath = execution.replace(`${path}/`, '')
  expect(events.map((event) => `${event.operationType} ${event.resourceType} ${event.resourcePath}`)).toEqual([
    'CREATE AUTH_FLOW authentication/flows/browser/copy',
    'CREATE AUTH_EXECUTION authentication/flows/custom/executions/execution',
    `CREATE AUTHENTICATOR_CONFIG ${executionPath}/config`,
    `UPDATE AUTH_EXECUTION ${executionPath}/raise-priority`,
    'DELETE REQUIRED_ACTION_CONFIG authentication/required-actions/VERIFY_EMAIL/config',
  ])
  expect(JSON.parse(events[2]!.representation!).config).toEqual({ denyErrorMessage: 'No', other: '**********' })
})

test('flows are listed in the order in which Keycloak creates those of a realm, and others follow by alias', async () => {
  const path = `${await createRealm()}/authentication/flows`
  for (const alias of ['zebra', 'ant'])
    await create(path, { alias, providerId: 'basic-flow', topLevel: true, builtIn: false })
  expect((await call('GET', path)).body.map(({ alias }: { alias: string }) => alias)).toEqual([
    'browser',
    'direct grant',
    'registration',
    'reset credentials',
    'clients',
    'first broker login',
    'docker auth',
    'ant',
    'zebra',
  ])
})

test('executions in the body of a new flow are ignored, whatever they contain', async () => {
  const path = `${await createRealm()}/authentication/flows`
  const authenticationExecutions = [{ authenticator: 'auth-cookie', requirement: 'ODD', colour: 'red' }]
  const flow = await create(path, { alias: 'mine', providerId: 'basic-flow', topLevel: true, authenticationExecutions })
  expect((await call('GET', flow)).body.authenticationExecutions).toEqual([])
})

test('a setting of an execution that any authenticator describes is shown unless it is a secret, and others are masked', async () => {
  const path = `${await createRealm()}/authentication`
  const { body } = await call('GET', `${path}/flows/browser/executions`)
  const { id } = body.find(({ configurable }: { configurable: boolean }) => configurable)
  const config = { 'site.key': 'public', 'secret.key': 'private', unknown: 'text' }
  const created = await call('POST', `${path}/executions/${id}/config`, { body: { alias: 'mine', config } })
  const address = `${path}/config/${String(created.headers.location).split('/').at(-1)}`
  expect((await call('GET', address)).body.config).toEqual({
    'site.key': 'public',
    'secret.key': '**********',
    unknown: '**********',
  })
})

test('of an unknown flow or execution and a missing alias, the error that Keycloak finds first is reported', async () => {
  const authentication = `${await createRealm()}/authentication`
  expect(await call('PUT', `${authentication}/flows/nowhere`, { body: {} })).toMatchObject({
    status: 404,
    body: { error: 'Could not find flow with id' },
  })
  expect(await call('POST', `${authentication}/executions/nowhere/config`, { body: {} })).toMatchObject({
    status: 409,
    body: { errorMessage: 'Failed to create authentication execution configuration with empty alias name' },
  })
  expect(await call('POST', `${authentication}/executions/nowhere/config`, { body: { alias: 'x' } })).toMatchObject({
    status: 404,
    body: { error: 'Illegal execution' },
  })
})
