import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

const idOf = (address: string) => address.split('/').at(-1)!
const flow = (alias: string) => ({ alias, providerId: 'basic-flow', topLevel: true })

async function steps(flows: string, alias: string): Promise<{ id: string; [field: string]: unknown }[]> {
  return (await call('GET', `${flows}/${alias}/executions`)).body
}

test('of two steps that are alike, the one that is meant is moved, changed and deleted', async () => {
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

test('a flow that something is bound to stays; otherwise it goes with its parts and their settings', async () => {
  const own = await realm()
  const flows = `${own}/authentication/flows`
  const copy = await make(`${flows}/browser/copy`, { newName: 'ours' })
  const id = idOf(copy)
  const parts = await steps(flows, 'ours')
  const config = parts.find(({ authenticationConfig }) => authenticationConfig)!.authenticationConfig
  const client = await make(`${own}/clients`, { clientId: 'shop', authenticationFlowBindingOverrides: { browser: id } })
  expect(await call('DELETE', `${flows}/${id}`)).toMatchObject({
    status: 400,
    body: { errorMessage: 'Flow ours is in use: client shop is bound to it' },
  })
  await call('DELETE', client)
  expect((await call('DELETE', `${flows}/${id}`)).status).toBe(204)
  for (const { flowId } of parts.filter((one) => one.flowId))
    expect((await call('GET', `${flows}/${flowId}`)).status).toBe(404)
  expect((await call('GET', `${own}/authentication/config/${config}`)).status).toBe(404)
})

test('what several flows consist of stays until the last of them goes', async () => {
  const part = { authenticator: null, flowAlias: 'part', requirement: 'REQUIRED' }
  const own = await realm({
    authenticationFlows: [
      { ...flow('one'), authenticationExecutions: [part] },
      { ...flow('two'), authenticationExecutions: [part] },
      { alias: 'part', authenticationExecutions: [{ authenticator: 'auth-cookie' }] },
    ],
  })
  const flows = `${own}/authentication/flows`
  const listed = (await call('GET', flows)).body as { id: string; alias: string }[]
  const [one, two] = ['one', 'two'].map((alias) => listed.find((each) => each.alias === alias)!.id)
  await call('DELETE', `${flows}/${one}`)
  expect(await steps(flows, 'two')).toMatchObject([{ displayName: 'part' }, { displayName: 'Cookie' }])
  await call('DELETE', `${flows}/${two}`)
  expect((await call('GET', `${flows}/part/executions`)).status).toBe(404)
})

test('a flow cannot become a part of itself', async () => {
  const authentication = `${await realm()}/authentication`
  const whole = idOf(await make(`${authentication}/flows`, flow('whole')))
  const part = { alias: 'part', type: 'basic-flow' }
  const partId = idOf(await make(`${authentication}/flows/whole/executions/flow`, part))
  const body = { parentFlow: partId, flowId: whole, authenticatorFlow: true, requirement: 'REQUIRED' }
  expect(await call('POST', `${authentication}/executions`, { body })).toMatchObject({
    status: 400,
    body: { errorMessage: 'Authentication flow "part" would contain itself' },
  })
})

test('secrets among the settings of a step do not show, and a mask keeps them', async () => {
  const own = await realm()
  const authentication = `${own}/authentication`
  await make(`${authentication}/flows/registration/copy`, { newName: 'ours' })
  const form = 'ours registration form'
  const captcha = idOf(
    await make(`${authentication}/flows/${encodeURIComponent(form)}/executions/execution`, {
      provider: 'registration-recaptcha-action',
    }),
  )
  const config = { 'site.key': 'public', 'secret.key': 'hidden' }
  const address = await make(`${authentication}/executions/${captcha}/config`, { alias: 'captcha', config })
  const shown = { 'site.key': 'public', 'secret.key': '**********' }
  expect((await call('GET', address)).body.config).toEqual(shown)
  await call('PUT', `${authentication}/config/${idOf(address)}`, {
    body: { alias: 'captcha', config: { ...shown, 'site.key': 'other' } },
  })
  const exported = async (query: string) =>
    (await call('GET', `/regent/v1/export/${idOf(own)}${query}`)).body.authenticatorConfig
  expect(await exported('')).toContainEqual({ alias: 'captcha', config: { ...shown, 'site.key': 'other' } })
  expect(await exported('?secrets=true')).toContainEqual({
    alias: 'captcha',
    config: { 'site.key': 'other', 'secret.key': 'hidden' },
  })
})

test('a step that a document states shows, also when nobody knows its authenticator', async () => {
  const own = await realm({
    authenticatorConfig: [{ alias: 'phone settings', config: { digits: '6' } }],
    authenticationFlows: [
      {
        ...flow('ours'),
        authenticationExecutions: [{ authenticator: 'phone', authenticatorConfig: 'phone settings' }],
      },
    ],
  })
  expect(await steps(`${own}/authentication/flows`, 'ours')).toMatchObject([
    { displayName: 'phone', providerId: 'phone', requirement: 'REQUIRED', configurable: true, alias: 'phone settings' },
  ])
})

test('a required action that has another name now is found by it', async () => {
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

test('changes of flows and required actions leave events, without what may be a secret', async () => {
  const own = await realm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  const authentication = `${own}/authentication`
  await make(`${authentication}/flows/browser/copy`, { newName: 'ours' })
  const step = await make(`${authentication}/flows/ours/executions/execution`, {
    provider: 'deny-access-authenticator',
  })
  await make(`${step}/config`, { alias: 'words', config: { denyErrorMessage: 'No', other: 'hidden' } })
  await call('POST', `${step}/raise-priority`)
  await call('DELETE', `${authentication}/required-actions/VERIFY_EMAIL/config`)
  const events = (await call('GET', `${own}/admin-events?direction=asc`)).body as Record<string, string>[]
  const execution = step.replace(`${own}/`, '')
  expect(events.map((one) => `${one.operationType} ${one.resourceType} ${one.resourcePath}`)).toEqual([
    'CREATE AUTH_FLOW authentication/flows/browser/copy',
    'CREATE AUTH_EXECUTION authentication/flows/ours/executions/execution',
    `CREATE AUTHENTICATOR_CONFIG ${execution}/config`,
    `UPDATE AUTH_EXECUTION ${execution}/raise-priority`,
    'DELETE REQUIRED_ACTION_CONFIG authentication/required-actions/VERIFY_EMAIL/config',
  ])
  expect(JSON.parse(events[2]!.representation!).config).toEqual({ denyErrorMessage: 'No', other: '**********' })
})
