// Measures the start of the published build: of a server on an existing PostgreSQL database, and of commands.
import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { dump } from 'js-yaml'
import { createRealmDocument } from './generated-realms.ts'
import { quantile } from './measure.ts'
import { REGENT_COMMAND, type ServerProcess, startServer } from './server-process.ts'

/** Milliseconds after which a server is at rest. */
const REST = 10_000
/** The number of realms of the database in which start-up is measured again. */
const REALM_COUNT = 10_000
/** The number of realms that are created with one access token, which is valid for a minute. */
const REALMS_PER_TOKEN = 500
/** The number of clients, or users, of the realm that the commands plan. */
const OBJECT_COUNT = 1_000
/** The user name and the password of the administrator. */
const ADMIN = 'admin'

const run = promisify(execFile)

/** Builds the package in the folder dist, measures it with an empty PostgreSQL, and deletes the build. Works on Linux only. */
export async function measureStartUp(database: string, rounds: number): Promise<void> {
  const root = join(import.meta.dirname, '..')
  const folder = await mkdtemp(join(tmpdir(), 'regent-start-'))
  const keyFile = join(folder, 'key')
  await writeFile(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 })
  const start = () => startServer({ folder, flags: ['--source=', '--database', database, '--key-file', keyFile] })
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    await (await start()).stop()
    await measureServer('server, 1 realm', start, rounds)
    const server = await start()
    try {
      await measureCommands(server, folder, rounds)
      await createRealms(server)
    } finally {
      await server.stop()
    }
    await measureServer(`server, ${REALM_COUNT} realms`, start, rounds)
  } finally {
    await rm(folder, { recursive: true })
    await rm(join(root, 'dist'), { recursive: true })
  }
}

/** Starts the server several times. Prints the times until it is ready, and the memory then and at rest. */
async function measureServer(name: string, start: () => Promise<ServerProcess>, rounds: number): Promise<void> {
  const times: number[] = []
  const cpuTimes: number[] = []
  const memory = { ready: [] as number[], atRest: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    const server = await start()
    times.push(performance.now() - begin)
    cpuTimes.push(await readCpuTime(server.pid))
    memory.ready.push(await readMemory(server.pid))
    await setTimeout(REST)
    memory.atRest.push(await readMemory(server.pid))
    await server.stop()
  }
  printLine(name, 's until ready', times, 1_000)
  printLine(name, 's of CPU time until ready', cpuTimes, 1_000)
  printLine(name, 'MB when ready', memory.ready)
  printLine(name, `MB after ${REST / 1_000} s`, memory.atRest)
}

/** Measures commands from exec to exit, among them plans of realms in sync. */
async function measureCommands({ url }: ServerProcess, folder: string, rounds: number): Promise<void> {
  const options = { cwd: folder, maxBuffer: Number.POSITIVE_INFINITY }
  const measureCommand = async (name: string, args: readonly string[]) => {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      await run(process.execPath, [REGENT_COMMAND, ...args], options)
      times.push(performance.now() - begin)
    }
    printLine(name, 's', times, 1_000)
  }
  await measureCommand('regent --help', ['--help'])
  for (const [kind, size] of [
    ['clients', { clientCount: OBJECT_COUNT }],
    ['users', { clientCount: 10, userCount: OBJECT_COUNT }],
  ] as const) {
    const file = `${kind}.yaml`
    await writeFile(join(folder, file), dump(createRealmDocument(`many-${kind}`, size), { noRefs: true }))
    const args = [file, '--name', kind, '--server', url, '--token', await logIn(url)]
    await run(process.execPath, [REGENT_COMMAND, 'apply', ...args], options)
    await measureCommand(`regent plan, ${OBJECT_COUNT} unchanged ${kind}`, ['plan', ...args])
  }
}

async function createRealms({ url }: ServerProcess): Promise<void> {
  let token = ''
  for (let realm = 0; realm < REALM_COUNT; realm++) {
    if (realm % REALMS_PER_TOKEN === 0) token = await logIn(url)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ realm: `realm-${realm}`, enabled: true })
    const { status } = await fetch(`${url}/admin/realms`, { method: 'POST', headers, body })
    if (status !== 201) throw new Error(`creating a realm returned status ${status}`)
  }
}

/** Returns an access token. */
async function logIn(url: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username: ADMIN, password: ADMIN })
  const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body })
  const content = (await response.json()) as { readonly access_token?: string }
  if (!content.access_token) throw new Error(`the log-in returned ${response.status}: ${JSON.stringify(content)}`)
  return content.access_token
}

/** Returns the CPU time of a process in milliseconds. */
async function readCpuTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // In ticks of 10 ms: user time and system time (proc(5)).
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Returns the resident memory of a process in megabytes. */
async function readMemory(pid: number): Promise<number> {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]) / 1_000
}

function printLine(name: string, unit: string, values: readonly number[], divisor = 1): void {
  const format = (value: number) => (value / divisor).toFixed(divisor === 1 ? 0 : 2).padStart(7)
  const [median, least, most] = [quantile(values, 0.5), Math.min(...values), Math.max(...values)]
  console.log(`${name.padEnd(36)}${format(median)}${format(least)}${format(most)}  ${unit}`)
}
