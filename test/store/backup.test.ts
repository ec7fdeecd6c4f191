// A backup has every row of the store, and can be restored on either engine.
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
import { findLastMigration } from '../../src/store/database/backup.ts'
import { LAST_MIGRATION } from '../../src/store/database/migrate.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { dumpRows } from '../support/database-rows.ts'
import { createFilledRealm } from '../support/filled-realm.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { newDatabase, newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()
const key = new Uint8Array(32)

const folder = await mkdtemp(join(tmpdir(), 'regent-test-'))
const newFolder = (): StoreLocation => ({ folder: join(folder, randomUUID()) })
/** Returns the location of an empty store of the engine under test. */
const newLocation = async (): Promise<StoreLocation> => (inject('databaseUrl') ? newDatabase() : newFolder())
afterAll(() => rm(folder, { recursive: true, force: true }))

async function createBackupBytes(from: Service): Promise<Buffer> {
  const spooled = await createBackup(from, SYSTEM)
  return buffer(spooled.read()).finally(spooled.close)
}

/** Returns a backup of a store with the master realm only. The store of the worker has the realms of all earlier tests. */
async function createSmallBackup(): Promise<Buffer> {
  const small = await openService({ location: await newDatabase(), key })
  await small.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  return createBackupBytes(small).finally(() => small.close())
}

async function restoreService(bytes: Buffer, location: StoreLocation): Promise<Service> {
  await restoreBackup({ location, key }, () => Readable.from([bytes]))
  return openService({ location, key })
}

