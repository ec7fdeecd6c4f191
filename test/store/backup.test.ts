// A back-up is every row of a store: restored on either engine, it goes on as if nothing had been.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import type { StoreLocation } from '../../src/service/context/store-types.ts'
import { openVault } from '../../src/service/context/vault.ts'
import { BrokenBackupError, createBackup, readBackup } from '../../src/service/operations/backup.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { restoreBackup } from '../../src/service/operations/restore.ts'
import { LAST_MIGRATION } from '../../src/store/database/migrate.ts'
import { findLastMigration } from '../../src/store/database/backup.ts'
import { createFilledRealm } from '../support/addresses.ts'
import { isFullRun } from '../support/campaign.ts'
import { createAdminRealm } from '../support/realm-with-boss.ts'
import { applySource, createSource } from '../support/reconcile.ts'
import { dumpRows } from '../support/rows.ts'
import { testServer } from '../support/server.ts'
import { newDatabase, newName, testService } from '../support/service.ts'

const { service } = await testService()
const server = await testServer()
const key = new Uint8Array(32)

const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
const embedded = (): StoreLocation => ({ folder: join(folder, randomUUID()) })
/** An empty place on the engine under test. */
const tested = async (): Promise<StoreLocation> => (inject('databaseUrl') ? newDatabase() : embedded())
afterAll(() => rm(folder, { recursive: true, force: true }))

async function bytesOf(from: Service): Promise<Buffer> {
  const spooled = await createBackup(from, SYSTEM)
  return buffer(spooled.read()).finally(spooled.close)
}

async function restored(bytes: Buffer, location: StoreLocation): Promise<Service> {
  await restoreBackup({ location, key }, () => Readable.from([bytes]))
  return openService({ location, key })
}

