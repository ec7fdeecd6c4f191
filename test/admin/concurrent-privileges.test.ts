// Rules that hold although the writes that they concern wait for the same lock, and may share a transaction: nobody grants what they lack, an
// administrator is left, and the journal has each change once.
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap, hasAdministrator } from '../../src/service/operations/bootstrap.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { openNewService, testService } from '../support/service.ts'

const WRITERS = 16
/** The number of repetitions. A campaign makes more. */
const ROUNDS = Number(process.env.REGENT_TURNS ?? (isFullRun ? 10 : 3))
/** Milliseconds. A campaign takes longer than other tests. */
const TIME_LIMIT = 3_600_000

const { call, create, createRealm } = await testServer()
const { service } = await testService()

const random = (most: number) => Math.floor(Math.random() * most)
const numbers = Array.from({ length: WRITERS }, (_, at) => at)

/** Returns the configuration journal of a realm, in order. */
async function readJournal(of: Service, realm: string) {
  const { rows } = await of.query((db) =>
    sql<{ number: string; kind: string; object: string; fields: Record<string, unknown> }>`/* test */
      select number, kind, object, fields from journal
      where realm = (select number from realm where name = ${realm}) order by number`.execute(db),
  )
  return rows
}

test(
  'nobody grants a role after it has become an admin role, and the journal numbers each change once',
  async () => {
    const path = await createRealm({ accessTokenLifespan: 36_000 })
    const realm = path.split('/').at(-1)!
    const weak = await createAdminToken(realm, { clientRoles: { 'realm-management': ['manage-users', 'view-users'] } })
    const [{ id: management }] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
    const realmAdmin = (await call('GET', `${path}/clients/${management}/roles/realm-admin`)).body
    const groups = await Promise.all(numbers.map((at) => create(`${path}/groups`, { name: `group-${at}` })))
    const outcomes = new Set<number>()
    for (let round = 0; round < ROUNDS; round++) {
      await create(`${path}/roles`, { name: `crew-${round}` })
      const role = (await call('GET', `${path}/roles/crew-${round}`)).body
      const composites = `${path}/roles-by-id/${role.id}/composites`
      let grantsUntilElevation = 1 + random(WRITERS)
      const mayElevate = Promise.withResolvers<void>()
      const grants = groups.map(async (group) => {
        await sleep(random(50))
        const { status } = await call('POST', `${group}/role-mappings/realm`, { body: [role], token: weak })
        outcomes.add(status)
        if (--grantsUntilElevation === 0) mayElevate.resolve()
      })
      const elevation = mayElevate.promise.then(() => call('POST', composites, { body: [realmAdmin] }))
      await Promise.all([...grants, elevation])
      expect((await elevation).status).toBe(204)
      const entries = await readJournal(service, realm)
      const elevatedAt = entries.findIndex(({ object, fields }) => object === role.id && 'composites' in fields)
      const later = entries.slice(elevatedAt + 1).filter(({ kind }) => kind === 'group')
      expect(elevatedAt).toBeGreaterThan(0)
      expect(later).toEqual([])
    }
    expect([...outcomes].filter((status) => status !== 204 && status !== 403)).toEqual([])
    expect(outcomes).toContain(204)
    const entries = await readJournal(service, realm)
    const first = Number(entries[0]!.number)
    expect(entries.map(({ number }) => Number(number))).toEqual(entries.map((_, at) => first + at))
  },
  TIME_LIMIT,
)

test(
  'of administrators who are removed at the same time, in any way, one is left',
  async () => {
    const separateService = await openNewService()
    await bootstrap(separateService, { user: 'admin', password: 'admin' })
    const app = await createServer(separateService, { caller: SYSTEM })
    const request = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
      const response = await app.inject({ method, url: `/admin/realms/master/${path}`, ...(body && { payload: body }) })
      return { status: response.statusCode, body: response.body && response.json() }
    }
    const { body: role } = await request('GET', 'roles/admin')
    const outcomes = new Set<number>()
    for (let round = 0; round < ROUNDS; round++) {
      for (const at of numbers) {
        const credentials = [{ type: 'password', value: 'pw' }]
        await request('POST', 'users', { username: `admin-${round}-${at}`, enabled: true, credentials })
      }
      const { body: users } = await request('GET', 'users?max=100')
      for (const { id } of users) await request('POST', `users/${id}/role-mappings/realm`, [role])
      expect(await hasAdministrator(separateService)).toBe(true)
      const removals = users.map(async ({ id }: { id: string }) => {
        await sleep(random(20))
        const ways = [
          () => request('DELETE', `users/${id}`),
          () => request('PUT', `users/${id}`, { enabled: false }),
          () => request('DELETE', `users/${id}/role-mappings/realm`, [role]),
          async () => {
            const { body } = await request('GET', `users/${id}/credentials`)
            return request('DELETE', `users/${id}/credentials/${body[0]?.id}`)
          },
        ]
        outcomes.add((await ways[random(ways.length)]!()).status)
      })
      await Promise.all(removals)
      expect(await hasAdministrator(separateService)).toBe(true)
    }
    expect([...outcomes].filter((status) => ![204, 400, 404].includes(status))).toEqual([])
    expect(outcomes).toContain(400)
    await app.close()
    await separateService.close()
  },
  TIME_LIMIT,
)
