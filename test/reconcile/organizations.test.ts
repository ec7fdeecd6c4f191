// Organizations in documents: people and identity providers stand inside of them, and belong to the realm.
import { beforeEach, expect, test } from 'vitest'
import { exportRealm } from '../../src/realm-file/export/render.ts'
import { findDrift } from '../../src/reconcile/drift/drift.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import type { Update } from '../../src/service/objects/writers.ts'
import { change, liveObject, liveObjects, remove } from '../support/changes.ts'
import { ANN, applyAs, planText, source } from '../support/reconcile.ts'
import { newRealm, testService } from '../support/service.ts'

let service: Service
let realm: string
const state = (document: object, name = realm) => source([{ realm, ...document }], name)
const apply = (document: object, name?: string) => applyAs(service, state(document, name))
const plan = (document: object) => planText(service, state(document))
const exported = (options = {}) => service.read(SYSTEM, realm, (context) => exportRealm(context, options))

beforeEach(async () => {
  service = (await testService()).service
  realm = await newRealm(service)
})

/** Changes what a person belongs to, as REST and log-ins do. */
const relate = async (user: string, relations: Update['relations'] & object) => {
  const live = await liveObject(service, SYSTEM, realm, 'user', user)
  await service.write(ANN, realm, (context) => writers.user.update(context, [{ live, set: {}, relations }]))
}

const acme = (more: object = {}) => ({
  name: 'Acme Ltd',
  alias: 'acme',
  description: 'Makes things',
  domains: [{ name: 'acme.test' }, { name: 'Acme.example', verified: true }],
  attributes: { colour: ['red'] },
  members: [{ username: 'Ann', membershipType: 'MANAGED' }, { username: 'bob' }],
  identityProviders: [{ alias: 'partner' }],
  groups: [{ name: 'sales', subGroups: [{ name: 'east', attributes: { floor: ['2'] } }] }],
  ...more,
})
const base = {
  users: [{ username: 'ann' }, { username: 'bob' }],
  identityProviders: [{ alias: 'partner', providerId: 'oidc' }],
}
const document = (more: object = {}) => ({ ...base, organizations: [acme(), { name: 'bare' }], ...more })

test('apply, then plan, is empty; an export shows members and providers inside, and makes the same organizations again', async () => {
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
  const shown = await exported({ secrets: true, ids: true })
  expect(shown).toMatchObject({
    users: [{ username: 'ann' }, { username: 'bob' }],
    organizations: [
      {
        name: 'Acme Ltd',
        alias: 'acme',
        domains: [
          { name: 'acme.example', verified: true },
          { name: 'acme.test', verified: false },
        ],
        members: [
          { username: 'ann', membershipType: 'MANAGED' },
          { username: 'bob', membershipType: 'UNMANAGED' },
        ],
        identityProviders: [{ alias: 'partner' }],
        groups: [{ name: 'sales', subGroups: [{ name: 'east' }] }],
      },
      { name: 'bare', alias: 'bare' },
    ],
  })
  expect(shown.users).not.toMatchObject([{ managedBy: expect.anything() }, {}])
  expect(shown.identityProviders).toEqual([expect.not.objectContaining({ organization: 'acme' })])
  expect(await plan(shown)).toContain('Nothing to do.')
  realm = await newRealm(service)
  const { users, identityProviders, organizations } = shown
  await apply({ users, identityProviders, organizations })
  expect(await exported({ secrets: true, ids: true })).toMatchObject({ users, identityProviders, organizations })
})

test('a membership is owned by itself: who only names a person neither makes nor deletes the account', async () => {
  await apply(base, `${realm}-people`)
  await apply({ organizations: [acme()] })
  const ann = await liveObject(service, SYSTEM, realm, 'user', 'ann')
  expect(ann.representation).toMatchObject({ organizations: ['acme'], managedBy: ['acme'] })
  await apply({ organizations: [acme({ members: [{ username: 'ann' }], identityProviders: [] })] })
  expect((await liveObject(service, SYSTEM, realm, 'user', 'ann')).representation).toMatchObject({ managedBy: [] })
  expect((await liveObject(service, SYSTEM, realm, 'user', 'bob')).representation).toMatchObject({ organizations: [] })
  expect((await liveObject(service, SYSTEM, realm, 'identityProvider', 'partner')).references).toEqual({})
})

test('a person or a provider that is nowhere is refused where the organization names it', async () => {
  const text = `realm: ${realm}\norganizations:\n  - name: acme\n    members:\n      - username: nobody\n    identityProviders:\n      - alias: nowhere\n`
  const failed = planText(service, source([text], realm))
  await expect(failed).rejects.toMatchObject({
    problems: [
      { position: { line: 5 }, message: expect.stringContaining('user nobody') },
      { position: { line: 7 }, message: expect.stringContaining('identity provider nowhere') },
    ],
  })
})

test('a name that cannot be an alias needs one beside it', async () => {
  await expect(apply({ organizations: [{ name: 'Two Words' }] })).rejects.toThrow('Name cannot be used as alias')
  await apply({ organizations: [{ name: 'Two Words', alias: 'two' }] })
  expect(await plan({ organizations: [{ name: 'Three Words', alias: 'two' }] })).toMatch(/name: .*Three Words/)
})

test('what an administrator changes is drift, domains and memberships among it', async () => {
  await apply(document())
  await change(service, ANN, realm, 'organization', ['acme'], { description: 'Breaks things', domains: null })
  await relate('bob', { organizations: { remove: [['acme']] } })
  expect((await findDrift(service, SYSTEM, realm)).map(({ path }) => path).sort()).toEqual([
    'description',
    'domains',
    'organizations',
  ])
  expect(await plan(document())).toMatch(/3 to update|organization acme/)
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
})

test('an organization that is stated no more is pruned, and with it go the accounts that it made; the plan says so', async () => {
  await apply({ ...base, users: [...base.users, { username: 'eva' }] }, `${realm}-people`)
  await apply({ organizations: [acme()] })
  await relate('eva', { managedBy: { add: [['acme']] } })
  const text = await plan({})
  expect(text).toContain('- organization acme')
  expect(text).toMatch(/eva/)
  await apply({})
  expect([...(await liveObjects(service, SYSTEM, realm, 'user')).keys()]).toEqual(['ann', 'bob'])
  expect([...(await liveObjects(service, SYSTEM, realm, 'organization')).keys()]).toEqual([])
})

test('a domain moves from one organization to another in one apply, and belongs to one only', async () => {
  const two = (first: object[], second: object[]) => ({
    organizations: [
      { name: 'one', domains: first },
      { name: 'two', domains: second },
    ],
  })
  await apply(two([{ name: 'a.example', verified: true }], []))
  await apply(two([], [{ name: 'a.example' }]))
  expect((await liveObject(service, SYSTEM, realm, 'organization', 'two')).representation.domains).toMatchObject([
    { name: 'a.example' },
  ])
  await expect(apply(two([{ name: 'a.example' }], [{ name: 'A.example' }]))).rejects.toThrow(
    'Domain a.example is already linked to organization',
  )
  await remove(service, ANN, realm, 'organization', 'two')
  expect(await plan(two([], [{ name: 'a.example' }]))).toContain('+ organization two')
})
