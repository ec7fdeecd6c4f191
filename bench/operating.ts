// The server whose operator is measured, in a process of its own, and its store.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import pg from 'pg'

/** The store, asked past the server. */
export interface Store {
  readonly url: string
  /** Rows written so far; leases are renewed all the time. */
  written(): Promise<number>
  /** Resolves with the time when the client has that name. */
  live(realm: string, client: string, name: string): Promise<number>
  close(): Promise<void>
}

/** A new one. */
export async function newStore(admin: string, name: string): Promise<Store> {
  const first = new pg.Client(admin)
  await first.connect()
  await first.query(`create database ${name}`)
  await first.end()
  const url = Object.assign(new URL(admin), { pathname: `/${name}` }).href
  const client = new pg.Client(url)
  await client.connect()
  const one = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0]
  return {
    url,
    async written() {
      // A session tells of what it wrote when it is idle, at most once a second.
      await after(1_100)
      const { sum } = await one(`select sum(n_tup_ins + n_tup_upd + n_tup_del)::int as sum
        from pg_stat_user_tables where relname <> 'lease'`)
      return sum
    },
    async live(realm, client, name) {
      const { number } = await one('select number from realm where name = $1', [realm])
      const text = `select 1 from client where realm = $1 and client_id = $2 and body ->> 'name' = $3`
      while (!(await one(text, [number, client, name]))) await after(1)
      return performance.now()
    },
    close: () => client.end(),
  }
}

/** The server under measurement, in a process of its own. */
export interface Server {
  /** Waits until so many realms were looked at and found in sync. */
  unchanged(realms: number): Promise<void>
  /** The most that it has had so far. */
  memory(): Promise<string>
  stop(): Promise<void>
}

/** Starts it; it counts what is in the namespace only. */
export async function serve(folder: string, database: string, namespace: string): Promise<Server> {
  const command = join(import.meta.dirname, '..', 'bin', 'regent.js')
  await writeFile(join(folder, 'key'), Buffer.alloc(32, 1).toString('base64'))
  const flags = ['--port', '0', '--database', database, '--key-file', 'key', '--operator']
  flags.push('--operator-namespaces', namespace)
  const child = spawn(process.execPath, [command, 'serve', ...flags], {
    cwd: folder,
    env: { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), REGENT_SOURCE: '', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  const over = once(child, 'exit')
  while (!/ready at \S+/.test(output)) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
    await Promise.race([once(child.stdout, 'data'), over])
  }
  const [, url] = /ready at (\S+)/.exec(output)!
  return {
    async unchanged(realms) {
      const count = async () => {
        const metrics = await (await fetch(`${url}/metrics`)).text()
        return Number(/^regent_applies_total\{outcome="unchanged"\} (\d+)/m.exec(metrics)?.[1] ?? 0)
      }
      while ((await count()) < realms) await after(20)
    },
    async memory() {
      const peak = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))![1]
      return `memory at most ${Math.round(Number(peak) / 1024)} MB`
    },
    async stop() {
      if (child.exitCode === null) child.kill('SIGINT')
      await over
    },
  }
}
