// What stating something means: who wins, what is put back, what is pruned, what is left alone.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { createObject, deleteObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { newName } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const scope = (more: object = {}) => ({ name: 'calendar', protocol: 'openid-connect', ...more })

test('a change by an administrator is drift with field, values, person and client, and apply puts it back', async () => {
  await applySource(service, toRealmSource({ clientScopes: [scope({ description: 'Yours' })] }))
  await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { description: 'Mine' })
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([
    {
      kind: 'clientScope',
      key: ['calendar'],
      path: 'description',
      applied: 'Yours',
      live: 'Mine',
      by: { name: 'ann', client: 'admin-cli', address: '127.0.0.1' },
      file: `${realm}-1.yaml`,
    },
  ])
  const again = toRealmSource({ clientScopes: [scope({ description: 'Yours' })] })
  expect(await planText(service, again)).toMatch(/description: Mine → Yours {2}corrects a change by ann by admin-cli/)
  await applySource(service, again)
  expect((await getLive('clientScope', 'calendar')).representation.description).toBe('Yours')
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
})

test('a field that nobody states is nobody’s drift', async () => {
  const stated = toRealmSource({ clientScopes: [scope()] })
  await applySource(service, stated)
  await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { description: 'Mine' })
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
  await applySource(service, stated)
  expect((await getLive('clientScope', 'calendar')).representation.description).toBe('Mine')
})

test('an object that somebody made and nobody states is left alone', async () => {
  await createObject(service, ANN, realm, 'clientScope', scope({ name: 'theirs' }))
  await applySource(service, toRealmSource({ clientScopes: [scope()] }))
  await applySource(service, toRealmSource({ clientScopes: [] }))
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'clientScope')).keys()]).toContain('theirs')
})

test('an object that is stated no more is pruned, but never a built-in one', async () => {
  await applySource(
    service,
    toRealmSource({ clientScopes: [scope(), { name: 'email', protocol: 'openid-connect', description: 'Post' }] }),
  )
  const without = toRealmSource({ clientScopes: [] })
  expect(await planText(service, without)).toContain('- client scope calendar')
  await applySource(service, without)
  const scopes = await listLiveObjects(service, SYSTEM, realm, 'clientScope')
  expect(scopes.has('calendar')).toBe(false)
  expect(scopes.get('email')?.representation.description).toBe('OpenID Connect built-in scope: email')
})

test('an object that somebody deleted is made again, and the plan says who deleted it', async () => {
  const stated = toRealmSource({ clientScopes: [scope()] })
  await applySource(service, stated)
  await deleteObject(service, ANN, realm, 'clientScope', 'calendar')
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([{ key: ['calendar'], by: { name: 'ann' } }])
  expect(await planText(service, stated)).toMatch(/\+ client scope calendar.*was deleted by ann/)
  await applySource(service, stated)
  await getLive('clientScope', 'calendar')
})

test('an object that somebody renamed is drift of its natural key', async () => {
  const stated = toRealmSource({ clientScopes: [scope()] })
  await applySource(service, stated)
  const { id } = await getLive('clientScope', 'calendar')
  await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { name: 'agenda' })
  expect(await planText(service, stated)).toMatch(/name: agenda → calendar/)
  await applySource(service, stated)
  expect((await getLive('clientScope', 'calendar')).id).toBe(id)
})

test('null states that there is none', async () => {
  await applySource(
    service,
    toRealmSource({ clientScopes: [scope({ description: 'Yours', attributes: { a: '1', b: '2' } })] }),
  )
  await applySource(
    service,
    toRealmSource({ clientScopes: [scope({ description: null, attributes: { a: null, b: '2' } })] }),
  )
  const { representation } = await getLive('clientScope', 'calendar')
  expect(representation.description).toBeUndefined()
  expect(representation.attributes).toEqual({ b: '2' })
})

test('a field that is stated no more goes back to what creation gives, unless somebody changed it since', async () => {
  const client = (more: object) => toRealmSource({ clients: [{ clientId: 'web', ...more }] })
  await applySource(service, client({ fullScopeAllowed: false, name: 'Web', attributes: { colour: 'blue' } }))
  await updateObject(service, ANN, realm, 'client', ['web'], { name: 'Shop' })
  await applySource(service, client({}))
  const { representation } = await getLive('client', 'web')
  expect(representation).toMatchObject({ fullScopeAllowed: true, name: 'Shop' })
  expect(representation.attributes).not.toHaveProperty('colour')
})

