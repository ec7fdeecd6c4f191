// `renamedFrom`: the object with the former name is renamed, instead of a new one being created.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject, updateObject } from '../support/live-objects.ts'
import {
  apply,
  exportDocument,
  getLive,
  plan,
  realm,
  service,
  switchRealm,
  useNewRealmNamePerTest,
} from '../support/realm-documents.ts'
import { newName } from '../support/service.ts'
import { ANN, applySource, createSource, planText } from '../support/sources.ts'

useNewRealmNamePerTest()

test('a renamed client keeps its id, roles, mappers and references; afterwards `renamedFrom` has no effect', async () => {
  const mapper = { name: 'm', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper' }
  const document = (client: object, id: string) => ({
    clients: [{ ...client, protocolMappers: [mapper] }],
    roles: {
      realm: [{ name: 'all', composites: { client: { [id]: ['buyer'] } } }],
      client: { [id]: [{ name: 'buyer' }] },
    },
  })
  await apply(document({ clientId: 'shop' }, 'shop'))
  const [client, role] = [await getLive('client', 'shop'), await getLive('role', 'client', 'shop', 'buyer')]
  const renamed = document({ clientId: 'store', renamedFrom: 'shop' }, 'store')
  expect(await plan(renamed)).toMatch(
    /~ client store .*\n {6}clientId: shop → store[^\n]*\nPlan: 0 to create, 1 to update, 0 to delete/,
  )
  await apply(renamed)
  expect((await getLive('client', 'store')).id).toBe(client.id)
  expect((await getLive('role', 'client', 'store', 'buyer')).id).toBe(role.id)
  expect((await getLive('role', 'all')).representation.composites).toEqual({ client: { store: ['buyer'] } })
  expect(await plan(renamed)).toContain('Nothing to do.')
  expect(await plan(document({ clientId: 'store' }, 'store'))).toContain('Nothing to do.')
})

test('references by the former name are accepted in that plan, with a note', async () => {
  await apply({ roles: { realm: [{ name: 'old' }, { name: 'all', composites: { realm: ['old'] } }] } })
  const roles = (name: string) => ({
    roles: {
      realm: [
        { name: 'new', renamedFrom: 'old' },
        { name: 'all', composites: { realm: [name] } },
        { name: 'more', composites: { realm: [name] } },
      ],
    },
  })
  expect(await plan(roles('old'))).toMatch(
    /note: role all: composites uses a former name, which is valid for this plan only/,
  )
  await apply(roles('old'))
  expect((await getLive('role', 'more')).representation.composites).toEqual({ realm: ['new'] })
  expect(await plan(roles('new'))).toContain('Nothing to do.')
})

test('a group is renamed with its subgroups, a realm with its content', async () => {
  await apply({ groups: [{ name: 'fruit', subGroups: [{ name: 'apple' }] }] })
  const [group, below] = [await getLive('group', '/fruit'), await getLive('group', '/fruit/apple')]
  const food = { groups: [{ name: 'food', renamedFrom: 'fruit', subGroups: [{ name: 'apple' }] }] }
  await apply(food)
  expect((await getLive('group', '/food')).id).toBe(group.id)
  expect((await getLive('group', '/food/apple')).id).toBe(below.id)
  const { id } = await getLive('realm', realm)
  const name = newName()
  const declared = createSource([{ realm: name, renamedFrom: realm, ...food }], realm)
  await applySource(service, declared)
  await switchRealm(name)
  expect((await getLive('realm', name)).id).toBe(id)
  expect((await getLive('group', '/food')).id).toBe(group.id)
  expect(await planText(service, declared)).toContain('Nothing to do.')
})

test('an object whose former name does not exist is created; declaring both names is refused', async () => {
  await apply({ clients: [{ clientId: 'new', renamedFrom: 'none' }] })
  expect((await getLive('client', 'new')).key).toEqual(['new'])
  await expect(apply({ clients: [{ clientId: 'new', renamedFrom: 'old' }, { clientId: 'old' }] })).rejects.toThrow(
    'client new: client old is declared as well. Remove renamedFrom, or that declaration.',
  )
  await expect(apply({ clients: [{ clientId: 'new', renamedFrom: 1 }] })).rejects.toThrow(
    'client new: renamedFrom must be the former name, not a number',
  )
})

test('the default role can have another name, in documents and in an export', async () => {
  const document = {
    defaultRole: { name: 'everyone' },
    roles: { realm: [{ name: 'everyone', description: 'All.' }] },
  }
  await apply(document)
  await apply({ ...document, users: [{ username: 'ann' }] })
  expect((await getLive('user', 'ann')).representation.realmRoles).toEqual(['everyone'])
  await expect(getLive('role', `default-roles-${realm}`)).rejects.toThrow()
  const exported = await exportDocument()
  expect(exported).toMatchObject({ defaultRole: { name: 'everyone' } })
  expect(await plan(exported)).toContain('Nothing to do.')
})

test('a new user who cannot be created since a value is taken gets the advice to declare the former name', async () => {
  const toUsers = (username: string) => ({ users: [{ username, email: 'ann@example.org' }] })
  await apply(toUsers('ann'))
  await expect(apply(toUsers('anna'))).rejects.toThrow(
    'User exists with same email. If the user was renamed, declare its former name as renamedFrom',
  )
})

test('a mail server is removed from its source with its password, unless another party uses it', async () => {
  const smtpServer = { host: 'mail.example.org', from: 'a@example.org', user: 'ann', password: 'secret' }
  await apply({ smtpServer })
  expect(await plan({ smtpServer: { host: 'mail.example.org', from: 'a@example.org', user: 'ann' } })).toContain(
    'Nothing',
  )
  await updateObject(service, ANN, realm, 'realm', [realm], { 'smtpServer.port': '2525' })
  expect(await plan({})).not.toContain('smtpServer.password')
  await updateObject(service, ANN, realm, 'realm', [realm], { 'smtpServer.port': null })
  expect(await plan({})).toMatch(/smtpServer\.password: .*removed from the source/)
  await apply({})
  expect((await getLiveObject(service, SYSTEM, realm, 'realm', realm)).representation.smtpServer ?? {}).toEqual({})
  expect(await plan({})).toContain('Nothing to do.')
  await apply({ smtpServer: { host: 'mail.example.org', from: 'b@example.org' } })
})
