// The meaning of declarations: which value applies, and which fields and objects a run corrects, deletes or ignores.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { createObject, deleteObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import {
  getLive,
  readClientSecret,
  realm,
  service,
  toRealmSource,
  useNewRealmPerTest,
} from '../support/realm-documents.ts'
import { newName } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const scope = (more: object = {}) => ({ name: 'calendar', protocol: 'openid-connect', ...more })

test('a change by an administrator is drift with field, values, user and client, and an apply corrects it', async () => {
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
  expect(await planText(service, again)).toMatch(/description: Mine → Yours {2}corrects a change by ann via admin-cli/)
  await applySource(service, again)
  expect((await getLive('clientScope', 'calendar')).representation.description).toBe('Yours')
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
})

test('a change of an undeclared field is not drift', async () => {
  const declared = toRealmSource({ clientScopes: [scope()] })
  await applySource(service, declared)
  await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { description: 'Mine' })
  expect(await listDrift(service, SYSTEM, realm)).toEqual([])
  await applySource(service, declared)
  expect((await getLive('clientScope', 'calendar')).representation.description).toBe('Mine')
})

test('an undeclared object that an administrator created is ignored', async () => {
  await createObject(service, ANN, realm, 'clientScope', scope({ name: 'theirs' }))
  await applySource(service, toRealmSource({ clientScopes: [scope()] }))
  await applySource(service, toRealmSource({ clientScopes: [] }))
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'clientScope')).keys()]).toContain('theirs')
})

