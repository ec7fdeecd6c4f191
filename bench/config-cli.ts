// Measures imports of the same realms: by keycloak-config-cli into the reference server and into Regent, and by `regent apply`.
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { createRealmDocument, type RealmSize } from './generated-realms.ts'
import { type HttpCountingProxy, type HttpTraffic, startHttpCountingProxy } from './http-counting-proxy.ts'
import { quantile } from './measure.ts'
import { REGENT_COMMAND, type ServerProcess, startServer } from './server-process.ts'

/** The sizes of the realms, and how often each is measured. */
const SIZES: readonly { readonly size: RealmSize; readonly rounds: number }[] = [
  { size: { clientCount: 50, userCount: 51 }, rounds: 5 },
  { size: { clientCount: 1_000 }, rounds: 1 },
]
/** Imports of the first size by each tool before the measured ones. */
const WARM_UP_IMPORTS = 5
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
  /** The URL of an empty PostgreSQL database for Regent. Default: its embedded store. */
  readonly database?: string | undefined
}

/** A tool, and the proxy through which it reaches its server. */
interface ImportTool {
  /** The URL of its server. */
  readonly server: string
  readonly proxy: HttpCountingProxy
  /** Imports a file. `args`: the arguments of a step for keycloak-config-cli. */
  apply(file: string, args: readonly string[]): Promise<void>
}

/** The measurements of one import: the time of the whole command, and its requests. */
interface ToolRun extends HttpTraffic {
  readonly commandSeconds: number
}

/** Prints a line per size and step, with the median of each tool. */
export async function compareWithConfigCli({ reference, jar, java, database }: ConfigCliOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const server = await startRegent(folder, database)
  const tools = [
    await startConfigCli(reference, jar, java),
    await startConfigCli(server.url, jar, java),
    await startRegentApply(server.url, folder),
  ]
  const imports = { folder, tools, steps: STEPS }
  try {
    for (let number = 0; number < WARM_UP_IMPORTS; number++)
      await importRealm({ ...imports, steps: STEPS.slice(0, 1) }, SIZES[0]!.size)
    const columns = ['requests', 'seconds', 'in HTTP']
    console.log(`${' '.repeat(37)}keycloak-config-cli    keycloak-config-cli, Regent   regent apply`)
    console.log(formatLine('realm', 'clients', ...columns, ...columns, ...columns))
    for (const { size, rounds } of SIZES) {
      const measured: ToolRun[][][] = []
      for (let round = 0; round < rounds; round++) measured.push(await importRealm(imports, size))
      for (const [step, [name]] of STEPS.entries()) {
        const runs = tools.map((_, tool) => getMedian(measured.map((steps) => steps[step]![tool]!)))
        console.log(formatLine(name, size.clientCount.toLocaleString('en'), ...runs.flatMap(formatCells)))
      }
    }
  } finally {
    for (const { proxy } of tools) proxy.close()
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The tools of a comparison, and the steps that each tool runs. */
interface Imports {
  readonly folder: string
  readonly tools: readonly ImportTool[]
  readonly steps: typeof STEPS
}

/** Imports a realm of its own by each tool, step by step, and deletes the realms. Returns the runs by step and tool. */
async function importRealm({ folder, tools, steps }: Imports, size: RealmSize): Promise<ToolRun[][]> {
  const realms = tools.map(() => `bench-${randomUUID()}`)
  const measured: ToolRun[][] = []
  try {
    for (const [, note, args] of steps) {
      const runs: ToolRun[] = []
      for (const [at, tool] of tools.entries()) {
        const realm = realms[at]!
        const file = join(folder, `${realm}.json`)
        await writeFile(file, JSON.stringify(createRealmDocument(realm, { ...size, note }), null, 2))
        runs.push(await runTool(tool, file, args))
      }
      measured.push(runs)
    }
  } finally {
    for (const [at, { server }] of tools.entries()) await deleteRealm(server, realms[at]!)
  }
  return measured
}

async function startRegent(folder: string, database: string | undefined): Promise<ServerProcess> {
  if (database === undefined) return startServer({ folder, flags: ['--source='] })
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
  return startServer({
    folder,
    flags: ['--source=', '--database', database, '--key-file', keyFile],
    env: { REGENT_ADMIN_USER: ADMIN, REGENT_ADMIN_PASSWORD: ADMIN },
  })
}

async function startConfigCli(server: string, jar: string, java: string): Promise<ImportTool> {
  const proxy = await startHttpCountingProxy(server)
  const login = [`--keycloak.user=${ADMIN}`, `--keycloak.password=${ADMIN}`]
  const flags = ['-jar', jar, `--keycloak.url=${proxy.url}`, ...login, '--keycloak.read-timeout=600s']
  return {
    server,
    proxy,
    apply: (file, args) => execute(java, [...flags, `--import.files.locations=${file}`, ...args]),
  }
}

async function startRegentApply(server: string, folder: string): Promise<ImportTool> {
  const proxy = await startHttpCountingProxy(server)
  const flags = ['--server', proxy.url, '--user', ADMIN, '--password', ADMIN]
  return {
    server,
    proxy,
    apply: (file) =>
      execute(process.execPath, [REGENT_COMMAND, 'apply', file, '--name', basename(file), ...flags], folder),
  }
}

/** Runs a command. Throws the first line of its output that contains "error", if the command fails. */
async function execute(command: string, args: readonly string[], cwd?: string): Promise<void> {
  await promisify(execFile)(command, args, { cwd, maxBuffer: Infinity }).catch(({ stdout, stderr }) => {
    throw new Error(/.*error.*/i.exec(`${stderr}${stdout}`)?.[0] ?? `${command} failed: ${stderr}${stdout}`)
  })
}

async function runTool({ proxy, apply }: ImportTool, file: string, args: readonly string[]): Promise<ToolRun> {
  const start = performance.now()
  await apply(file, args)
  return { commandSeconds: (performance.now() - start) / 1_000, ...proxy.takeTraffic() }
}

/** Returns the medians of the times of several runs with the same requests. */
function getMedian(runs: readonly ToolRun[]): ToolRun {
  return {
    requests: runs[0]!.requests,
    commandSeconds: quantile(
      runs.map(({ commandSeconds }) => commandSeconds),
      0.5,
    ),
    seconds: quantile(
      runs.map(({ seconds }) => seconds),
      0.5,
    ),
  }
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
