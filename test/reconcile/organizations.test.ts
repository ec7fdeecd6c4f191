// Organizations in documents. Members and identity providers are declared inside of them, and belong to the realm.
import { expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import type { ObjectUpdate } from '../../src/service/objects/writers.ts'
import { deleteObject, listLiveObjects, updateObject } from '../support/live-objects.ts'
import { exportDocument, getLive, realm, service, switchRealm, useNewRealmPerTest } from '../support/realm-documents.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

useNewRealmPerTest()

const toSource = (document: object, name = realm) => createSource([{ realm, ...document }], name)
const apply = (document: object, name?: string) => applySource(service, toSource(document, name))
const plan = (document: object) => planText(service, toSource(document))

/** Changes the memberships of a user, as REST and log-ins do. */
const relate = async (user: string, relations: ObjectUpdate['relations'] & object) => {
  const live = await getLive('user', user)
  await service.write(ANN, realm, (context) => writers.user.update(context, [{ live, set: {}, relations }]))
}

const acme = (more: object = {}) => ({
  name: 'Acme Ltd',
  alias: 'acme',
  description: 'Makes things',
  domains: [{ name: 'acme.test' }, { name: 'Acme.example', verified: true }],
  attributes: { colour: ['red'] },
  members: [
    { username: 'Ann', membershipType: 'MANAGED', groups: ['/sales/east'] },
    { username: 'bob', groups: ['sales', '/sales/east'] },
  ],
  identityProviders: [{ alias: 'partner' }],
  groups: [{ name: 'sales', subGroups: [{ name: 'east', attributes: { floor: ['2'] } }] }],
  ...more,
})
const base = {
  users: [{ username: 'ann' }, { username: 'bob' }],
  identityProviders: [{ alias: 'partner', providerId: 'oidc' }],
}
const document = (more: object = {}) => ({ ...base, organizations: [acme(), { name: 'bare' }], ...more })

const UUID = /^[0-9a-f-]{36}$/

test('after an apply, the plans of the document and of an export are empty; the export recreates the organizations with members', async () => {
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
  const exportedRealm = await exportDocument({ secrets: true, ids: true })
  expect(exportedRealm).toMatchObject({
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
          { username: 'ann', membershipType: 'MANAGED', groups: [expect.stringMatching(UUID)] },
          { username: 'bob', membershipType: 'UNMANAGED', groups: [expect.stringMatching(UUID), expect.anything()] },
        ],
        identityProviders: [{ alias: 'partner' }],
        groups: [{ name: 'sales', subGroups: [{ name: 'east', attributes: { floor: ['2'] } }] }],
      },
      { name: 'bare', alias: 'bare' },
    ],
  })
  expect(exportedRealm.users).not.toMatchObject([{ managedBy: expect.anything() }, {}])
  expect(exportedRealm.identityProviders).toEqual([expect.not.objectContaining({ organization: 'acme' })])
  expect(await plan(exportedRealm)).toContain('Nothing to do.')
  await switchRealm()
  const { users, identityProviders, organizations } = exportedRealm
  await apply({ users, identityProviders, organizations })
  expect(await exportDocument({ secrets: true, ids: true })).toMatchObject({ users, identityProviders, organizations })
})

test('groups of an organization and their members are managed one by one, at the positions of their declarations', async () => {
  const sales = (more: object = {}) => ({ name: 'sales', description: 'Sellers', ...more })
  const withGroups = (groups: object[], members: object[] = []) => ({
    ...base,
    organizations: [acme({ groups, members })],
  })
  await apply(withGroups([sales(), { name: 'support' }], [{ username: 'bob', groups: ['sales'] }]))
  const exported = await exportDocument()
  expect(exported.organizations).toMatchObject([{ members: [{ username: 'bob', groups: ['/sales'] }] }])
  const changed = withGroups(
    [sales({ description: 'Sells', subGroups: [{ name: 'west' }] })],
    [{ username: 'bob', groups: ['sales/west'] }],
  )
  const text = await plan(changed)
  expect(text).toContain('+ organization group /sales/west of organization acme')
  expect(text).toContain('- organization group /support of organization acme')
  expect(text).toMatch(/~ organization group \/sales of organization acme {2}.*\n +description: Sellers → Sells/)
  expect(text).toMatch(/~ user bob .*\n +organizationGroups: \+acme\/sales\/west -acme\/sales\n/)
  await apply(changed)
  const groups = await listLiveObjects(service, SYSTEM, realm, 'organizationGroup')
  expect([...groups.keys()].sort()).toEqual(['/sales', '/sales/west'])
  expect((await getLive('user', 'bob')).representation.organizationGroups).toEqual({ acme: ['/sales/west'] })
})

