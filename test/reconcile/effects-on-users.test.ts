// Effects of a plan on users: counted before the apply, with equal numbers in plan and apply, as text, Markdown and JSON.
import { expect, test } from 'vitest'
import { renderMarkdownOutcome } from '../../src/reconcile/report/markdown-report.ts'
import { renderOutcome } from '../../src/reconcile/report/text-report.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { forgetSourceInRealm } from '../../src/service/sources/source-records.ts'
import { startClientSession } from '../support/client-sessions.ts'
import { apply, getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

useNewRealmPerTest()

const createNames = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`)
const provider = { alias: 'partner', providerId: 'oidc', enabled: true, config: {} }
const other = { ...provider, alias: 'other' }
const link = (identityProvider: string, userId: string) => ({ identityProvider, userId, userName: userId })
const password = { type: 'password', value: 'correct horse' }

/** Creates four users who are linked to the partner: one also has a password, another one a second link. */
async function createUsers(): Promise<void> {
  const users = createNames(4).map((username, at) => ({
    username,
    enabled: true,
    federatedIdentities: [link('partner', username), ...(at === 1 ? [link('other', username)] : [])],
    ...(at === 0 && { credentials: [password] }),
    groups: [at < 3 ? '/staff/finance' : '/staff'],
    realmRoles: ['auditor'],
    clientConsents: [{ clientId: 'shop', grantedClientScopes: [] }],
  }))
  await applySource(service, createSource([{ realm, users }], 'users'))
  // Their declarations would refer to objects that the plans delete.
  await service.write(SYSTEM, realm, (context) => forgetSourceInRealm(context, 'users'))
}

/** Starts sessions of users at a client. */
async function startSessions(clientId: string, usernames: readonly string[], start = new Date()): Promise<void> {
  const client = (await getLive('client', clientId)).id
  for (const username of usernames) {
    const user = (await getLive('user', username)).id
    await startClientSession(service, realm, { user, client, start })
  }
}

const everything = {
  identityProviders: [provider, other],
  roles: { realm: [{ name: 'auditor' }], client: { shop: [{ name: 'buyer' }] } },
  groups: [{ name: 'staff', realmRoles: ['auditor'], subGroups: [{ name: 'finance' }] }],
  clients: [{ clientId: 'shop' }, { clientId: 'other' }],
}
const countEffects = async (declared: object) =>
  (await planSources(service, SYSTEM, [toRealmSource(declared)])).realms[0]!.effects.map(({ key, effect, count }) => [
    key.at(-1),
    effect,
    count,
  ])

test('a plan counts the effects of its deletions on users, and the apply reports the same numbers', async () => {
  await apply(everything)
  await createUsers()
  await startSessions('shop', ['user-0', 'user-1'])
  await startSessions('other', ['user-2'])
  const rest = { identityProviders: [other], clients: [{ clientId: 'other' }] }
  const planned = await planSources(service, SYSTEM, [toRealmSource(rest)])
  expect(
    planned.realms[0]!.effects.map(({ kind, key, effect, count }) => [kind, key.at(-1), effect, count]).sort(),
  ).toEqual([
    ['client', 'shop', 'endsSessions', 2],
    ['client', 'shop', 'removesConsents', 4],
    ['group', '/staff', 'removesMembers', 4],
    ['group', '/staff/finance', 'removesMembers', 3],
    ['identityProvider', 'partner', 'locksOutUsers', 2],
    ['identityProvider', 'partner', 'unlinksUsers', 4],
    ['role', 'auditor', 'removesRoleFromGroups', 1],
    ['role', 'auditor', 'removesRoleFromUsers', 4],
  ])
  const text = renderOutcome(planned, 'planned')
  expect(text).toMatch(
    /- identity provider partner .*\n {6}! unlinks 4 users\n {6}! 2 users have no other way to log in\n/,
  )
  expect(text).toMatch(/- client shop .*\n {6}! ends 2 sessions\n {6}! removes 4 consents\n/)
  expect(renderMarkdownOutcome(planned, 'planned')).toContain('**Effects on users**\n')
  expect(renderMarkdownOutcome(planned, 'planned')).toContain(
    '\n- `identity provider partner`: unlinks 4 users; 2 users have no other way to log in\n',
  )
  expect((await apply(rest)).realms[0]!.effects).toEqual(planned.realms[0]!.effects)
  expect(await countEffects(rest)).toEqual([])
})

test('disabling objects counts the affected users and sessions, without expired sessions', async () => {
  await apply({ ...everything, users: [{ username: 'chief', enabled: true }] })
  await createUsers()
  await startSessions('shop', ['user-0', 'chief'])
  await startSessions('shop', ['user-1', 'chief'], new Date(0))
  const disabled = {
    ...everything,
    identityProviders: [{ ...provider, enabled: false }, other],
    clients: [{ clientId: 'shop', enabled: false }, { clientId: 'other' }],
    users: [{ username: 'chief', enabled: false }],
  }
  expect((await countEffects(disabled)).sort()).toEqual([
    ['chief', 'disablesSessions', 1],
    ['partner', 'blocksLogins', 4],
    ['partner', 'locksOutUsers', 2],
    ['shop', 'disablesSessions', 2],
  ])
  expect(await countEffects({ ...everything, enabled: false, users: [{ username: 'chief', enabled: true }] })).toEqual([
    [realm, 'disablesSessions', 2],
  ])
})

test('effects cost one statement, and none if the plan cannot affect users', async () => {
  const { statements } = await testService()
  await apply(everything)
  await createUsers()
  const countStatements = async (declared: object) =>
    (await statements(() => planSources(service, SYSTEM, [toRealmSource(declared)]))).filter(({ sql }) =>
      sql.includes('effects'),
    ).length
  expect(await countStatements({ ...everything, displayName: 'Other' })).toBe(0)
  expect(await countStatements({ clients: [{ clientId: 'other' }] })).toBe(1)
})
