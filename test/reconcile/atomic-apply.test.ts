// All of a realm, or nothing: a failure at any action leaves every row as it was, and names the action and its place.
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { dumpRows, plantFailure } from '../support/database-rows.ts'
import { type GeneratedRealm, generatedRealms } from '../support/generated-realms.ts'
import { propertyOptions, TIME_LIMIT } from '../support/property-options.ts'
import { toDocument } from '../support/samples.ts'
import { isTransaction, newName, openNewService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const service = await openNewService()
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
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  await applySource(service, createSource([realm(numbers(4))]))
  await plantFailure(service, undefined)
  const before = await dumpRows(service)

  // Creations, changes and deletions: scopes 1 and 2 go, 5 to 19 come, every client changes.
  const wanted = createSource([
    {
      ...realm([3, 4, ...numbers(19).slice(4)], { name: 'Renamed' }),
      displayName: 'Atomic',
      authenticatorConfig: [{ alias: 'settings', config: { a: '2' } }],
    },
  ])
  const { realms } = await planSources(service, SYSTEM, [wanted])
  const { actions } = realms[0]!.plan
  expect(actions.length).toBeGreaterThanOrEqual(30)
  expect(new Set(actions.map(({ operation }) => operation))).toEqual(new Set(['create', 'update', 'delete']))

  for (const action of actions) {
    await plantFailure(service, action.key.at(-1))
    const failure = await applySource(service, wanted).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ActionError)
    expect((failure as ActionError).message).toContain('planted failure')
    expect((failure as ActionError).action).toMatchObject({ kind: action.kind, operation: action.operation })
    await plantFailure(service, undefined)
    expect(await dumpRows(service)).toEqual(before)
  }

  await applySource(service, wanted)
  expect(await dumpRows(service)).not.toEqual(before)
})

test('a plan and its trial execution write nothing', async () => {
  const before = await dumpRows(service)
  await planSources(service, SYSTEM, [createSource([realm(numbers(20), { name: 'Planned' })])])
  await planSources(service, SYSTEM, [createSource([{ realm: 'never-made', clients: [{ clientId: 'x' }] }])])
  expect(await dumpRows(service)).toEqual(before)
})

let left = Number.POSITIVE_INFINITY
const failing = await openNewService({
  onStatement({ sql }) {
    if (!isTransaction(sql) && --left < 0) throw new Error('planted failure')
  },
})
afterAll(() => failing.close())

test(
  'a failure at any statement of an apply leaves the rows of its realm as before, or as after',
  async () => {
    await failing.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    let failed = 0
    const point = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    await fc.assert(
      fc.asyncProperty(generatedRealms, generatedRealms, point, async (first, second, share) => {
        const name = newName()
        const state = ({ settings, objects }: GeneratedRealm) =>
          createSource([toDocument(name, objects, settings)], name)
        await applySource(failing, state(first))
        const before = await dumpRows(failing, name)
        const wanted = state(second)
        left = 10_000
        await planSources(failing, SYSTEM, [wanted])
        // An apply takes about as many statements as a plan, which tries it.
        left = Math.floor(share * (10_000 - left))
        const done = await applySource(failing, wanted).then(
          () => true,
          () => false,
        )
        left = Number.POSITIVE_INFINITY
        const rows = await dumpRows(failing, name)
        if (!done) failed++
        await applySource(failing, wanted)
        expect([before, await dumpRows(failing, name)]).toContainEqual(rows)
      }),
      propertyOptions,
    )
    expect(failed).toBeGreaterThan(0)
  },
  TIME_LIMIT,
)
