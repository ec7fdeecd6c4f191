// What earlier versions called otherwise is read as the reference server's import reads it.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { getLiveObject } from '../support/changes.ts'
import { applySource, planText, createSource } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { service } = await testService()
const { call, realm } = await testServer()

test('default roles are made where no list states them, and everybody has them', async () => {
  const name = newName()
  const document = {
    realm: name,
    defaultRoles: ['stated', 'made', 'offline_access'],
    roles: { realm: [{ name: 'stated', description: 'Stated' }], client: { shop: [{ name: 'own' }] } },
    clients: [{ clientId: 'shop', defaultRoles: ['own', 'made'] }],
  }
  const state = createSource([document], name)
  await applySource(service, state)
  const { representation } = await getLiveObject(service, SYSTEM, name, 'role', `default-roles-${name}`)
  expect(representation.composites).toEqual({
    realm: ['made', 'offline_access', 'stated', 'uma_authorization'],
    client: { account: ['manage-account', 'view-profile'], shop: ['made', 'own'] },
  })
  expect((await getLiveObject(service, SYSTEM, name, 'role', 'stated')).representation.description).toBe('Stated')
  expect(await planText(service, state)).toContain('Nothing to do.')
  await applySource(service, createSource([{ ...document, defaultRoles: ['stated'] }], name))
  const { representation: now } = await getLiveObject(service, SYSTEM, name, 'role', `default-roles-${name}`)
  expect(now.composites).toMatchObject({ realm: ['stated', 'uma_authorization'] })
})

test('a realm that is made over REST has its default roles too; an update says nothing of them', async () => {
  const path = await realm({ defaultRoles: ['member'] })
  expect((await call('GET', `${path}/roles/member`)).status).toBe(200)
  expect((await call('PUT', path, { body: { defaultRoles: ['other'] } })).status).toBe(204)
  expect((await call('GET', `${path}/roles/other`)).status).toBe(404)
})

test('a default role that is no name is refused with its place', async () => {
  const name = newName()
  await expect(applySource(service, createSource([{ realm: name, defaultRoles: 'member' }], name))).rejects.toThrow(
    /-1\.yaml:2:1: defaultRoles must be a list of names of roles, not a text|defaultRoles must be a list/,
  )
})

test('a client template is a client scope', async () => {
  const name = newName()
  const clientTemplates = [
    { name: 'shared', protocol: 'openid-connect', fullScopeAllowed: true, attributes: { a: 'b' } },
  ]
  await applySource(service, createSource([{ realm: name, clientTemplates }], name))
  const { representation } = await getLiveObject(service, SYSTEM, name, 'clientScope', 'shared')
  expect(representation).toMatchObject({ protocol: 'openid-connect', attributes: { a: 'b' } })
})

test('what people must do is read in small letters too, where it comes with every server', async () => {
  const name = newName()
  const document = { realm: name, users: [{ username: 'ann', requiredActions: ['terms_and_conditions', 'own_one'] }] }
  await applySource(service, createSource([document], name))
  const { representation } = await getLiveObject(service, SYSTEM, name, 'user', 'ann')
  expect(representation.requiredActions).toEqual(['TERMS_AND_CONDITIONS', 'own_one'])
})

test('a client of a new realm that says nothing of it sends people back after log-out as after log-in', async () => {
  const stated = { clientId: 'stated', attributes: { 'post.logout.redirect.uris': 'https://out.example.org' } }
  const path = await realm({ clients: [{ clientId: 'silent' }, stated] })
  const shown = async (clientId: string) =>
    (await call('GET', `${path}/clients?clientId=${clientId}`)).body[0].attributes['post.logout.redirect.uris']
  expect([await shown('silent'), await shown('stated')]).toEqual(['+', 'https://out.example.org'])
})

test('the template of a client is one of its client scopes, unless it states which it has', async () => {
  const name = newName()
  const clients = [
    { clientId: 'plain', clientTemplate: 'my own' },
    { clientId: 'stating', clientTemplate: 'my own', defaultClientScopes: ['email'] },
    { clientId: 'other', clientTemplate: 'my own', protocol: 'saml' },
  ]
  const state = createSource(
    [{ realm: name, clientTemplates: [{ name: 'my own', protocol: 'openid-connect' }], clients }],
    name,
  )
  await applySource(service, state)
  const scopesOf = async (client: string) =>
    (await getLiveObject(service, SYSTEM, name, 'client', client)).representation.defaultClientScopes
  expect(await scopesOf('plain')).toEqual(['acr', 'basic', 'email', 'my_own', 'profile', 'roles', 'web-origins'])
  expect(await scopesOf('stating')).toEqual(['email'])
  expect(await scopesOf('other')).not.toContain('my_own')
  expect(await planText(service, state)).toContain('Nothing to do.')
})

test('roles of applications are those of clients, where a person states none', async () => {
  const name = newName()
  const users = [
    { username: 'ann', applicationRoles: { shop: ['buyer'] } },
    { username: 'bob', applicationRoles: { shop: ['buyer'] }, clientRoles: { shop: ['seller'] } },
  ]
  const roles = { client: { shop: [{ name: 'buyer' }, { name: 'seller' }] } }
  await applySource(service, createSource([{ realm: name, clients: [{ clientId: 'shop' }], roles, users }], name))
  const rolesOf = async (user: string) =>
    (await getLiveObject(service, SYSTEM, name, 'user', user)).representation.clientRoles
  expect([await rolesOf('ann'), await rolesOf('bob')]).toEqual([{ shop: ['buyer'] }, { shop: ['seller'] }])
})