test('a group of a member that the organization does not declare is refused at its position', async () => {
  const text = `realm: ${realm}\nusers: [{username: ann}]\norganizations:\n  - name: acme\n    members:\n      - username: ann\n        groups: [nowhere]\n`
  await expect(planText(service, createSource([text], realm))).rejects.toMatchObject({
    problems: [{ position: { line: 7 }, message: expect.stringContaining('organization group /nowhere') }],
  })
})

test('a source that declares a membership manages the membership only, not the user', async () => {
  await apply(base, `${realm}-users`)
  await apply({ organizations: [acme()] })
  const ann = await getLive('user', 'ann')
  expect(ann.representation).toMatchObject({ organizations: ['acme'], managedBy: ['acme'] })
  await apply({ organizations: [acme({ members: [{ username: 'ann' }], identityProviders: [] })] })
  expect((await getLive('user', 'ann')).representation).toMatchObject({ managedBy: [] })
  expect((await getLive('user', 'bob')).representation).toMatchObject({
    organizations: [],
  })
  expect((await getLive('identityProvider', 'partner')).references).toEqual({})
})

test('a reference to a user or identity provider that does not exist is refused at its position', async () => {
  const text = `realm: ${realm}\norganizations:\n  - name: acme\n    members:\n      - username: nobody\n    identityProviders:\n      - alias: nowhere\n`
  const planned = planText(service, createSource([text], realm))
  await expect(planned).rejects.toMatchObject({
    problems: [
      { position: { line: 5 }, message: expect.stringContaining('user nobody') },
      { position: { line: 7 }, message: expect.stringContaining('identity provider nowhere') },
    ],
  })
})

test('an organization whose name is not a valid alias needs an alias', async () => {
  await expect(apply({ organizations: [{ name: 'Two Words' }] })).rejects.toThrow('Name cannot be used as alias')
  await apply({ organizations: [{ name: 'Two Words', alias: 'two' }] })
  expect(await plan({ organizations: [{ name: 'Three Words', alias: 'two' }] })).toMatch(/name: .*Three Words/)
})

test('changes by an administrator are drift, also of domains and memberships', async () => {
  await apply(document())
  await updateObject(service, ANN, realm, 'organization', ['acme'], { description: 'Breaks things', domains: null })
  await relate('bob', { organizations: { remove: [['acme']] } })
  expect((await listDrift(service, SYSTEM, realm)).map(({ path }) => path).sort()).toEqual([
    'description',
    'domains',
    'organizationGroups',
    'organizations',
  ])
  expect(await plan(document())).toMatch(/3 to update|organization acme/)
  await apply(document())
  expect(await plan(document())).toContain('Nothing to do.')
})

test('an organization that is removed from the source is deleted with its managed members, and the plan lists them', async () => {
  await apply({ ...base, users: [...base.users, { username: 'eva' }] }, `${realm}-users`)
  await apply({ organizations: [acme()] })
  await relate('eva', { managedBy: { add: [['acme']] } })
  const text = await plan({})
  expect(text).toContain('- organization acme')
  expect(text).toMatch(/eva/)
  await apply({})
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'user')).keys()]).toEqual(['ann', 'bob'])
  expect([...(await listLiveObjects(service, SYSTEM, realm, 'organization')).keys()]).toEqual([])
})

test('a domain can move to another organization in one apply, and belongs to one only', async () => {
  const two = (first: object[], second: object[]) => ({
    organizations: [
      { name: 'one', domains: first },
      { name: 'two', domains: second },
    ],
  })
  await apply(two([{ name: 'a.example', verified: true }], []))
  await apply(two([], [{ name: 'a.example' }]))
  expect((await getLive('organization', 'two')).representation.domains).toMatchObject([{ name: 'a.example' }])
  await expect(apply(two([{ name: 'a.example' }], [{ name: 'A.example' }]))).rejects.toThrow(
    'Domain a.example is already linked to organization',
  )
  await deleteObject(service, ANN, realm, 'organization', 'two')
  expect(await plan(two([], [{ name: 'a.example' }]))).toContain('+ organization two')
})