test('elements of a relation are owned one by one', async () => {
  const client = (scopes: string[]) => toRealmSource({ clients: [{ clientId: 'web', defaultClientScopes: scopes }] })
  await applySource(service, client(['email', 'profile']))
  const web = await getLive('client', 'web')
  const { writers } = await import('../../src/service/kinds/index.ts')
  await service.write(ANN, realm, (context) =>
    writers.client.update(context, [
      { live: web, set: {}, relations: { defaultClientScopes: { add: [['roles']], remove: [['email']] } } },
    ]),
  )
  expect(await planText(service, client(['email', 'profile']))).toMatch(
    /defaultClientScopes: \+email {2}corrects a change by ann/,
  )
  await applySource(service, client(['email']))
  expect((await getLive('client', 'web')).representation.defaultClientScopes).toEqual(['email', 'roles'])
})

test('a secret is compared by digest: a rotation is a change, a mask keeps what is there, and no plan shows it', async () => {
  const client = (secret: string) => toRealmSource({ clients: [{ clientId: 'api', secret }] })
  const { vault } = service
  const secret = async () => vault.open((await getLive('client', 'api')).representation.secret as string)
  await applySource(service, client('first-secret'))
  expect(await planText(service, client('first-secret'))).toContain('Nothing to do.')
  const rotation = await planText(service, client('second-secret'))
  expect(rotation).toContain('secret: (secret changes)')
  expect(rotation).not.toContain('second-secret')
  await applySource(service, client('second-secret'))
  expect(await secret()).toBe('second-secret')
  expect(await planText(service, client('**********'))).toMatch(/secret is masked; the live value is retained/)
  await applySource(service, client('**********'))
  expect(await secret()).toBe('second-secret')
  await applySource(service, toRealmSource({ clients: [{ clientId: 'api' }] }))
  expect(await secret()).toBe('second-secret')
})

test('a changed authentication flow keeps the ids of what stays', async () => {
  const flow = (executions: object[]) =>
    toRealmSource({ authenticationFlows: [{ alias: 'ours', topLevel: true, authenticationExecutions: executions }] })
  const ids = async () => {
    const { selectExecutions } = await import('../../src/store/authentication-flows.ts')
    const { id } = await getLive('authenticationFlow', 'ours')
    const rows = await service.read(SYSTEM, realm, (context) =>
      selectExecutions(context.tx, context.realm.number, [id]),
    )
    return rows.map((row) => `${row.authenticator} ${row.body.requirement} ${row.id}`)
  }
  const step = (authenticator: string, requirement: string) => ({ authenticator, requirement })
  await applySource(
    service,
    flow([step('auth-cookie', 'ALTERNATIVE'), step('auth-otp-form', 'REQUIRED'), step('auth-otp-form', 'DISABLED')]),
  )
  const before = await ids()
  await applySource(
    service,
    flow([
      step('auth-otp-form', 'ALTERNATIVE'),
      step('auth-spnego', 'DISABLED'),
      step('auth-cookie', 'ALTERNATIVE'),
      step('auth-otp-form', 'DISABLED'),
    ]),
  )
  const after = await ids()
  const idOf = (line: string | undefined) => line?.split(' ')[2]
  expect(after.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'auth-otp-form ALTERNATIVE',
    'auth-spnego DISABLED',
    'auth-cookie ALTERNATIVE',
    'auth-otp-form DISABLED',
  ])
  expect([idOf(after[0]), idOf(after[2]), idOf(after[3])]).toEqual([idOf(before[1]), idOf(before[0]), idOf(before[2])])
})

test('the order of documents and of what stands in them does not matter', async () => {
  const parts = [
    { browserFlow: 'ours' },
    { clients: [{ clientId: 'web', defaultClientScopes: ['calendar'] }] },
    { clientScopes: [scope()] },
    {
      authenticationFlows: [
        { alias: 'ours', topLevel: true, authenticationExecutions: [{ flowAlias: 'part', requirement: 'REQUIRED' }] },
      ],
    },
    { authenticationFlows: [{ alias: 'part' }] },
  ]
  await applySource(service, toRealmSource(...parts))
  expect(await planText(service, { ...toRealmSource(...parts.toReversed()), name: realm })).toContain('Nothing to do.')
})

test('two sources may state different fields of one object; the same field differently is a conflict that names both', async () => {
  await applySource(service, createSource([{ realm, clientScopes: [scope({ description: 'Yours' })] }], `${realm}-a`))
  await applySource(service, createSource([{ realm, clientScopes: [scope({ attributes: { a: '1' } })] }], `${realm}-b`))
  const third = createSource([{ realm, clientScopes: [scope({ description: 'Mine' })] }], `${realm}-c`)
  await expect(planText(service, third)).rejects.toThrow(
    `client scope calendar: description is declared differently by source ${realm}-a, ${realm}-a-1.yaml:3`,
  )
  // An object that one of its two sources states no more stays.
  await applySource(service, createSource([{ realm, clientScopes: [] }], `${realm}-a`))
  expect((await getLive('clientScope', 'calendar')).representation).toMatchObject({ attributes: { a: '1' } })
})

