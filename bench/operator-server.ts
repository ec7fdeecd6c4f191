// The server whose operator is measured, and its store.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { type ServerProcess, startServer } from './server-process.ts'

/** The server's database, with a connection that does not go through the server. */
export interface OperatorStore {
  readonly url: string
  /** Returns the number of rows written so far. Leases do not count, since they are renewed all the time. */
  countWrittenRows(): Promise<number>
  /** Waits until the client has this name, and returns the time of it, as `performance.now()`. */
  waitForClientName(realm: string, client: string, name: string): Promise<number>
  close(): Promise<void>
}

/** Creates a database on the PostgreSQL server at this URL. */
export async function createStore(adminUrl: string, name: string): Promise<OperatorStore> {
  const admin = new pg.Client(adminUrl)
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const url = Object.assign(new URL(adminUrl), { pathname: `/${name}` }).href
  const client = new pg.Client(url)
  await client.connect()
  const queryFirst = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0]
  return {
    url,
    async countWrittenRows() {
      // A session reports written rows when it is idle, at most once per second.
      await delay(1_100)
      const { sum } = await queryFirst(`select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as sum
        from pg_stat_user_tables where relname <> 'lease'`)
      return sum
    },
    async waitForClientName(realm, client, name) {
      const { number } = await queryFirst('select number from realm where name = $1', [realm])
      const text = `select 1 from client where realm = $1 and client_id = $2 and body ->> 'name' = $3`
      while (!(await queryFirst(text, [number, client, name]))) await delay(1)
      return performance.now()
    },
    close: () => client.end(),
  }
}

/** The server under measurement, in a process of its own. */
export interface OperatorServer extends ServerProcess {
  /** Waits until this many realms were found to be in sync. */
  waitForUnchangedRealms(realmCount: number): Promise<void>
  /** Returns the CPU time of the process so far, in seconds. */
  readCpuSeconds(): Promise<number>
  /** Returns the current and the peak memory of the process as text. */
  describeMemory(): Promise<string>
}

/** Starts a server with an operator for this namespace. The folder must contain a file `kubeconfig`. */
export async function startOperatorServer(
  folder: string,
  database: string,
  namespace: string,
): Promise<OperatorServer> {
  await writeFile(join(folder, 'key'), Buffer.alloc(32, 1).toString('base64'))
  const flags = ['--database', database, '--key-file', 'key', '--operator', '--operator-namespaces', namespace]
  const env = { KUBECONFIG: join(folder, 'kubeconfig'), REGENT_SOURCE: '' }
  const server = await startServer({ folder, flags, env })
  const countUnchanged = async () => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^regent_applies_total\{outcome="unchanged"\} (\d+)/m.exec(metrics)?.[1] ?? 0)
  }
  return {
    ...server,
    async waitForUnchangedRealms(realmCount) {
      while ((await countUnchanged()) < realmCount) await delay(20)
    },
    async readCpuSeconds() {
      // Fields 14 and 15: user and system time, in hundredths of a second. The name of the command may contain spaces.
      const stat = await readFile(`/proc/${server.pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return (Number(fields[11]) + Number(fields[12])) / 100
    },
    async describeMemory() {
      const status = await readFile(`/proc/${server.pid}/status`, 'utf8')
      const read = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)![1]) / 1024)
      return `memory ${read('VmRSS')} MB, peak ${read('VmHWM')} MB`
    },
  }
}