test('an object that is removed from the source is deleted, except a built-in one', async () => {
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

test('an object that an administrator deleted is created again, and the plan names the administrator', async () => {
  const declared = toRealmSource({ clientScopes: [scope()] })
  await applySource(service, declared)
  await deleteObject(service, ANN, realm, 'clientScope', 'calendar')
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([{ key: ['calendar'], by: { name: 'ann' } }])
  expect(await planText(service, declared)).toMatch(/\+ client scope calendar.*was deleted by ann/)
  await applySource(service, declared)
  await getLive('clientScope', 'calendar')
})

test('renaming an object is drift of its natural key', async () => {
  const declared = toRealmSource({ clientScopes: [scope()] })
  await applySource(service, declared)
  const { id } = await getLive('clientScope', 'calendar')
  await updateObject(service, ANN, realm, 'clientScope', ['calendar'], { name: 'planner' })
  expect(await planText(service, declared)).toMatch(/name: planner → calendar/)
  await applySource(service, declared)
  expect((await getLive('clientScope', 'calendar')).id).toBe(id)
})

test('a field or map entry that is declared as null is removed', async () => {
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

test('a field that is removed from the source gets its default again, unless an administrator changed it', async () => {
  const client = (more: object) => toRealmSource({ clients: [{ clientId: 'web', ...more }] })
  await applySource(service, client({ fullScopeAllowed: false, name: 'Web', attributes: { colour: 'blue' } }))
  await updateObject(service, ANN, realm, 'client', ['web'], { name: 'Shop' })
  await applySource(service, client({}))
  const { representation } = await getLive('client', 'web')
  expect(representation).toMatchObject({ fullScopeAllowed: true, name: 'Shop' })
  expect(representation.attributes).not.toHaveProperty('colour')
})

test('elements of a relation are managed one by one', async () => {
  const client = (scopes: string[]) => toRealmSource({ clients: [{ clientId: 'web', defaultClientScopes: scopes }] })
  await applySource(service, client(['email', 'profile']))
  const web = await getLive('client', 'web')
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

test('a changed secret is planned without its value, and a masked one keeps the live value', async () => {
  const client = (secret: string) => toRealmSource({ clients: [{ clientId: 'api', secret }] })
  await applySource(service, client('first-secret'))
  expect(await planText(service, client('first-secret'))).toContain('Nothing to do.')
  const rotation = await planText(service, client('second-secret'))
  expect(rotation).toContain('secret: (secret changes)')
  expect(rotation).not.toContain('second-secret')
  await applySource(service, client('second-secret'))
  expect(await readClientSecret('api')).toBe('second-secret')
  expect(await planText(service, client('**********'))).toMatch(/secret is masked; the live value is retained/)
  await applySource(service, client('**********'))
  expect(await readClientSecret('api')).toBe('second-secret')
  await applySource(service, toRealmSource({ clients: [{ clientId: 'api' }] }))
  expect(await readClientSecret('api')).toBe('second-secret')
})

test('a changed authentication flow keeps the ids of its remaining steps', async () => {
  const flow = (executions: object[]) =>
    toRealmSource({ authenticationFlows: [{ alias: 'ours', topLevel: true, authenticationExecutions: executions }] })
  const listExecutions = async () => {
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
  const before = await listExecutions()
  await applySource(
    service,
    flow([
      step('auth-otp-form', 'ALTERNATIVE'),
      step('auth-spnego', 'DISABLED'),
      step('auth-cookie', 'ALTERNATIVE'),
      step('auth-otp-form', 'DISABLED'),
    ]),
  )
  const after = await listExecutions()
  const idOf = (line: string | undefined) => line?.split(' ')[2]
  expect(after.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
    'auth-otp-form ALTERNATIVE',
    'auth-spnego DISABLED',
    'auth-cookie ALTERNATIVE',
    'auth-otp-form DISABLED',
  ])
  expect([idOf(after[0]), idOf(after[2]), idOf(after[3])]).toEqual([idOf(before[1]), idOf(before[0]), idOf(before[2])])
})

test('the order of documents and of their objects does not change the plan', async () => {
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

test('two sources may declare different fields of an object; different values of a field are refused with both positions', async () => {
  await applySources(service, SYSTEM, [
    createSource([{ realm, clientScopes: [scope({ description: 'Yours' })] }], `${realm}-a`),
    createSource([{ realm, clientScopes: [scope({ attributes: { a: '1' } })] }], `${realm}-b`),
  ])
  const third = createSource([{ realm, clientScopes: [scope({ description: 'Mine' })] }], `${realm}-c`)
  await expect(planText(service, third)).rejects.toThrow(
    `client scope calendar: description is declared differently by source ${realm}-a, ${realm}-a-1.yaml:5`,
  )
  // An object that only one of its two sources still declares is retained.
  await applySource(service, createSource([{ realm, clientScopes: [] }], `${realm}-a`))
  expect((await getLive('clientScope', 'calendar')).representation).toMatchObject({ attributes: { a: '1' } })
})

test('a declared id is used when the object is created, and never compared', async () => {
  const id = newName('id')
  await applySource(service, toRealmSource({ clientScopes: [scope({ id })] }))
  expect((await getLive('clientScope', 'calendar')).id).toBe(id)
  expect(await planText(service, toRealmSource({ clientScopes: [scope({ id: 'another' })] }))).toContain(
    'Nothing to do.',
  )
})

test('the name of an object may be a whole number', async () => {
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

test('a default client scope of a client that is declared as optional becomes optional', async () => {
  await applySource(service, toRealmSource({ clients: [{ clientId: 'shop' }] }))
  const declared = toRealmSource({ clients: [{ clientId: 'shop', optionalClientScopes: ['email'] }] })
  await applySource(service, declared)
  const { representation } = await getLive('client', 'shop')
  expect(representation.optionalClientScopes).toContain('email')
  expect(representation.defaultClientScopes).not.toContain('email')
  expect(await planText(service, declared)).toContain('Nothing to do.')
  const both = { clientId: 'shop', optionalClientScopes: ['email'], defaultClientScopes: ['email'] }
  await expect(applySource(service, toRealmSource({ clients: [both] }))).rejects.toThrow(
    'email is in defaultClientScopes and in optionalClientScopes: keep it in one of them',
  )
})

test('clients get the default client scopes that their document declares for the realm', async () => {
  const documents = {
    clientScopes: [scope()],
    defaultDefaultClientScopes: ['calendar'],
    clients: [{ clientId: 'shop' }],
  }
  await applySource(service, toRealmSource(documents))
  expect((await getLive('client', 'shop')).representation.defaultClientScopes).toContain('calendar')
})

test('a realm setting that is also an attribute changes with it, in both directions', async () => {
  const readBoth = async () => {
    const { representation } = await getLive('realm', realm)
    const attributes = representation.attributes as Record<string, string>
    return [representation.oauth2DeviceCodeLifespan, attributes.oauth2DeviceCodeLifespan]
  }
  await applySource(service, toRealmSource({ oauth2DeviceCodeLifespan: 90 }))
  expect(await readBoth()).toEqual([90, '90'])
  await applySource(service, toRealmSource({ attributes: { oauth2DeviceCodeLifespan: '80' } }))
  expect(await readBoth()).toEqual([80, '80'])
  await applySource(service, toRealmSource({}))
  expect(await readBoth()).toEqual([600, '600'])
})

test('adminPermissionsEnabled creates the client admin-permissions; disabling it deletes the client, unless it has policies', async () => {
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
  await applySource(service, createSource([{ realm, ...used }], `${realm}-policies`))
  await applySource(service, toRealmSource({}))
  expect((await listLiveObjects(service, SYSTEM, realm, 'client')).has('admin-permissions')).toBe(true)
})
