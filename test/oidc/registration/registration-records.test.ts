// Registered clients are objects like any other: in the journal, in events, in drift, and in accepted declarations.
import { expect, test } from 'vitest'
import { createRegistrationRealm } from '../../support/registration-realm.ts'
import { testServer } from '../../support/server.ts'
import { testService } from '../../support/service.ts'
import { applySource, createSource, planText } from '../../support/sources.ts'

const { call } = await testServer()
const { service } = await testService()

test('a registration is recorded as a user event, an admin event and a change by the client', async () => {
  const { register, send, path, name } = await createRegistrationRealm({
    eventsEnabled: true,
    adminEventsEnabled: true,
    adminEventsDetailsEnabled: true,
    enabledEventTypes: ['CLIENT_REGISTER', 'CLIENT_UPDATE', 'CLIENT_INFO', 'CLIENT_DELETE'].flatMap((type) => [
      type,
      `${type}_ERROR`,
    ]),
  })
  const { registrationAccessToken: token, id } = (await register({ clientId: 'app', secret: 'confidential' })).body
  await send('GET', 'default/app', { token })
  const changed = await send('PUT', 'default/app', { token, body: { clientId: 'app', name: 'App' } })
  await send('DELETE', 'default/app', { token })
  await send('DELETE', 'default/app', { token: changed.body.registrationAccessToken })
  await send('POST', 'default', { body: {} })

  type Event = { type: string; clientId?: string; error?: string; details?: object }
  const events: Event[] = (await call('GET', `${path}/events?direction=asc`)).body
  expect(events.map(({ type, clientId, error, details }) => [type, clientId, error, details])).toEqual([
    ['CLIENT_REGISTER', 'app', undefined, undefined],
    ['CLIENT_INFO', 'app', undefined, undefined],
    ['CLIENT_UPDATE', 'app', undefined, undefined],
    ['CLIENT_DELETE_ERROR', 'app', 'invalid_token', { reason: expect.stringContaining('Not authorized') }],
    ['CLIENT_DELETE', 'app', undefined, undefined],
    ['CLIENT_REGISTER_ERROR', undefined, 'not_allowed', { client_registration_policy: 'Trusted Hosts' }],
  ])
  type AdminEvent = { operationType: string; resourceType: string; resourcePath: string }
  const adminEvents: AdminEvent[] = (await call('GET', `${path}/admin-events?direction=asc`)).body
  const ofClient = adminEvents.filter(({ resourceType }) => resourceType === 'CLIENT')
  expect(ofClient.map(({ operationType, resourcePath }) => [operationType, resourcePath])).toEqual([
    ['CREATE', `clients/${id}`],
    ['UPDATE', `clients/${id}`],
    ['DELETE', `clients/${id}`],
  ])
  expect(JSON.stringify([events, adminEvents])).not.toContain('confidential')
  const history = (await call('GET', `/regent/v1/history/${name}`)).body
  expect(JSON.stringify(history)).toContain('"kind":"client"')
})

test('a registered client is unmanaged until it is accepted; then its own changes are drift that the next apply corrects', async () => {
  const { register, send, name, find } = await createRegistrationRealm()
  const document = { realm: name, enabled: true }
  await applySource(service, createSource([document], name))
  const { registrationAccessToken: token } = (await register({ clientId: 'app', name: 'App' })).body
  const [unmanaged] = (await call('GET', `/regent/v1/unmanaged?realm=${name}`)).body
  expect(unmanaged.objects).toMatchObject([{ kind: 'client', key: ['app'], by: { kind: 'client' } }])
  const { document: accepted } = (await call('GET', `/regent/v1/accept/${name}`)).body
  expect(accepted.clients).toMatchObject([{ clientId: 'app', name: 'App' }])
  await applySource(service, createSource([document, accepted], name))
  const changed = await send('PUT', 'default/app', { token, body: { clientId: 'app', name: 'Mine' } })
  expect(changed.headers['regent-owned-by']).toBeUndefined()
  const text = await planText(service, createSource([document, accepted], name))
  expect(text).toContain('client app')
  await applySource(service, createSource([document, accepted], name))
  expect((await find('app')).name).toBe('App')
  // The token of the client still serves, since it is no part of the declaration.
  const { registrationAccessToken: next } = changed.body
  expect((await send('GET', 'default/app', { token: next })).body.name).toBe('App')
})

test('a source that refuses other changes refuses those of the client', async () => {
  const { register, send, name, find } = await createRegistrationRealm()
  const { registrationAccessToken: token } = (await register({ clientId: 'app' })).body
  const source = createSource([{ realm: name, clients: [{ clientId: 'app', name: 'Declared' }] }], name)
  await applySource(service, { ...source, settings: { ownership: 'refuse' } })
  const refused = await send('PUT', 'default/app', { token, body: { clientId: 'app', name: 'Mine' } })
  expect([refused.status, refused.body.errorMessage]).toEqual([
    409,
    expect.stringContaining('is managed by the source'),
  ])
  expect((await find('app')).name).toBe('Declared')
  expect((await send('GET', 'default/app', { token })).status).toBe(200)
})

test('a declared policy takes effect, and one of an unknown provider refuses every registration', async () => {
  const { register, name } = await createRegistrationRealm()
  const declare = (providerId: string) =>
    applySource(
      service,
      createSource(
        [
          {
            realm: name,
            components: {
              'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy': [
                { name: 'Own rule', providerId, subType: 'authenticated', config: {} },
              ],
            },
          },
        ],
        name,
      ),
    )
  await declare('consent-required')
  expect((await register({ clientId: 'app' })).body.consentRequired).toBe(true)
  await declare('own-rule')
  const refused = await register({ clientId: 'other' })
  expect([refused.status, refused.body.error_description]).toEqual([403, expect.stringContaining('own-rule')])
})