/** Returns all rows and foreign keys. Transaction ids, which belong to their database, are removed. */
async function readStore(service: Service) {
  const rows = await dumpRows(service)
  const keys = await service.query((db) =>
    sql<{ key: string }>`
      select conrelid::regclass || ' ' || pg_get_constraintdef(oid) as key from pg_constraint
      where contype = 'f' and convalidated`.execute(db),
  )
  const userJournal = rows.user_journal?.map((row) => row.replace(/^(\(\d+,\d+,)\d+,/, '$1'))
  const all = { ...rows, user_journal: userJournal, keys: keys.rows.map(({ key }) => key) }
  // The engines sort texts differently.
  return Object.fromEntries(Object.entries(all).map(([table, rows]) => [table, rows?.sort()]))
}

test('a backup restored on the other engine, and back, has every row, and sessions and plans continue', async () => {
  const document = { realm: newName(), clients: [{ clientId: 'web' }], users: [{ username: 'ann', enabled: true }] }
  await createFilledRealm('thing')
  await applySource(service, createSource([document], document.realm))
  const path = await server.createRealm({ accessTokenLifespan: 3600 })
  const realm = path.split('/').at(-1)!
  const bob = {
    username: 'bob',
    enabled: true,
    email: 'bob@example.org',
    firstName: 'B',
    lastName: 'B',
    credentials: [{ type: 'password', value: 'secret of bob' }],
  }
  await server.create(`${path}/users`, bob)
  const logIn = async (app: typeof server.app, form: Record<string, string>) => {
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url: `/realms/${realm}/protocol/openid-connect/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ client_id: 'admin-cli', ...form }).toString(),
    })
    return { status: statusCode, refresh: JSON.parse(body).refresh_token as string }
  }
  const password = { grant_type: 'password', username: 'bob', password: bob.credentials[0]!.value }
  const { refresh } = await logIn(server.app, password)
  // Numbers of deleted realms are not used again, since rows such as journal entries refer to them.
  await server.call('DELETE', await server.createRealm())

  const before = await readStore(service)
  const other = await restoreService(await createBackupBytes(service), newFolder())
  expect(await readStore(other)).toEqual(before)
  expect(before.keys!.length).toBeGreaterThan(50)

  const back = await restoreService(await createBackupBytes(other), await newLocation())
  await other.close()
  expect(await readStore(back)).toEqual(before)

  const { realms } = await applySource(back, createSource([document], document.realm))
  expect(realms).toMatchObject([{ plan: { actions: [] } }])
  expect(await readStore(back)).toEqual(before)
  const app = await createServer(back)
  expect((await logIn(app, { grant_type: 'refresh_token', refresh_token: refresh })).status).toBe(200)
  expect((await logIn(app, password)).status).toBe(200)
  const numbers = (await service.listRealms()).map(({ number }) => number)
  await back.createRealm(SYSTEM, { representation: { realm: 'new-one' } }, async () => {})
  const [created] = await back.findRealms(['new-one'])
  expect(created!.number).toBeGreaterThan(Math.max(...numbers) + 1)
  await app.close()
  await back.close()
})

test('a backup requires permissions for every realm', async () => {
  const { name } = await createAdminRealm({})
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'pw' }
  const { body } = await server.call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  expect((await server.call('GET', '/regent/v1/backup', { token: body.access_token })).status).toBe(403)
  const response = await server.app.inject({
    url: '/regent/v1/backup',
    headers: { authorization: `Bearer ${await server.adminToken()}` },
  })
  expect(response.headers['content-type']).toBe('application/gzip')
  expect(await readBackup(Readable.from([response.rawPayload]))).toMatchObject({ level: LAST_MIGRATION })
})

test('a truncated or damaged backup is refused before a store is created', async () => {
  const complete = await createSmallBackup()
  const at = (share: number) => Math.floor(complete.length * share)
  const cut = [0, 0.01, 0.5, 0.99].map((share) => complete.subarray(0, at(share)))
  const damaged = [0.001, 0.1, 0.5, 0.9, 0.999].map((share) => {
    const bytes = Buffer.from(complete)
    bytes[at(share)]! ^= 0x10
    return bytes
  })
  // Damage that gzip cannot detect: a changed row, a missing row, a missing end.
  const lines = gunzipSync(complete).toString().split('\n')
  const letter = /[a-z](?="[,}])/
  const row = lines.findIndex((line, index) => index >= lines.length / 2 && letter.test(line))
  const changed = [lines.with(row, lines[row]!.replace(letter, 'X')), lines.toSpliced(row, 1), lines.slice(0, -2)].map(
    (all) => gzipSync(all.join('\n')),
  )
  const location = newFolder()
  for (const bytes of [...cut, ...damaged, ...changed])
    await expect(restoreBackup({ location, key }, () => Readable.from([bytes]))).rejects.toThrow(BrokenBackupError)
  expect(existsSync(location.folder!)).toBe(false)
})

test('a backup with an unknown table is refused', async () => {
  const header = { level: LAST_MIGRATION, key: openVault(key).keyId }
  const bytes = createBackupFile({ ...header, tables: [{ name: 'wishes', rows: 1 }] }, [{ wish: 'more' }])
  const restoring = restoreBackup({ location: await newLocation(), key }, () => Readable.from([bytes]))
  await expect(restoring).rejects.toThrow(BrokenBackupError)
  await expect(restoring).rejects.toThrow('it has the table wishes, which stores of Regent 0.0.1 do not have')
})

test('a store with content, another key, and a backup of another version are refused', async () => {
  const complete = await createSmallBackup()
  const location = await newLocation()
  const existing = await openService({ location, key })
  await existing.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  const before = await readStore(existing)
  // Only one process can open an embedded store.
  if (location.folder) await existing.close()
  const restoring = (bytes: Buffer, key: Uint8Array) => restoreBackup({ location, key }, () => Readable.from([bytes]))
  await expect(restoring(complete, key)).rejects.toThrow(
    'The store contains 1 realms. Restore the backup into an empty store.',
  )
  await expect(restoring(complete, new Uint8Array(32).fill(1))).rejects.toThrow(/protected by the key .*--key-file/)
  // The second one is from before tables and columns were renamed.
  for (const level of ['9999-later', '0010-operations'])
    await expect(restoring(createBackupFile({ level }), key)).rejects.toThrow(
      `has the migration ${level} of Regent 0.0.1, which this version does not have. Restore it with the version that created it.`,
    )
  const after = location.folder ? await openService({ location, key }) : existing
  expect(await readStore(after)).toEqual(before)
  await after.close()
})

/** Returns a backup file with the header fields and rows. */
function createBackupFile(more: object, rows: readonly object[] = []): Buffer {
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

test.runIf(isFullRun)('a backup of an earlier version is restored with its migrations, and then migrated', async () => {
  const backup = createBackupFile(
    {
      key: (await readBackup(Readable.from([await createBackupBytes(service)]))).key,
      level: '0004-groups',
      tables: [{ name: 'realm', rows: 1 }],
      sequences: [{ table: 'realm', column: 'number', value: 7 }],
    },
    [{ number: 7, id: 'an-id', name: 'old', version: 1, body: { enabled: true } }],
  )
  const location = await newLocation()
  const old = await restoreService(backup, location)
  const { rows } = await old.query((db) => sql`select name, body from realm where number = 7`.execute(db))
  expect(rows).toEqual([{ name: 'old', body: { enabled: true } }])
  expect(await old.query(findLastMigration)).toBe(LAST_MIGRATION)
  await old.close()

  await expect(restoreBackup({ location, key }, () => Readable.from([backup]))).rejects.toThrow(
    /The store has the migration \d{4}-[a-z-]+ already, and 0004-groups must be its last/,
  )
})
