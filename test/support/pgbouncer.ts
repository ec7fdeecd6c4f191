// PgBouncer in transaction mode: a connection pooler that gives each transaction any of a few connections.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort, serverUser } from './postgres.ts'

/** The connections of the pooler to the database. */
const POOL_SIZE = 3

/** A running pooler. */
export interface Pooler {
  /** URL of the database through the pooler. */
  readonly url: string
  stop(): Promise<void>
}

const env = { ...process.env, PATH: [process.env.PATH, '/usr/sbin'].join(delimiter) }

/** Whether PgBouncer is installed. */
export const hasPgBouncer = (() => {
  try {
    execFileSync('pgbouncer', ['--version'], { env, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

/** Starts a pooler for the database at the URL. */
export async function startPgBouncer(databaseUrl: string): Promise<Pooler> {
  const { hostname, port: databasePort, username, password, pathname } = new URL(databaseUrl)
  const folder = await mkdtemp(join(tmpdir(), 'regent-pgbouncer-'))
  const port = await freePort()
  const settings = `
[databases]
* = host=${hostname} port=${databasePort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${POOL_SIZE}
`
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(file, settings, { mode: 0o600 })
  // PgBouncer refuses to run as root.
  const user = serverUser()
  if (user) await Promise.all([folder, file].map((path) => chown(path, user.uid, user.gid)))
  const child = spawn('pgbouncer', [file], { ...user, env, stdio: ['ignore', 'ignore', 'pipe'] })
  const stop = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
  let log = ''
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    log += chunk
    if (!log.includes('process up')) continue
    child.stderr.on('data', () => {})
    return { url: `postgres://${username}@127.0.0.1:${port}${pathname}`, stop }
  }
  await stop()
  throw new Error(`PgBouncer did not start:\n${log}`)
}
