// Synchronizations of an LDAP directory, compared with its search and one bulk insert or update of the same rows.
import { createOutbound } from '../src/lib/http/outbound.ts'
import { openLdapConnection } from '../src/lib/ldap/ldap-connection.ts'
import { components } from '../src/service/admin-api/realms/components.ts'
import { SYSTEM } from '../src/service/context/service.ts'
import { synchronizeUsers } from '../src/service/federation/synchronize.ts'
import { buildUserSearch } from '../src/service/federation/user-filters.ts'
import { listUserStores, type UserStore } from '../src/service/users/user-store.ts'
import { changeDirectory, createStore, FOLDERS, renderUser } from '../test/support/directory.ts'
import { DIRECTORY_ADMIN, startSlapd } from '../test/support/slapd.ts'
import type { Bench, Case, Statement } from './measure.ts'

/** Numbers of users that change between two synchronizations. */
const CHANGES = [10, 100, 1_000]
/** The tables that the import of a user writes. */
const TABLES = ['user_account', 'user_role', 'user_journal']

/** The cases, with the directory that they use. */
export interface DirectoryCases {
  readonly cases: readonly Case[]
  close(): Promise<void>
}

/** Starts a directory with this many users, and returns the cases. */
export async function openDirectoryCases(bench: Bench, userCount: number): Promise<DirectoryCases> {
  const names = Array.from({ length: userCount }, (_, at) => `user-${at}`)
  const directory = await startSlapd({ entries: [FOLDERS, ...names.map((name) => renderUser(name))].join('\n') })
  const openRealm = (realm: string) => openStore(bench, realm, directory.url)
  const sample = await openRealm('sample')
  await synchronizeUsers(bench.service, { store: sample, mode: 'full' })
  await synchronizeUsers(bench.service, { store: sample, mode: 'changed' })
  const rows = await readRows(bench, 'sample')
  let realms = 0
  const first: Case = {
    name: 'first synchronization of all users',
    size: userCount,
    writesPerClient: true,
    rounds: 5,
    seconds: 60,
    async operation() {
      const store = await openRealm(`synchronized-${++realms}`)
      return () => synchronizeUsers(bench.service, { store, mode: 'full' })
    },
    async baseline() {
      const store = await openRealm(`inserted-${++realms}`)
      const statements = await copyRows(bench, rows, store)
      return async () => {
        await searchAll(store)
        await bench.runStatements(statements)
      }
    },
  }
  const again: Case = {
    ...first,
    name: 'synchronization of unchanged users',
    operation: () => () => synchronizeUsers(bench.service, { store: sample, mode: 'full' }),
    baseline: () => () => searchAll(sample),
  }
  const changed = CHANGES.filter((count) => count <= userCount).map((count): Case => {
    let round = 0
    return {
      name: 'synchronization of changed users',
      size: count,
      writesPerClient: true,
      rounds: 5,
      seconds: 60,
      async operation() {
        // The times of the directory have whole seconds.
        await new Promise((resolve) => setTimeout(resolve, 1_100))
        await synchronizeUsers(bench.service, { store: sample, mode: 'changed' })
        await new Promise((resolve) => setTimeout(resolve, 1_100))
        await changeEntries(directory.url, names.slice(0, count), `Changed ${count} ${++round}`)
        return () => synchronizeUsers(bench.service, { store: sample, mode: 'changed' })
      },
      baseline: () => () =>
        bench.runStatements([
          [
            `update user_account set body = body || '{"lastName": "Other"}' where realm = (select number from realm where name = 'sample')
               and username = any($1)`,
            [names.slice(0, count)],
          ],
        ]),
    }
  })
  return { cases: [first, again, ...changed], close: () => directory.remove() }
}

/** Creates a realm with a user store for the directory. */
async function openStore({ service }: Bench, realm: string, url: string): Promise<UserStore> {
  await service.createRealm(SYSTEM, { representation: { realm, enabled: true } }, async () => {})
  const body = createStore(url, { batchSizeForSync: '5000' })
  await service.write(SYSTEM, realm, (context) => components.create(context, {}, body))
  const [store] = await service.read(SYSTEM, realm, listUserStores)
  return store!
}

async function searchAll(store: UserStore): Promise<void> {
  const connection = await openLdapConnection(createOutbound({ development: true }), store.server)
  await connection.bind(DIRECTORY_ADMIN)
  for await (const page of connection.search(buildUserSearch(store))) if (!page.length) break
  await connection.close()
}

function changeEntries(url: string, names: readonly string[], sn: string): Promise<void> {
  return changeDirectory(url, async (connection) => {
    for (const name of names) await connection.replaceAttributes(`uid=${name},ou=users,dc=example,dc=org`, { sn: [sn] })
  })
}

/** Rows of a realm as JSON, by table. */
type RealmUserRows = ReadonlyMap<string, string>

async function readRows(bench: Bench, realm: string): Promise<RealmUserRows> {
  const rows = new Map<string, string>()
  for (const table of TABLES) {
    const [result] = await bench.query<{ rows: string | null }>(
      `select jsonb_agg(to_jsonb(t))::text as rows from "${table}" t join realm r on r.number = t.realm where r.name = $1`,
      [realm],
    )
    if (result?.rows) rows.set(table, result.rows)
  }
  return rows
}

/** Returns the statements that insert the rows of the sample into another realm. */
async function copyRows(bench: Bench, rows: RealmUserRows, { realm, id }: UserStore): Promise<Statement[]> {
  const statements: Statement[] = []
  for (const [table, text] of rows) {
    const columns = await bench.query<{ name: string }>(
      `select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
      [table],
    )
    const list = columns.map(({ name }) => `"${name}"`).join()
    const references = `(select jsonb_build_object('realm', r.number) || case when x.value ? 'role'
      then jsonb_build_object('role', r.default_role) else '{}' end from realm r where r.name = '${realm}')`
    statements.push([
      `insert into "${table}" (${list}) overriding system value select ${list} from jsonb_array_elements(replace($1, $2, $3)::jsonb) x (value),
         jsonb_populate_record(null::"${table}", x.value || ${references})`,
      [text, 'no id', id],
    ])
  }
  return statements
}
