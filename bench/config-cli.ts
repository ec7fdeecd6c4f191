// The same realms through keycloak-config-cli into the reference server, and through `regent apply` into Regent.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Asked, type Counting, counting } from './counting.ts'
import { realmOf } from './data.ts'
import { COMMAND, serve } from './serve.ts'

const SIZES = [100, 1_000]
/** The administrator of either server, and their password. */
const ADMIN = 'admin'

/** What is done with a realm, in this order: by its cache, keycloak-config-cli tells only that the file is the same. */
const STEPS: readonly (readonly [name: string, note: string, args: readonly string[]])[] = [
  ['a new realm', 'first', []],
  ['unchanged, by its cache', 'first', []],
  ['unchanged', 'first', ['--import.cache.enabled=false']],
  ['one field changed', 'second', []],
]

/** Where the other tool and its server are. */
export interface ConfigCli {
  readonly reference: string
  readonly jar: string
  readonly java: string
}

/** A tool, and what counts its requests on their way to its server. */
interface Tool {
  readonly way: Counting
  apply(file: string, args: readonly string[]): Promise<void>
}

/** What one run took: the whole command in seconds, and what its server saw of it. */
interface Run extends Asked {
  readonly command: number
}

/** Does each step once with realms of each size, and prints a line for each. The reference server keeps none of them. */
export async function besideConfigCli({ reference, jar, java }: ConfigCli): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const server = await serve(folder, ['--source='], {}, 'ready at')
  const [theirs, ours] = [await configCli(reference, jar, java), await regent(server.url, folder)]
  console.log(`${' '.repeat(34)}keycloak-config-cli        regent apply`)
  console.log(line('realm', 'clients', 'requests', 'seconds', 'asking', 'requests', 'seconds', 'asking', 'ratio'))
  try {
    for (const size of SIZES) {
      const realm = `bench-${process.pid}-${size}`
      const file = join(folder, `${realm}.json`)
      try {
        for (const [name, note, args] of STEPS) {
          await writeFile(file, JSON.stringify(realmOf(realm, size, note), null, 2))
          const runs = [await timed(theirs, file, args), await timed(ours, file, [])] as const
          const ratio = (runs[0].command / runs[1].command).toFixed(1)
          console.log(line(name, size.toLocaleString('en'), ...runs.flatMap(cells), ratio))
        }
      } finally {
        await remove(reference, realm)
      }
    }
  } finally {
    for (const { way } of [theirs, ours]) way.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function configCli(server: string, jar: string, java: string): Promise<Tool> {
  const way = await counting(server)
  const reaching = [`--keycloak.user=${ADMIN}`, `--keycloak.password=${ADMIN}`, '--keycloak.read-timeout=600s']
  const own = ['-jar', jar, `--keycloak.url=${way.url}`, ...reaching]
  return { way, apply: (file, args) => execute(java, [...own, `--import.files.locations=${file}`, ...args]) }
}

async function regent(server: string, folder: string): Promise<Tool> {
  const way = await counting(server)
  const own = ['--server', way.url, '--user', ADMIN, '--password', ADMIN]
  return { way, apply: (file) => execute(process.execPath, [COMMAND, 'apply', file, ...own], folder) }
}

/** Runs a command. Throws the first error that it tells of. */
async function execute(command: string, args: readonly string[], cwd?: string): Promise<void> {
  await promisify(execFile)(command, args, { cwd, maxBuffer: Infinity }).catch(({ stdout, stderr }) => {
    throw new Error(/.*error.*/i.exec(`${stderr}${stdout}`)?.[0] ?? `${command} failed`)
  })
}

async function timed({ way, apply }: Tool, file: string, args: readonly string[]): Promise<Run> {
  const start = performance.now()
  await apply(file, args)
  return { command: (performance.now() - start) / 1_000, ...way.look() }
}

function cells({ requests, command, seconds }: Run): string[] {
  return [requests.toLocaleString('en'), command.toFixed(1), seconds.toFixed(1)]
}

function line(name: string, ...numbers: string[]): string {
  return name.padEnd(25) + numbers.map((text) => text.padStart(9)).join('')
}

async function remove(server: string, realm: string): Promise<void> {
  const body = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: ADMIN, password: ADMIN })
  const granted = await fetch(`${server}/realms/master/protocol/openid-connect/token`, { method: 'POST', body })
  const { access_token: token } = (await granted.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  await fetch(`${server}/admin/realms/${realm}`, { method: 'DELETE', headers })
}
