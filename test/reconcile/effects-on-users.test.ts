// What people lose by a plan: counted before it is carried out, the same in plan and apply, in text, markdown and JSON.
import { expect, test } from 'vitest'
import { renderMarkdownOutcome } from '../../src/reconcile/report/markdown-report.ts'
import { renderOutcome, withoutColors } from '../../src/reconcile/report/text-report.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { addClientSession, startSession } from '../../src/service/login/sessions.ts'
import { forgetSourceInRealm } from '../../src/service/sources/source-records.ts'
import { apply, getLive, realm, service, toRealmSource, useNewRealmPerTest } from '../support/realm-documents.ts'
import { testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

useNewRealmPerTest()

const names = (count: number) => Array.from({ length: count }, (_, at) => `user-${at}`)
const provider = { alias: 'partner', providerId: 'oidc', enabled: true, config: {} }
const other = { ...provider, alias: 'other' }
const link = (identityProvider: string, userId: string) => ({ identityProvider, userId, userName: userId })
const password = { type: 'password', value: 'correct horse' }

/** People: 4 linked to the partner, of whom one has a password and one another link. */
async function people(): Promise<void> {
  const users = names(4).map((username, at) => ({
    username,
    enabled: true,
    federatedIdentities: [link('partner', username), ...(at === 1 ? [link('other', username)] : [])],
    ...(at === 0 && { credentials: [password] }),
    groups: [at < 3 ? '/staff/finance' : '/staff'],
    realmRoles: ['auditor'],
    clientConsents: [{ clientId: 'shop', grantedClientScopes: [] }],
  }))
  await applySource(service, createSource([{ realm, users }], 'people'))
  // Nobody states them from now on, so nobody vetoes.
  await service.write(SYSTEM, realm, (context) => forgetSourceInRealm(context, 'people'))
}

/** People log in to the client. */
async function logIn(client: string, usernames: readonly string[], now = new Date()): Promise<void> {
  const { id } = await getLive('client', client)
  for (const username of usernames) {
    const user = (await getLive('user', username)).id
    await service.writeRuntime(SYSTEM, realm, async (context) => {
      const session = await startSession({ ...context, now }, { user, body: {} })
      await addClientSession({ ...context, now }, session, { client: id, scope: '', base: 'http://localhost' })
    })
  }
}

const everything = {
  identityProviders: [provider, other],
  roles: { realm: [{ name: 'auditor' }], client: { shop: [{ name: 'buyer' }] } },
  groups: [{ name: 'staff', realmRoles: ['auditor'], subGroups: [{ name: 'finance' }] }],
  clients: [{ clientId: 'shop' }, { clientId: 'kept' }],
}
const counted = async (stated: object) =>
  (await planSources(service, SYSTEM, [toRealmSource(stated)])).realms[0]!.effects.map(
    ({ key, effect: what, count }) => [key.at(-1), what, count],
  )

test('a plan counts what people lose with what it deletes, and an apply tells the same', async () => {
  await apply(everything)
  await people()
  await logIn('shop', ['user-0', 'user-1'])
  await logIn('kept', ['user-2'])
  const rest = { identityProviders: [other], clients: [{ clientId: 'kept' }] }
  const planned = await planSources(service, SYSTEM, [toRealmSource(rest)])
  expect(
    planned.realms[0]!.effects.map(({ kind, key, effect: what, count }) => [kind, key.at(-1), what, count]).sort(),
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
  const text = renderOutcome(planned, 'planned', withoutColors)
  expect(text).toMatch(
    /- identity provider partner\n {6}! unlinks 4 users\n {6}! 2 users have no other way to log in\n/,
  )
  expect(text).toMatch(/- client shop\n {6}! ends 2 sessions\n {6}! removes 4 consents\n/)
  expect(renderMarkdownOutcome(planned, 'planned')).toContain('**Effects on users**\n')
  expect(renderMarkdownOutcome(planned, 'planned')).toContain(
    '\n- `identity provider partner`: unlinks 4 users; 2 users have no other way to log in\n',
  )
  expect((await apply(rest)).realms[0]!.effects).toEqual(planned.realms[0]!.effects)
  expect(await counted(rest)).toEqual([])
})

test('what is disabled hinders people too; sessions whose time is over count for nothing', async () => {
  await apply({ ...everything, users: [{ username: 'boss', enabled: true }] })
  await people()
  await logIn('shop', ['user-0', 'boss'])
  await logIn('shop', ['user-1', 'boss'], new Date(0))
  const disabled = {
    ...everything,
    identityProviders: [{ ...provider, enabled: false }, other],
    clients: [{ clientId: 'shop', enabled: false }, { clientId: 'kept' }],
    users: [{ username: 'boss', enabled: false }],
  }
  expect((await counted(disabled)).sort()).toEqual([
    ['boss', 'disablesSessions', 1],
    ['partner', 'blocksLogins', 4],
    ['partner', 'locksOutUsers', 2],
    ['shop', 'disablesSessions', 2],
  ])
  expect(await counted({ ...everything, enabled: false, users: [{ username: 'boss', enabled: true }] })).toEqual([
    [realm, 'disablesSessions', 2],
  ])
})

test('it costs a constant number of statements, and none where nothing ends', async () => {
  const { statements } = await testService()
  await apply(everything)
  await people()
  const of = async (stated: object) =>
    (await statements(() => planSources(service, SYSTEM, [toRealmSource(stated)]))).filter(({ sql }) =>
      sql.includes('effects'),
    ).length
  expect(await of({ ...everything, displayName: 'Other' })).toBe(0)
  expect(await of({ clients: [{ clientId: 'kept' }] })).toBe(1)
})
