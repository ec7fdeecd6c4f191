// An apply of a realm is atomic: a failure at any action changes no row, and the error names the action.
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { dumpRows, plantFailure } from '../support/database-rows.ts'
import { type GeneratedRealm, generatedRealms } from '../support/generated-realms.ts'
import { propertyOptions, TIME_LIMIT } from '../support/property-options.ts'
import { toDocument } from '../support/samples.ts'
import { newName, openNewService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const service = await openNewService()
afterAll(() => service.close())

const numbersUpTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

function realm(scopes: number[], more: object = {}) {
  return {
    realm: 'atomic',
    enabled: true,
    clientScopes: scopes.map((at) => ({
      name: `scope-${at}`,
      protocol: 'openid-connect',
      protocolMappers: at <= 8 ? [{ name: `mapper-${at}`, protocolMapper: 'oidc-usermodel-attribute-mapper' }] : [],
    })),
    clients: [{ clientId: 'web', ...more }, ...numbersUpTo(4).map((at) => ({ clientId: `client-${at}`, ...more }))],
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

test('a failure at any of 30 actions of a plan changes no row', async () => {
  await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  await applySource(service, createSource([realm(numbersUpTo(4))]))
  await plantFailure(service, undefined)
  const before = await dumpRows(service)

  // Deletes scopes 1 and 2, creates 5 to 19, and updates all clients.
  const desired = createSource([
    {
      ...realm([3, 4, ...numbersUpTo(19).slice(4)], { name: 'Renamed' }),
      displayName: 'Atomic',
      authenticatorConfig: [{ alias: 'settings', config: { a: '2' } }],
    },
  ])
  const { realms } = await planSources(service, SYSTEM, [desired])
  const { actions } = realms[0]!.plan
  expect(actions.length).toBeGreaterThanOrEqual(30)
  expect(new Set(actions.map(({ operation }) => operation))).toEqual(new Set(['create', 'update', 'delete']))

  for (const action of actions) {
    await plantFailure(service, action.key.at(-1))
    const failure = await applySource(service, desired).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ActionError)
    expect((failure as ActionError).message).toContain('planted failure')
    expect((failure as ActionError).action).toMatchObject({ kind: action.kind, operation: action.operation })
    await plantFailure(service, undefined)
    expect(await dumpRows(service)).toEqual(before)
  }

  await applySource(service, desired)
  expect(await dumpRows(service)).not.toEqual(before)
})

test('a plan and its dry run write nothing', async () => {
  const before = await dumpRows(service)
  await planSources(service, SYSTEM, [createSource([realm(numbersUpTo(20), { name: 'Planned' })])])
  await planSources(service, SYSTEM, [createSource([{ realm: 'never-created', clients: [{ clientId: 'x' }] }])])
  expect(await dumpRows(service)).toEqual(before)
})

let remainingStatements = Number.POSITIVE_INFINITY
const failing = await openNewService({
  onStatement() {
    if (--remainingStatements < 0) throw new Error('planted failure')
  },
})
afterAll(() => failing.close())

test(
  'after a failure at any statement of an apply, the rows of its realm are those before or after the apply',
  async () => {
    await failing.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    let failures = 0
    const point = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
    await fc.assert(
      fc.asyncProperty(generatedRealms, generatedRealms, point, async (first, second, share) => {
        const name = newName()
        const toSource = ({ settings, objects }: GeneratedRealm) =>
          createSource([toDocument(name, objects, settings)], name)
        await applySource(failing, toSource(first))
        const before = await dumpRows(failing, name)
        const desired = toSource(second)
        remainingStatements = 10_000
        await planSources(failing, SYSTEM, [desired])
        // An apply executes about as many statements as a plan with its dry run.
        remainingStatements = Math.floor(share * (10_000 - remainingStatements))
        const isApplied = await applySource(failing, desired).then(
          () => true,
          () => false,
        )
        remainingStatements = Number.POSITIVE_INFINITY
        const rows = await dumpRows(failing, name)
        if (!isApplied) failures++
        await applySource(failing, desired)
        expect([before, await dumpRows(failing, name)]).toContainEqual(rows)
      }),
      propertyOptions,
    )
    expect(failures).toBeGreaterThan(0)
  },
  TIME_LIMIT,
)
