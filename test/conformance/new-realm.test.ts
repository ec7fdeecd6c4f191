// A new realm has what a new realm of the reference server has: `new-realm.json` was recorded from it.
import { expect, test } from 'vitest'
import type { Representation } from '../../src/kinds/kind.ts'
import { testServer } from '../support/server.ts'
import recorded from './new-realm.json' with { type: 'json' }

const server = await testServer()
const realm = (await server.realm()).split('/').at(-1)!
const expected = JSON.parse(JSON.stringify(recorded).replaceAll('{realm}', realm)) as typeof recorded
const read = async (path: string) => (await server.call('GET', path)).body
const exported = (await read(`/regent/v1/export/${realm}?full=true`)) as Representation

/** Without ids, and with lists whose order says nothing sorted: of texts, and of objects with names. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = value.map(comparable)
    const ordered = list.some((one) => one !== null && typeof one === 'object' && 'requirement' in one)
    return ordered ? list : list.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).filter(([name]) => name !== 'id' && name !== 'containerId')
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, comparable(one)]))
}

const same = (actual: unknown, wanted: unknown) => expect(comparable(actual)).toEqual(comparable(wanted))

test('its settings', async () => same(await read(`/admin/realms/${realm}`), expected.realm))

test('its clients', async () => same(await read(`/admin/realms/${realm}/clients`), expected.clients))

test('its client scopes with their protocol mappers', async () =>
  same(await read(`/admin/realms/${realm}/client-scopes`), expected.clientScopes))

test('the client scopes that new clients get', async () => {
  const names = async (path: string) =>
    ((await read(`/admin/realms/${realm}/${path}`)) as { name: string }[]).map(({ name }) => name)
  same(await names('default-default-client-scopes'), expected.defaultDefaultClientScopes)
  same(await names('default-optional-client-scopes'), expected.defaultOptionalClientScopes)
})

test('its roles, and what they contain', async () => {
  const { realm: own, client } = exported.roles as { realm: Representation[]; client: Record<string, Representation[]> }
  const withAttributes = (roles: Representation[]) => roles.map((role) => ({ attributes: {}, ...role }))
  same(withAttributes(own), expected.roles.realm)
  same(
    Object.fromEntries(Object.entries(client).map(([id, roles]) => [id, withAttributes(roles)])),
    expected.roles.client,
  )
})

test('its authentication flows, and the settings of their steps', async () => {
  const steps = (flows: readonly Representation[]) =>
    flows.map(({ authenticationExecutions, ...flow }) => ({
      ...flow,
      steps: ((authenticationExecutions ?? []) as Representation[]).map(
        ({ authenticatorFlow: _, autheticatorFlow: __, ...step }) => step,
      ),
    }))
  same(steps(exported.authenticationFlows as Representation[]), steps(expected.flows as unknown as Representation[]))
  same(exported.authenticatorConfig, expected.configs)
})

test('its required actions, in order', async () =>
  expect(await read(`/admin/realms/${realm}/authentication/required-actions`)).toEqual(expected.requiredActions))

test('its administration client in master, with its roles', async () => {
  const [client] = (await read(`/admin/realms/master/clients?clientId=${realm}-realm`)) as Representation[]
  same(client, expected.adminClient)
  const roles = (await read(`/admin/realms/master/clients/${client!.id}/roles`)) as { name: string }[]
  same(
    roles.map(({ name }) => name),
    expected.adminRoles.map(({ name }) => name),
  )
})
