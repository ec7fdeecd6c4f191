// What somebody renames or deletes besides the documents: the inventory binds by id, and nobody's reference is overlooked.
import { beforeEach, expect, test } from 'vitest'
import { findDrift } from '../../src/reconcile/drift/drift.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { change, liveObject, liveObjects, remove } from '../support/changes.ts'
import { ANN, applyAs, planText, source } from '../support/reconcile.ts'
import { newName, newRealm, testService } from '../support/service.ts'

let service: Service
let statements: Awaited<ReturnType<typeof testService>>['statements']
let realm: string
const live = (kind: Parameters<typeof liveObject>[3], ...key: string[]) =>
  liveObject(service, SYSTEM, realm, kind, ...key)
const state = (document: object, name = realm) => source([{ realm, ...document }], name)

beforeEach(async () => {
  ;({ service, statements } = await testService())
  realm = await newRealm(service)
})

const scope = (name: string, more: object = {}) => ({ name, protocol: 'openid-connect', ...more })
const settles = async (stated: ReturnType<typeof state>) => {
  await applyAs(service, stated)
  expect(await planText(service, stated)).toContain('Nothing to do.')
  expect((await statements(() => applyAs(service, stated))).length).toBeLessThanOrEqual(2)
}

test('a client that somebody renamed is named back, with its mappers and roles', async () => {
  const stated = state({
    clients: [{ clientId: 'a', protocolMappers: [{ name: 'm', protocolMapper: 'oidc-audience-mapper' }] }],
    roles: { client: { a: [{ name: 'buyer' }] } },
  })
  await applyAs(service, stated)
  const { id } = await live('client', 'a')
  await change(service, ANN, realm, 'client', ['a'], { clientId: 'b' })
  expect(await planText(service, stated)).toMatch(/clientId: b → a/)
  await settles(stated)
  expect((await live('client', 'a')).id).toBe(id)
  await live('role', 'client', 'a', 'buyer')
})

test('a name that somebody gave to another object is free again before a new object gets it', async () => {
  await applyAs(service, state({ clientScopes: [scope('a')] }))
  const { id } = await live('clientScope', 'a')
  await change(service, ANN, realm, 'clientScope', ['a'], { name: 'b' })
  await settles(state({ clientScopes: [scope('a'), scope('b')] }))
  expect((await live('clientScope', 'a')).id).toBe(id)
  expect((await live('clientScope', 'b')).id).not.toBe(id)
})

test('renaming what others refer to is drift of theirs', async () => {
  const stated = state({
    clients: [{ clientId: 'web', defaultClientScopes: ['calendar'] }],
    roles: { realm: [{ name: 'staff', composites: { realm: ['worker'] } }, { name: 'worker' }] },
    clientScopes: [scope('calendar')],
  })
  await applyAs(service, stated)
  await change(service, ANN, realm, 'clientScope', ['calendar'], { name: 'agenda' })
  await change(service, ANN, realm, 'role', ['worker'], { name: 'labourer' })
  expect((await findDrift(service, SYSTEM, realm)).map(({ key, path }) => `${key.join('/')} ${path}`).sort()).toEqual([
    'calendar name',
    'staff composites',
    'web defaultClientScopes',
    'worker name',
  ])
  await settles(stated)
  expect((await live('client', 'web')).representation.defaultClientScopes).toEqual(['calendar'])
})

test('a flow loses no step without a word: the settings and sub-flows that its steps name are drift of the flow', async () => {
  const flows = {
    authenticatorConfig: [{ alias: 'settings', config: { a: '1' } }],
    authenticationFlows: [
      {
        alias: 'ours',
        topLevel: true,
        authenticationExecutions: [
          { authenticator: 'auth-cookie', authenticatorConfig: 'settings', requirement: 'REQUIRED' },
          { flowAlias: 'part', requirement: 'REQUIRED' },
        ],
      },
      { alias: 'part' },
    ],
  }
  await applyAs(service, state(flows))
  await remove(service, ANN, realm, 'authenticatorConfig', 'settings')
  await remove(service, ANN, realm, 'authenticationFlow', 'part')
  const drift = await findDrift(service, SYSTEM, realm)
  expect(drift.map(({ key, path }) => `${key[0]} ${path ?? 'gone'}`).sort()).toEqual([
    'ours authenticationExecutions',
    'part gone',
    'settings gone',
  ])
  await settles(state(flows))
  expect((await live('authenticationFlow', 'ours')).representation.authenticationExecutions).toMatchObject([
    { authenticatorConfig: 'settings' },
    { flowAlias: 'part' },
  ])
})

test('what another source counts on is not pruned: it names who needs it', async () => {
  await applyAs(service, state({ clientScopes: [scope('calendar')] }, `${realm}-a`))
  await applyAs(service, state({ clients: [{ clientId: 'web', defaultClientScopes: ['calendar'] }] }, `${realm}-b`))
  await expect(applyAs(service, state({ clientScopes: [] }, `${realm}-a`))).rejects.toThrow(
    `client web of source ${realm}-b needs client scope calendar, which would be deleted`,
  )
  await live('clientScope', 'calendar')
})

