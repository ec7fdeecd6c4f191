// Measures the time from a webhook to the applied commit, over HTTP and SSH, compared with a plain fetch of the same commits, on PostgreSQL.
import { execFile } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createRepository, hasGit, hasSshd, startGitServer, startSshServer } from '../test/support/git.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { createRealmDocument } from './generated-realms.ts'
import { quantile } from './measure.ts'
import { startServer } from './server-process.ts'

const WEBHOOK_SECRET = 'webhook-secret'
/** The limit in milliseconds for the difference between the medians of Regent and Git. */
const LIMIT = 60
/** Numbers of clients of the realm. Each client has a file of its own. */
const SIZES = [0, 1_000]

/** A repository that is served over the network. */
interface Remote {
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  close(): unknown
}

/** Measures this many pushes by each protocol for which a server is installed. Returns whether all are within the limit. */
export async function measurePushes(count: number): Promise<boolean> {
  if (!hasGit) throw new Error('Git with git http-backend is not installed')
  if (!hasSshd) console.log('sshd is not installed, so Git over SSH is not measured.')
  const protocols = hasSshd ? (['http', 'ssh'] as const) : (['http'] as const)
  let isWithinLimit = true
  for (const protocol of protocols)
    for (const clientCount of SIZES) {
      const { committed, fetched } = await measureProtocol(protocol, { count, clientCount })
      const [regent, git] = [quantile(committed, 0.5), quantile(fetched, 0.5)]
      const [slowRegent, slowGit] = [committed, fetched].map((times) => quantile(times, 0.95).toFixed(0))
      console.log(
        `${protocol}, ${clientCount} files with a client: ${count} pushes, webhook to applied commit ${regent.toFixed(0)} ms, 95th percentile ${slowRegent} ms; git fetch ${git.toFixed(0)} ms and ${slowGit} ms: difference ${(regent - git).toFixed(0)} ms, limit ${LIMIT} ms`,
      )
      isWithinLimit &&= regent - git <= LIMIT
    }
  return isWithinLimit
}

/** Returns the files of a realm: one for its settings, and one for each client. */
function createFiles(clientCount: number): Record<string, string> {
  const { clients, ...realm } = createRealmDocument('acme', { clientCount }) as { readonly clients: readonly object[] }
  return {
    'acme.json': JSON.stringify(realm),
    ...Object.fromEntries(
      clients.map((client, at) => [`client-${at}.json`, JSON.stringify({ realm: 'acme', clients: [client] })]),
    ),
  }
}

async function measureProtocol(
  protocol: 'http' | 'ssh',
  { count, clientCount }: { readonly count: number; readonly clientCount: number },
): Promise<{ committed: number[]; fetched: number[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const repository = await createRepository(folder)
  const remote = await startRemote(protocol, folder, repository.url.replace('file://', ''))
  const push = (name: string) => repository.push({ 'name.yaml': `realm: acme\ndisplayNameHtml: ${name}\n` })
  await repository.push(createFiles(clientCount))
  await push('Push 0')
  await writeFile(join(folder, 'secret'), WEBHOOK_SECRET)
  await writeFile(join(folder, 'key'), randomBytes(32).toString('base64'), { mode: 0o600 })
  const database = await startPostgres()
  const store = ['--database', database.url, '--key-file', 'key']
  const flags = [...store, '--source-interval', '3600', '--source-webhook-secret-file', 'secret']
  const server = await startServer({
    folder,
    flags,
    env: { ...remote.env, REGENT_SOURCE: remote.url },
    until: 'Watching',
  })
  const env = { ...process.env, ...remote.env, GIT_CONFIG_GLOBAL: '/dev/null' }
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', folder, '--git-dir=bare.git', ...args], { env })
  await git('init', '--quiet', '--bare', 'bare.git')
  // A detached garbage collection would change the repository during the next fetch.
  await git('config', 'gc.autoDetach', 'false')
  const times = { committed: [] as number[], fetched: [] as number[] }
  try {
    for (let number = 1; number <= count; number++) {
      await push(`Push ${number}`)
      const notified = performance.now()
      await sendWebhook(server.url, remote.url)
      await server.waitForOutput(`→ Push ${number}\n`)
      times.committed.push(performance.now() - notified)
      const fetching = performance.now()
      await git('fetch', '--quiet', '--depth=1', remote.url, 'main')
      times.fetched.push(performance.now() - fetching)
    }
  } finally {
    await server.stop()
    await database.stop()
    await remote.close()
    await rm(folder, { recursive: true, force: true })
  }
  return times
}

async function startRemote(protocol: 'http' | 'ssh', folder: string, path: string): Promise<Remote> {
  if (protocol === 'http') {
    const { host, close } = await startGitServer(folder, 'ci', 'token')
    return { url: `http://ci:token@${host}/realms.git`, env: {}, close }
  }
  const ssh = await startSshServer(folder)
  await ssh.trustHost()
  return { url: `ssh://${ssh.host}${path}`, env: { GIT_SSH_COMMAND: ssh.command }, close: ssh.close }
}

/** Sends the webhook with which GitHub reports a push. */
async function sendWebhook(server: string, repository: string): Promise<void> {
  const body = JSON.stringify({ repository: { clone_url: repository } })
  const signature = `sha256=${createHmac('sha256', WEBHOOK_SECRET).update(body).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-github-event': 'push', 'x-hub-signature-256': signature }
  const { status } = await fetch(`${server}/regent/v1/webhook`, { method: 'POST', headers, body })
  if (status !== 202) throw new Error(`the webhook failed with status ${status}`)
}