test('a wished id is honoured by creation and never compared', async () => {
  const id = newName('id')
  await applySource(service, toRealmSource({ clientScopes: [scope({ id })] }))
  expect((await getLive('clientScope', 'calendar')).id).toBe(id)
  expect(await planText(service, toRealmSource({ clientScopes: [scope({ id: 'another' })] }))).toContain(
    'Nothing to do.',
  )
})

test('a whole number may name an object', async () => {
  await applySource(
    service,
    toRealmSource({
      clients: [{ clientId: 2024, defaultClientScopes: [7] }],
      clientScopes: [{ name: 7, protocol: 'openid-connect' }],
    }),
  )
  expect((await getLive('client', '2024')).representation.defaultClientScopes).toEqual(['7'])
  const again = toRealmSource({ clients: [{ clientId: '2024' }] })
  expect(await planText(service, { ...again, name: 'another' })).toContain('Nothing to do.')
})

test('a client scope that a client has by default and is stated as optional is optional then', async () => {
  await applySource(service, toRealmSource({ clients: [{ clientId: 'shop' }] }))
  const stated = toRealmSource({ clients: [{ clientId: 'shop', optionalClientScopes: ['email'] }] })
  await applySource(service, stated)
  const { representation } = await getLive('client', 'shop')
  expect(representation.optionalClientScopes).toContain('email')
  expect(representation.defaultClientScopes).not.toContain('email')
  expect(await planText(service, stated)).toContain('Nothing to do.')
  const both = { clientId: 'shop', optionalClientScopes: ['email'], defaultClientScopes: ['email'] }
  await expect(applySource(service, toRealmSource({ clients: [both] }))).rejects.toThrow(
    'email is in defaultClientScopes and in optionalClientScopes: keep it in one of them',
  )
})

test('client scopes that a realm gives to new clients count for those that the same document makes', async () => {
  const documents = {
    clientScopes: [scope()],
    defaultDefaultClientScopes: ['calendar'],
    clients: [{ clientId: 'shop' }],
  }
  await applySource(service, toRealmSource(documents))
  expect((await getLive('client', 'shop')).representation.defaultClientScopes).toContain('calendar')
})

test('a setting of a realm that shows as an attribute too takes it along, and back', async () => {
  const shown = async () => {
    const { representation } = await getLive('realm', realm)
    const attributes = representation.attributes as Record<string, string>
    return [representation.oauth2DeviceCodeLifespan, attributes.oauth2DeviceCodeLifespan]
  }
  await applySource(service, toRealmSource({ oauth2DeviceCodeLifespan: 90 }))
  expect(await shown()).toEqual([90, '90'])
  await applySource(service, toRealmSource({ attributes: { oauth2DeviceCodeLifespan: '80' } }))
  expect(await shown()).toEqual([80, '80'])
  await applySource(service, toRealmSource({}))
  expect(await shown()).toEqual([600, '600'])
})

test('permissions of administrators come with a client, which goes with them as long as nobody has used it', async () => {
  const on = { adminPermissionsEnabled: true }
  const { realms } = await planSources(service, SYSTEM, [toRealmSource(on)])
  const consequences = realms[0]!.consequences.map(({ kind, key }) => `${kind} ${key.at(-1)}`)
  expect(consequences).toEqual(expect.arrayContaining(['client admin-permissions', 'authorizationResource Users']))
  await applySource(service, toRealmSource(on))
  expect(await planText(service, toRealmSource(on))).toContain('Nothing to do.')
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'authorizationScope')).keys()]).toHaveLength(16)
  await applySource(service, toRealmSource({}))
  expect((await listLiveObjects(service, SYSTEM, realm, 'client')).has('admin-permissions')).toBe(false)

  await applySource(service, toRealmSource(on))
  const policies = [{ name: 'clerks', type: 'role', config: { roles: '[{"id":"offline_access","required":false}]' } }]
  const used = { clients: [{ clientId: 'admin-permissions', authorizationSettings: { policies } }] }
  await applySource(service, createSource([{ realm, ...used }], `${realm}-people`))
  await applySource(service, toRealmSource({}))
  expect((await listLiveObjects(service, SYSTEM, realm, 'client')).has('admin-permissions')).toBe(true)
})