/** All rows, and the foreign keys. Ids of transactions are of the database where they were given. */
async function allOf(service: Service) {
  const rows = await dumpRows(service)
  const keys = await service.query((db) =>
    sql<{ key: string }>`
      select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as key from pg_constraint
      where contype = 'f' and convalidated`.execute(db),
  )
  const people = rows.user_journal?.map((row) => row.replace(/^(\(\d+,\d+,)\d+,/, '$1'))
  const all = { ...rows, user_journal: people, keys: keys.rows.map(({ key }) => key) }
  // Each database sorts texts in its own way.
  return Object.fromEntries(Object.entries(all).map(([table, rows]) => [table, rows?.sort()]))
}

test('a back-up that is restored on the other engine, and back, is every row, and everybody goes on with it', async () => {
  const document = { realm: newName(), clients: [{ clientId: 'web' }], users: [{ username: 'ann', enabled: true }] }
  await createFilledRealm('thing')
  await applySource(service, createSource([document], document.realm))
  const path = await server.realm({ accessTokenLifespan: 3600 })
  const realm = path.split('/').at(-1)!
  const person = {
    username: 'bob',
    enabled: true,
    email: 'bob@example.org',
    firstName: 'B',
    lastName: 'B',
    credentials: [{ type: 'password', value: 'secret of bob' }],
  }
  await server.make(`${path}/users`, person)
  const logIn = async (app: typeof server.app, form: Record<string, string>) => {
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: `/realms/${realm}/protocol/openid-connect/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ client_id: 'admin-cli', ...form }).toString(),
    })
    return { status: statusCode, refresh: JSON.parse(body).refresh_token as string }
  }
  const password = { grant_type: 'password', username: 'bob', password: person.credentials[0]!.value }
  const { refresh } = await logIn(server.app, password)
  // Numbers go on behind those that nobody has any more: what is left of a realm that was deleted stays of it.
  await server.call('DELETE', await server.realm())

  const before = await allOf(service)
  const other = await restored(await bytesOf(service), embedded())
  expect(await allOf(other)).toEqual(before)
  expect(before.keys!.length).toBeGreaterThan(50)

  const back = await restored(await bytesOf(other), await tested())
  await other.close()
  expect(await allOf(back)).toEqual(before)

  const { realms } = await applySource(back, createSource([document], document.realm))
  expect(realms).toMatchObject([{ plan: { actions: [] } }])
  expect(await allOf(back)).toEqual(before)
  const app = await createServer(back)
  expect((await logIn(app, { grant_type: 'refresh_token', refresh_token: refresh })).status).toBe(200)
  expect((await logIn(app, password)).status).toBe(200)
  const numbers = (await service.listRealms()).map(({ number }) => number)
  await back.createRealm(SYSTEM, { representation: { realm: 'new-one' } }, async () => {})
  const [made] = await back.findRealms(['new-one'])
  expect(made!.number).toBeGreaterThan(Math.max(...numbers) + 1)
  await app.close()
  await back.close()
})

test('only who administers every realm may have a back-up', async () => {
  const { name } = await createAdminRealm({})
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'boss', password: 'pw' }
  const { body } = await server.call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  expect((await server.call('GET', '/regent/v1/backup', { token: body.access_token })).status).toBe(403)
  const answer = await server.app.inject({
    url: '/regent/v1/backup',
    headers: { authorization: `Bearer ${await server.adminToken()}` },
  })
  expect(answer.headers['content-type']).toBe('application/gzip')
  expect(await readBackup(Readable.from([answer.rawPayload]))).toMatchObject({ level: LAST_MIGRATION })
})

test('what is cut or damaged anywhere is refused, and leaves nothing behind', async () => {
  const whole = await bytesOf(service)
  const at = (share: number) => Math.floor(whole.length * share)
  const cut = [0, 0.01, 0.5, 0.99].map((share) => whole.subarray(0, at(share)))
  const damaged = [0.001, 0.1, 0.5, 0.9, 0.999].map((share) => {
    const bytes = Buffer.from(whole)
    bytes[at(share)]! ^= 0x10
    return bytes
  })
  // What gzip cannot know: a row that says something else, and one that is missing.
  const lines = gunzipSync(whole).toString().split('\n')
  const letter = /[a-z](?="[,}])/
  const row = lines.findIndex((line, index) => index >= lines.length / 2 && letter.test(line))
  const changed = [lines.with(row, lines[row]!.replace(letter, 'X')), lines.toSpliced(row, 1), lines.slice(0, -2)].map(
    (all) => gzipSync(all.join('\n')),
  )
  const location = embedded()
  for (const bytes of [...cut, ...damaged, ...changed])
    await expect(restoreBackup({ location, key }, () => Readable.from([bytes]))).rejects.toThrow(BrokenBackupError)
  expect(existsSync(location.folder!)).toBe(false)
})

test('a table that nobody knows is said to be wrong with the file, and nothing is kept of it', async () => {
  const known = { level: LAST_MIGRATION, key: openVault(key).keyId }
  const bytes = written({ ...known, tables: [{ name: 'wishes', rows: 1 }] }, [{ wish: 'more' }])
  const restoring = restoreBackup({ location: await tested(), key }, () => Readable.from([bytes]))
  await expect(restoring).rejects.toThrow(BrokenBackupError)
  await expect(restoring).rejects.toThrow('it names the table wishes, which the store of Regent 0.0.1 does not have')
})

test('a store that holds something, another key, and what a later version has made are refused', async () => {
  const whole = await bytesOf(service)
  const location = await tested()
  const own = await openService({ location, key })
  await own.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  const before = await allOf(own)
  // An embedded store has one process, which is this one.
  if (location.folder) await own.close()
  const trying = (bytes: Buffer, key: Uint8Array) => restoreBackup({ location, key }, () => Readable.from([bytes]))
  await expect(trying(whole, key)).rejects.toThrow('the store holds 1 realms: a back-up is restored only into one')
  await expect(trying(whole, new Uint8Array(32).fill(1))).rejects.toThrow(/protected by the key .*--key-file/)
  await expect(trying(written({ level: '9999-later' }), key)).rejects.toThrow(
    'a store with the migration 9999-later, which this version does not have. Restore it with the version that made it.',
  )
  const after = location.folder ? await openService({ location, key }) : own
  expect(await allOf(after)).toEqual(before)
  await after.close()
})

/** A back-up by hand. */
function written(more: object, rows: readonly object[] = []): Buffer {
  const header = {
    format: 'regent-backup',
    form: 1,
    regent: '0.0.1',
    at: '2026-01-01T00:00:00Z',
    key: service.vault.keyId,
    tables: [],
    sequences: [],
    ...more,
  }
  const text = [header, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('')
  return gzipSync(`${text}${JSON.stringify({ sha256: createHash('sha256').update(text).digest('hex') })}\n`)
}

test.runIf(isFullRun)(
  'a back-up of an earlier version is restored as it was, and brought up to date like its store',
  async () => {
    const whole = written(
      {
        key: (await readBackup(Readable.from([await bytesOf(service)]))).key,
        level: '0004-groups',
        tables: [{ name: 'realm', rows: 1 }],
        sequences: [{ table: 'realm', column: 'number', value: 7 }],
      },
      [{ number: 7, id: 'an-id', name: 'old', version: 1, body: { enabled: true } }],
    )
    const location = await tested()
    const old = await restored(whole, location)
    const { rows } = await old.query((db) => sql`select name, body from realm where number = 7`.execute(db))
    expect(rows).toEqual([{ name: 'old', body: { enabled: true } }])
    expect(await old.query(findLastMigration)).toBe(LAST_MIGRATION)
    await old.close()

    await expect(restoreBackup({ location, key }, () => Readable.from([whole]))).rejects.toThrow(
      /The store has the migration \d{4}-[a-z-]+ already, and 0004-groups must be its last/,
    )
  },
)