test('a realm that somebody renamed is named back, and no second one is made', async () => {
  const stated = source([{ realm, displayName: 'Ours' }], realm)
  await applyAs(service, stated)
  const { id } = await live('realm')
  const other = newName()
  await change(service, ANN, realm, 'realm', [realm], { realm: other })
  expect(await planText(service, stated)).toMatch(new RegExp(`realm: ${other} → ${realm}`))
  await applyAs(service, stated)
  expect((await live('realm')).id).toBe(id)
  expect((await service.realms()).map(({ name }) => name)).not.toContain(other)
  expect(await planText(service, stated)).toContain('Nothing to do.')
})

test('an object that one source leaves keeps what the other states of it, and nothing else', async () => {
  await applyAs(service, state({ clientScopes: [scope('calendar', { description: 'Yours' })] }, `${realm}-a`))
  await applyAs(service, state({ clientScopes: [scope('calendar', { attributes: { a: '1' } })] }, `${realm}-b`))
  await applyAs(service, state({ clientScopes: [] }, `${realm}-a`))
  const { representation } = await live('clientScope', 'calendar')
  expect(representation).toMatchObject({ attributes: { a: '1' } })
  expect(representation.description).toBeUndefined()
})

test('null states that there is none: on creation, and of a whole map', async () => {
  const client = (more: object) =>
    state({ clients: [{ clientId: 'web', redirectUris: ['https://a.example.org/*'], ...more }] })
  await settles(client({ webOrigins: null, attributes: { colour: 'blue' } }))
  expect((await live('client', 'web')).representation.webOrigins ?? []).toEqual([])
  await settles(client({ webOrigins: null, attributes: null }))
  expect((await live('client', 'web')).representation.attributes ?? {}).toEqual({})
  await change(service, ANN, realm, 'client', ['web'], { 'attributes.size': 'large' })
  expect(await findDrift(service, SYSTEM, realm)).toMatchObject([
    { key: ['web'], path: 'attributes', live: { size: 'large' } },
  ])
  await settles(client({ webOrigins: null, attributes: null }))
})

test('whoever is faster with a name makes the plan anew, and nothing fails', async () => {
  let raced = false
  const stated = state({ clientScopes: [scope('calendar')] })
  const racing: Service = {
    ...service,
    async snapshot(caller, name, work) {
      const result = await service.snapshot(caller, name, work)
      if (!raced) {
        raced = true
        await applyAs(service, state({ clientScopes: [scope('calendar')] }, `${realm}-other`))
      }
      return result
    },
  }
  await applyAs(racing, stated)
  expect((await liveObjects(service, SYSTEM, realm, 'clientScope')).has('calendar')).toBe(true)
})

test('what fails once and then would not is not kept behind the back of who was told that it failed', async () => {
  let failed = false
  const failing: Service = {
    ...service,
    write: (caller, name, work, options) =>
      service.write(
        caller,
        name,
        async (context) => {
          const result = await work(context)
          if (failed) return result
          failed = true
          throw new Error('the connection broke')
        },
        options,
      ),
  }
  await expect(applyAs(failing, state({ clientScopes: [scope('calendar')] }))).rejects.toThrow('the connection broke')
  expect((await liveObjects(service, SYSTEM, realm, 'clientScope')).has('calendar')).toBe(false)
})

test('clients and roles may have the names of things that every object has', async () => {
  const odd = ['constructor', 'toString', 'hasOwnProperty']
  await settles(
    state({
      clients: odd.map((clientId) => ({ clientId })),
      roles: {
        realm: [{ name: 'all', composites: { client: Object.fromEntries(odd.map((id) => [id, ['r']])) } }],
        client: Object.fromEntries(odd.map((id) => [id, [{ name: 'r' }]])),
      },
    }),
  )
})

test('the service account is called as its client, and goes with it', async () => {
  await applyAs(service, state({ clients: [{ clientId: 'old', serviceAccountsEnabled: true }] }))
  await change(service, ANN, realm, 'client', ['old'], { clientId: 'new' })
  const stated = state({
    clients: [
      { clientId: 'old', serviceAccountsEnabled: true },
      { clientId: 'new', serviceAccountsEnabled: true },
    ],
  })
  await settles(stated)
  expect(await planText(service, state({ clients: [] }))).toContain('- user service-account-old follows')
})

test('what master says of a realm that the same source makes is planned before it is there', async () => {
  const made = newName()
  const role = newName('role')
  const stated = source(
    [
      { realm: made },
      {
        realm: 'master',
        roles: { realm: [{ name: role, composites: { client: { [`${made}-realm`]: ['view-realm'] } } }] },
      },
    ],
    made,
  )
  const text = await planText(service, stated)
  expect(text).toContain(`+ role ${role}`)
  expect(text).toContain('it needs what another realm of this run brings first')
  await applyAs(service, stated)
  expect(await planText(service, stated)).toContain('Nothing to do.')
})
