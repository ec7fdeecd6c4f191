// A PostgreSQL server for one test run. It is removed however the run ends.
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A running server. */
export interface TestPostgres {
  /** URL of the database `postgres` for a superuser. */
  readonly url: string
  /** Stops the server, and deletes its folder. */
  stop(): Promise<void>
}

// The shell outlives this process: it stops the server and deletes the folder when its standard input closes, which the system does even
// after kill -9. The trap is needed because nobody reads its output then. It repeats the signal, because a starting server ignores it.
// The collation is linguistic, like that of most servers, so that tests fail if an order lacks COLLATE "C".
const keeper = `
binaries=$1 port=$2 folder=$PWD
trap '' PIPE
exec 3<&0
"$binaries/initdb" -D "$folder/data" --username=regent --pwfile=password --auth=scram-sha-256 --no-sync \
  --encoding=UTF8 --locale=C --locale-provider=icu --icu-locale=en-US >&2 3<&- && {
  "$binaries/postgres" -D "$folder/data" -h 127.0.0.1 -p "$port" -k "$folder" \
    -c fsync=off -c synchronous_commit=off -c full_page_writes=off 3<&- & server=$!
  (read -r _ <&3; while kill -QUIT $server; do sleep 0.1; done) 2>/dev/null & watcher=$!
  wait $server
  kill $watcher 2>/dev/null
}
cd / && rm -rf "$folder"
`

/** Starts an empty server on a free port of the loopback interface. */
export async function startPostgres(attempts = 5): Promise<TestPostgres> {
  const binaries = findBinaries()
  const user = serverUser()
  const port = await freePort()
  const password = randomBytes(16).toString('hex')
  const folder = await mkdtemp(join(tmpdir(), 'regent-pg-'))
  await writeFile(join(folder, 'password'), password, { mode: 0o600 })
  if (user) await Promise.all([folder, join(folder, 'password')].map((path) => chown(path, user.uid, user.gid)))

  // Detached: Ctrl-C in the terminal must not reach the shell, which would skip its clean-up.
  const child = spawn('sh', ['-c', keeper, 'sh', binaries, String(port)], {
    ...user,
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  })

  const stop = async () => {
    child.stdin.end()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
  let log = ''
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    log += chunk
    if (log.includes('ready to accept connections')) {
      // A server that cannot write its log waits for ever. `resume` does nothing as long as the loop reads.
      child.stderr.on('data', () => {})
      return { url: `postgres://regent:${password}@127.0.0.1:${port}/postgres`, stop }
    }
  }
  await stop()
  // Another process may have taken the port in between.
  if (log.includes('could not bind') && attempts > 1) return startPostgres(attempts - 1)
  throw new Error(`PostgreSQL did not start:\n${log}`)
}

function findBinaries(): string {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter(Boolean)
  const installed = globSync('/usr/lib/postgresql/*/bin').sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  const folder = [...onPath, ...installed].find((path) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(path, name))),
  )
  if (!folder) throw new Error('PostgreSQL was not found. Install the server (Debian: postgresql), or test on PGlite.')
  return folder
}

/** Returns the user that runs servers which refuse to run as root; undefined if the tests do not run as root. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (option: string, user: string) =>
    Number(execFileSync('id', [option, user], { stdio: ['ignore', 'pipe', 'ignore'] }))
  const idOf = (user: string) => ({ uid: id('-u', user), gid: id('-g', user) })
  try {
    return idOf('postgres')
  } catch {
    return idOf('nobody')
  }
}

/** Returns a free port of the loopback interface. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  return port
}
