// Compares `regent apply` with keycloak-config-cli: both import the same realms, the latter into the reference server.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createRealmDocument } from './generated-realms.ts'
import { type HttpCountingProxy, type HttpTraffic, startHttpCountingProxy } from './http-counting-proxy.ts'
import { REGENT_COMMAND, startServer } from './server-process.ts'

const SIZES = [100, 1_000]
/** The user name and the password of the administrator of both servers. */
const ADMIN = 'admin'

/** The imports of a realm in their order. With its cache, keycloak-config-cli only checks that the file is unchanged. */
const STEPS: readonly (readonly [name: string, note: string, args: readonly string[]])[] = [
  ['a new realm', 'first', []],
  ['unchanged, with cache', 'first', []],
  ['unchanged', 'first', ['--import.cache.enabled=false']],
  ['one field changed', 'second', []],
]

/** The location of keycloak-config-cli and its server. */
export interface ConfigCliOptions {
  /** The URL of the reference server. */
  readonly reference: string
  /** The path of keycloak-config-cli. */
  readonly jar: string
  /** The path of the Java command. */
  readonly java: string
}

/** A tool, and the proxy through which it reaches its server. */
interface ImportTool {
  readonly proxy: HttpCountingProxy
  apply(file: string, args: readonly string[]): Promise<void>
}

/** The measurements of one import: the time of the whole command, and its requests. */
interface ToolRun extends HttpTraffic {
  readonly commandSeconds: number
}

/** Runs each step once with realms of each size and prints a line for each. Deletes the realms of the reference server. */
export async function compareWithConfigCli({ reference, jar, java }: ConfigCliOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const server = await startServer({ folder, flags: ['--source='] })
  const [configCli, regentApply] = [
    await startConfigCli(reference, jar, java),
    await startRegentApply(server.url, folder),
  ]
  console.log(`${' '.repeat(34)}keycloak-config-cli        regent apply`)
  console.log(
    formatLine('realm', 'clients', 'requests', 'seconds', 'in HTTP', 'requests', 'seconds', 'in HTTP', 'ratio'),
  )
  try {
    for (const size of SIZES) {
      const realm = `bench-${process.pid}-${size}`
      const file = join(folder, `${realm}.json`)
      try {
        for (const [name, note, args] of STEPS) {
          await writeFile(file, JSON.stringify(createRealmDocument(realm, { clientCount: size, note }), null, 2))
          const runs = [await runTool(configCli, file, args), await runTool(regentApply, file, [])] as const
          const ratio = (runs[0].commandSeconds / runs[1].commandSeconds).toFixed(1)
          console.log(formatLine(name, size.toLocaleString('en'), ...runs.flatMap(formatCells), ratio))
        }
      } finally {
        await deleteRealm(reference, realm)
      }
    }
  } finally {
    for (const { proxy } of [configCli, regentApply]) proxy.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function startConfigCli(server: string, jar: string, java: string): Promise<ImportTool> {
  const proxy = await startHttpCountingProxy(server)
  const login = [`--keycloak.user=${ADMIN}`, `--keycloak.password=${ADMIN}`]
  const flags = ['-jar', jar, `--keycloak.url=${proxy.url}`, ...login, '--keycloak.read-timeout=600s']
  return { proxy, apply: (file, args) => execute(java, [...flags, `--import.files.locations=${file}`, ...args]) }
}

async function startRegentApply(server: string, folder: string): Promise<ImportTool> {
  const proxy = await startHttpCountingProxy(server)
  const flags = ['--server', proxy.url, '--user', ADMIN, '--password', ADMIN]
  return { proxy, apply: (file) => execute(process.execPath, [REGENT_COMMAND, 'apply', file, ...flags], folder) }
}

/** Runs a command. Throws the first line of its output that contains "error", if the command fails. */
async function execute(command: string, args: readonly string[], cwd?: string): Promise<void> {
  await promisify(execFile)(command, args, { cwd, maxBuffer: Infinity }).catch(({ stdout, stderr }) => {
    throw new Error(/.*error.*/i.exec(`${stderr}${stdout}`)?.[0] ?? `${command} failed`)
  })
}

async function runTool({ proxy, apply }: ImportTool, file: string, args: readonly string[]): Promise<ToolRun> {
  const start = performance.now()
  await apply(file, args)
  return { commandSeconds: (performance.now() - start) / 1_000, ...proxy.takeTraffic() }
}

function formatCells({ requests, commandSeconds, seconds }: ToolRun): string[] {
  return [requests.toLocaleString('en'), commandSeconds.toFixed(1), seconds.toFixed(1)]
}

function formatLine(name: string, ...numbers: string[]): string {
  return name.padEnd(25) + numbers.map((text) => text.padStart(9)).join('')
}

async function deleteRealm(server: string, realm: string): Promise<void> {
  const body = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: ADMIN, password: ADMIN })
  const response = await fetch(`${server}/realms/master/protocol/openid-connect/token`, { method: 'POST', body })
  const { access_token: token } = (await response.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}` }
  await fetch(`${server}/admin/realms/${realm}`, { method: 'DELETE', headers })
}
