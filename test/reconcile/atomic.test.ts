// All of a realm, or nothing: a failure at any action leaves every row as it was, and names the action and its place.
import { afterAll, expect, test } from 'vitest'
import { ActionError } from '../../src/reconcile/apply.ts'
import { planSource } from '../../src/reconcile/run.ts'
import { SYSTEM } from '../../src/service/service.ts'
import { applyAs, source } from '../support/reconcile.ts'
import { allRows, failAt } from '../support/rows.ts'
import { freshService } from '../support/service.ts'

const service = await freshService()
afterAll(() => service.close())

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

function realm(scopes: number[], more: object = {}) {
  return {
    realm: 'atomic',
    enabled: true,
    clientScopes: scopes.map((at) => ({
      name: `scope-${at}`,
      protocol: 'openid-connect',
      protocolMappers: at <= 8 ? [{ name: `mapper-${at}`, protocolMapper: 'oidc-usermodel-attribute-mapper' }] : [],
    })),
    clients: [{ clientId: 'web', ...more }, ...numbers(4).map((at) => ({ clientId: `client-${at}`, ...more }))],
    authenticatorConfig: [{ alias: 'settings', config: { a: '1' } }],
    authenticationFlows: [
      {
        alias: 'ours',
        topLevel: true,
        authenticationExecutions: [{ authenticator: 'auth-cookie', authenticatorConfig: 'settings' }],
      },
    ],
  }
}

test('a failure at each action of a plan of 30 actions leaves all rows as before', async () => {
  await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  await applyAs(service, source([realm(numbers(4))]))
  await failAt(service, undefined)
  const before = await allRows(service)

  // Creations, changes and deletions: scopes 1 and 2 go, 5 to 19 come, every client changes.
  const wanted = source([
    {
      ...realm([3, 4, ...numbers(19).slice(4)], { name: 'Renamed' }),
      displayName: 'Atomic',
      authenticatorConfig: [{ alias: 'settings', config: { a: '2' } }],
    },
  ])
  const { realms } = await planSource(service, SYSTEM, wanted)
  const { actions } = realms[0]!.plan
  expect(actions.length).toBeGreaterThanOrEqual(30)
  expect(new Set(actions.map(({ operation }) => operation))).toEqual(new Set(['create', 'update', 'delete']))

  for (const action of actions) {
    await failAt(service, action.key.at(-1))
    const failure = await applyAs(service, wanted).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ActionError)
    expect((failure as ActionError).message).toContain('planted failure')
    expect((failure as ActionError).action).toMatchObject({ kind: action.kind, operation: action.operation })
    await failAt(service, undefined)
    expect(await allRows(service)).toEqual(before)
  }

  await applyAs(service, wanted)
  expect(await allRows(service)).not.toEqual(before)
})

test('a plan and its trial execution write nothing', async () => {
  const before = await allRows(service)
  await planSource(service, SYSTEM, source([realm(numbers(20), { name: 'Planned' })]))
  await planSource(service, SYSTEM, source([{ realm: 'never-made', clients: [{ clientId: 'x' }] }]))
  expect(await allRows(service)).toEqual(before)
})
