// From a webhook to the commit of what was pushed, over HTTP and ssh, beside a bare fetch of the same commits.
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startGitServer, hasGit, hasSshd, createRepository, startSshServer } from '../test/support/git.ts'
import { quantile } from './measure.ts'
import { serve } from './serve.ts'

const SECRET = 'secret-of-the-webhook'
/** What Regent may take longer than git alone, in milliseconds at the 95th percentile. */
const AT_MOST = 250

/** How a repository is reached. */
interface Remote {
  readonly url: string
  readonly env: Readonly<Record<string, string>>
  close(): unknown
}

/** Measures so many pushes by each protocol that there is a server for, and prints them. Whether each is within its limit. */
export async function pushes(count: number): Promise<boolean> {
  if (!hasGit) throw new Error('there is no git here, or no git http-backend')
  if (!hasSshd) console.log('There is no sshd here: git over ssh is not measured.')
  let within = true
  for (const protocol of hasSshd ? (['http', 'ssh'] as const) : (['http'] as const)) {
    const { committed, fetched } = await measured(protocol, count)
    const [whole, bare] = [quantile(committed, 0.95), quantile(fetched, 0.95)]
    console.log(
      `${protocol}: ${count} pushes, webhook to committed ${quantile(committed, 0.5).toFixed(0)} ms, 95th percentile ${whole.toFixed(0)} ms; a bare fetch ${quantile(fetched, 0.5).toFixed(0)} ms and ${bare.toFixed(0)} ms: ${(whole - bare).toFixed(0)} ms above, of ${AT_MOST}`,
    )
    within &&= whole - bare <= AT_MOST
  }
  return within
}

async function measured(protocol: 'http' | 'ssh', count: number): Promise<{ committed: number[]; fetched: number[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'regent-bench-'))
  const repository = await createRepository(folder)
  const remote = await remoteOf(protocol, folder, repository.url.replace('file://', ''))
  const push = (name: string) => repository.push({ 'acme.yaml': `realm: acme\ndisplayName: ${name}\n` })
  await push('Push 0')
  await writeFile(join(folder, 'secret'), SECRET)
  const flags = ['--source-interval', '3600', '--source-webhook-secret-file', 'secret']
  const server = await serve(folder, flags, { ...remote.env, REGENT_SOURCE: remote.url }, 'Watching')
  const env = { ...process.env, ...remote.env, GIT_CONFIG_GLOBAL: '/dev/null' }
  const git = (...args: string[]) => promisify(execFile)('git', ['-C', folder, '--git-dir=bare.git', ...args], { env })
  await git('init', '--quiet', '--bare', 'bare.git')
  const times = { committed: [] as number[], fetched: [] as number[] }
  try {
    for (let number = 1; number <= count; number++) {
      await push(`Push ${number}`)
      const told = performance.now()
      await tell(server.url, remote.url)
      await server.said(`→ Push ${number} `)
      times.committed.push(performance.now() - told)
      const asked = performance.now()
      await git('fetch', '--quiet', '--depth=1', remote.url, 'main')
      times.fetched.push(performance.now() - asked)
    }
  } finally {
    await server.stop()
    await remote.close()
    await rm(folder, { recursive: true, force: true })
  }
  return times
}

async function remoteOf(protocol: 'http' | 'ssh', folder: string, path: string): Promise<Remote> {
  if (protocol === 'http') {
    const { host, close } = await startGitServer(folder, 'ci', 'token')
    return { url: `http://ci:token@${host}/realms.git`, env: {}, close }
  }
  const ssh = await startSshServer(folder)
  await ssh.trustHost()
  return { url: `ssh://${ssh.host}${path}`, env: { GIT_SSH_COMMAND: ssh.command }, close: ssh.close }
}

/** As GitHub tells of a push. */
async function tell(server: string, repository: string): Promise<void> {
  const body = JSON.stringify({ repository: { clone_url: repository } })
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-github-event': 'push', 'x-hub-signature-256': signature }
  const { status } = await fetch(`${server}/regent/v1/webhook`, { method: 'POST', headers, body })
  if (status !== 202) throw new Error(`the webhook was answered with ${status}`)
}
