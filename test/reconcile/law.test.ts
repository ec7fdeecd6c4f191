// The law: plan + consequences = what apply did. And: apply, then plan, is empty, from any state to any other.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { address } from '../../src/kinds/tree.ts'
import { planSource } from '../../src/reconcile/run.ts'
import { type Service, SYSTEM } from '../../src/service/service.ts'
import { change } from '../support/changes.ts'
import { ANN, applyAs, planText, source } from '../support/reconcile.ts'
import { allRows } from '../support/rows.ts'
import { newName, newRealm, testService } from '../support/service.ts'

const { service } = await testService()

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 })
const attributes = fc.dictionary(fc.constantFrom('x', 'y', 'z.z'), fc.option(fc.constantFrom('1', '2')), { maxKeys: 3 })
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

const mappers = names.chain((all) =>
  fc.tuple(
    ...all.map((name) =>
      fc.record({
        name: fc.constant(`mapper-${name}`),
        protocolMapper: fc.constant('oidc-hardcoded-claim-mapper'),
        config: attributes,
      }),
    ),
  ),
)
const scopes = names.chain((all) =>
  fc.tuple(
    ...all.map((name) =>
      fc.record({
        name: fc.constant(`scope-${name}`),
        protocol: fc.constant('openid-connect'),
        description: optional(fc.option(fc.constantFrom('one', 'two'))),
        attributes: optional(attributes),
        protocolMappers: optional(mappers),
      }),
    ),
  ),
)
const clients = names.chain((all) =>
  fc.tuple(
    ...all.map((name) =>
      fc.record({
        clientId: fc.constant(`client-${name}`),
        name: optional(fc.constantFrom('one', 'two')),
        redirectUris: optional(fc.subarray(['https://a.example.org/*', 'https://b.example.org/cb'])),
        serviceAccountsEnabled: optional(fc.boolean()),
        secret: optional(fc.constantFrom('hush', 'hush-hush')),
        attributes: optional(attributes),
        defaultClientScopes: optional(fc.subarray(['email', 'profile', 'roles'])),
        protocolMappers: optional(mappers),
      }),
    ),
  ),
)
const flows = names.chain((all) =>
  fc.tuple(
    ...all.map((name) =>
      fc.record({
        alias: fc.constant(`flow-${name}`),
        topLevel: fc.constant(true),
        authenticationExecutions: fc.array(
          fc.record({
            authenticator: fc.constantFrom('auth-cookie', 'auth-otp-form'),
            requirement: fc.constantFrom('REQUIRED', 'DISABLED'),
          }),
          { maxLength: 3 },
        ),
      }),
    ),
  ),
)
const realms = fc.record({
  displayName: optional(fc.option(fc.constantFrom('One', 'Two'))),
  clientScopes: scopes,
  clients,
  authenticationFlows: flows,
})

const tidy = (value: object) => JSON.parse(JSON.stringify(value)) as object

/** The addresses of what the journals say about a realm since an entry count. */
async function journaled(realm: string, since: { entries: number; people: number }): Promise<Set<string>> {
  const rows = await service.look(async (db) => {
    const { sql } = await import('kysely')
    const read = (table: string, from: number) =>
      sql<{
        kind: string
        key: string[]
      }>`/* test */ select j.kind, j.key from ${sql.table(table)} j join realm r on r.number = j.realm where r.name = ${realm} order by j.number offset ${from}`.execute(
        db,
      )
    return [...(await read('journal', since.entries)).rows, ...(await read('people_journal', since.people)).rows]
  })
  return new Set(rows.map(({ kind, key }) => address(kind as never, key)))
}

async function counts(realm: string): Promise<{ entries: number; people: number }> {
  return service.look(async (db) => {
    const { sql } = await import('kysely')
    const count = async (table: string) =>
      Number(
        (
          await sql<{
            n: number
          }>`/* test */ select count(*) as n from ${sql.table(table)} j join realm r on r.number = j.realm where r.name = ${realm}`.execute(
            db,
          )
        ).rows[0]!.n,
      )
    return { entries: await count('journal'), people: await count('people_journal') }
  })
}

test('plan + consequences = what apply did, and then there is nothing to do', async () => {
  await fc.assert(
    fc.asyncProperty(realms, realms, async (first, second) => {
      const realm = await newRealm(service)
      await applyAs(service, source([{ realm, ...tidy(first) }], realm))
      const wanted = source([{ realm, ...tidy(second) }], realm)
      const planned = await planSource(service, SYSTEM, wanted)
      const before = await counts(realm)
      const applied = await applyAs(service, wanted)
      expect(applied.realms[0]!.plan).toEqual(planned.realms[0]!.plan)
      const shown = planned.realms[0]!
      const foreseen = new Set(
        [...shown.plan.actions, ...shown.consequences].map(({ kind, key }) => address(kind as never, key)),
      )
      expect(await journaled(realm, before)).toEqual(foreseen)
      expect(await planText(service, wanted)).toContain('Nothing to do.')
      expect(
        await planText(service, {
          ...wanted,
          revision: 'again',
          documents: source([{ realm, ...tidy(second), enabled: true }], realm).documents,
        }),
      ).toContain('Nothing to do.')
    }),
    { numRuns: 25, endOnFailure: true },
  )
})

test('a change between plan and apply makes the plan void: it is made anew, and shows whose change it overwrites', async () => {
  const realm = newName()
  const state = (description: string) =>
    source([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applyAs(service, state('one'))
  let interfered = 0
  const interfering: Service = {
    ...service,
    async snapshot(caller, name, work) {
      const result = await service.snapshot(caller, name, work)
      if (interfered++ === 0) await change(service, ANN, realm, 'clientScope', ['calendar'], { description: 'theirs' })
      return result
    },
  }
  const { realms: outcomes } = await applyAs(interfering, state('two'))
  expect(interfered).toBe(2)
  expect(outcomes[0]!.plan.actions[0]!.changes).toMatchObject([
    { path: 'description', from: 'theirs', to: 'two', by: { who: 'ann' } },
  ])
})

test('an apply that is always overtaken gives up, says so and changes nothing', async () => {
  const realm = newName()
  const state = (description: string) =>
    source([{ realm, clientScopes: [{ name: 'calendar', protocol: 'openid-connect', description }] }], realm)
  await applyAs(service, state('one'))
  let rows = {}
  let count = 0
  const interfering: Service = {
    ...service,
    async snapshot(caller, name, work) {
      const result = await service.snapshot(caller, name, work)
      await change(service, ANN, realm, 'clientScope', ['calendar'], { description: `theirs ${count++}` })
      rows = await allRows(service)
      return result
    },
  }
  await expect(applyAs(interfering, state('two'))).rejects.toThrow(
    'client scope calendar has changed since the plan was made',
  )
  expect(await allRows(service)).toEqual(rows)
})
