import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

const idOf = (address: string) => address.split('/').at(-1)!
const flow = (alias: string) => ({ alias, providerId: 'basic-flow', topLevel: true })

async function steps(flows: string, alias: string): Promise<{ id: string; [field: string]: unknown }[]> {
  return (await call('GET', `${flows}/${alias}/executions`)).body
}

test('of two equal executions, the one with the id is moved, updated and deleted', async () => {
  const authentication = `${await realm()}/authentication`
  await make(`${authentication}/flows`, flow('ours'))
  const add = () => make(`${authentication}/flows/ours/executions/execution`, { provider: 'auth-otp-form' })
  const [first, second, third] = [idOf(await add()), idOf(await add()), idOf(await add())]
  const order = async () => (await steps(`${authentication}/flows`, 'ours')).map(({ id }) => id)
  expect(await order()).toEqual([first, second, third])
  await call('POST', `${authentication}/executions/${third}/raise-priority`)
  expect(await order()).toEqual([first, third, second])
  const body = { id: third, requirement: 'REQUIRED', priority: 7 }
  expect((await call('PUT', `${authentication}/flows/ours/executions`, { body })).status).toBe(204)
  expect((await call('DELETE', `${authentication}/executions/${first}`)).status).toBe(204)
  expect(await steps(`${authentication}/flows`, 'ours')).toMatchObject([
    { id: second, requirement: 'DISABLED' },
    { id: third, requirement: 'REQUIRED' },
  ])
})

test('a bound flow cannot be deleted; an unbound one is deleted with its subflows and their configurations', async () => {
  const path = await realm()
  const flows = `${path}/authentication/flows`
  const copy = await make(`${flows}/browser/copy`, { newName: 'ours' })
  const id = idOf(copy)
  const parts = await steps(flows, 'ours')
  const config = parts.find(({ authenticationConfig }) => authenticationConfig)!.authenticationConfig
  const client = await make(`${path}/clients`, {
    clientId: 'shop',
    authenticationFlowBindingOverrides: { browser: id },
  })
  expect(await call('DELETE', `${flows}/${id}`)).toMatchObject({
    status: 400,
    body: { errorMessage: 'Flow ours is in use: client shop is bound to it' },
  })
  await call('DELETE', client)
  expect((await call('DELETE', `${flows}/${id}`)).status).toBe(204)
  for (const { flowId } of parts.filter((execution) => execution.flowId))
    expect((await call('GET', `${flows}/${flowId}`)).status).toBe(404)
  expect((await call('GET', `${path}/authentication/config/${config}`)).status).toBe(404)
})

test('a shared subflow is deleted with the last flow that contains it', async () => {
  const part = { authenticator: null, flowAlias: 'part', requirement: 'REQUIRED' }
  const path = await realm({
    authenticationFlows: [
      { ...flow('one'), authenticationExecutions: [part] },
      { ...flow('two'), authenticationExecutions: [part] },
      { alias: 'part', authenticationExecutions: [{ authenticator: 'auth-cookie' }] },
    ],
  })
  const flows = `${path}/authentication/flows`
  const listed = (await call('GET', flows)).body as { id: string; alias: string }[]
  const [first, two] = ['one', 'two'].map((alias) => listed.find((listedFlow) => listedFlow.alias === alias)!.id)
  await call('DELETE', `${flows}/${first}`)
  expect(await steps(flows, 'two')).toMatchObject([{ displayName: 'part' }, { displayName: 'Cookie' }])
  await call('DELETE', `${flows}/${two}`)
  expect((await call('GET', `${flows}/part/executions`)).status).toBe(404)
})

test('a flow cannot contain itself', async () => {
  const authentication = `${await realm()}/authentication`
  const containing = idOf(await make(`${authentication}/flows`, flow('whole')))
  const part = { alias: 'part', type: 'basic-flow' }
  const partId = idOf(await make(`${authentication}/flows/whole/executions/flow`, part))
  const body = { parentFlow: partId, flowId: containing, authenticatorFlow: true, requirement: 'REQUIRED' }
  expect(await call('POST', `${authentication}/executions`, { body })).toMatchObject({
    status: 400,
    body: { errorMessage: 'Authentication flow "part" would contain itself' },
  })
})

test('secrets in the configuration of an execution are masked, and a mask retains them', async () => {
  const path = await realm()
  const authentication = `${path}/authentication`
  await make(`${authentication}/flows/registration/copy`, { newName: 'ours' })
  const form = 'ours registration form'
  const captcha = idOf(
    await make(`${authentication}/flows/${encodeURIComponent(form)}/executions/execution`, {
      provider: 'registration-recaptcha-action',
    }),
  )
  const config = { 'site.key': 'public', 'secret.key': 'hidden' }
  const address = await make(`${authentication}/executions/${captcha}/config`, { alias: 'captcha', config })
  const masked = { 'site.key': 'public', 'secret.key': '**********' }
  expect((await call('GET', address)).body.config).toEqual(masked)
  await call('PUT', `${authentication}/config/${idOf(address)}`, {
    body: { alias: 'captcha', config: { ...masked, 'site.key': 'other' } },
  })
  const exported = async (query: string) =>
    (await call('GET', `/regent/v1/export/${idOf(path)}${query}`)).body.authenticatorConfig
  expect(await exported('')).toContainEqual({ alias: 'captcha', config: { ...masked, 'site.key': 'other' } })
  expect(await exported('?secrets=true')).toContainEqual({
    alias: 'captcha',
    config: { 'site.key': 'other', 'secret.key': 'hidden' },
  })
})

test('a declared execution is listed even if its authenticator is unknown', async () => {
  const path = await realm({
    authenticatorConfig: [{ alias: 'phone settings', config: { digits: '6' } }],
    authenticationFlows: [
      {
        ...flow('ours'),
        authenticationExecutions: [{ authenticator: 'phone', authenticatorConfig: 'phone settings' }],
      },
    ],
  })
  expect(await steps(`${path}/authentication/flows`, 'ours')).toMatchObject([
    { displayName: 'phone', providerId: 'phone', requirement: 'REQUIRED', configurable: true, alias: 'phone settings' },
  ])
})

test('a renamed required action is found by its new name', async () => {
  const actions = `${await realm()}/authentication/required-actions`
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
  const path = await realm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  const authentication = `${path}/authentication`
  await make(`${authentication}/flows/browser/copy`, { newName: 'ours' })
  const step = await make(`${authentication}/flows/ours/executions/execution`, {
    provider: 'deny-access-authenticator',
  })
  await make(`${step}/config`, { alias: 'words', config: { denyErrorMessage: 'No', other: 'hidden' } })
  await call('POST', `${step}/raise-priority`)
  await call('DELETE', `${authentication}/required-actions/VERIFY_EMAIL/config`)
  const events = (await call('GET', `${path}/admin-events?direction=asc`)).body as Record<string, string>[]
  const execution = step.replace(`${path}/`, '')
  expect(events.map((event) => `${event.operationType} ${event.resourceType} ${event.resourcePath}`)).toEqual([
    'CREATE AUTH_FLOW authentication/flows/browser/copy',
    'CREATE AUTH_EXECUTION authentication/flows/ours/executions/execution',
    `CREATE AUTHENTICATOR_CONFIG ${execution}/config`,
    `UPDATE AUTH_EXECUTION ${execution}/raise-priority`,
    'DELETE REQUIRED_ACTION_CONFIG authentication/required-actions/VERIFY_EMAIL/config',
  ])
  expect(JSON.parse(events[2]!.representation!).config).toEqual({ denyErrorMessage: 'No', other: '**********' })
})
