// Git repositories with a working copy, and git servers over HTTP, HTTPS and SSH.
import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

/** Whether git and `git http-backend` are installed. */
export const hasGit = (() => {
  try {
    return execFileSync('git', ['http-backend'], { stdio: ['ignore', 'pipe', 'ignore'] }) !== undefined
  } catch (error) {
    return String((error as { stdout?: Buffer }).stdout).startsWith('Status: ')
  }
})()

/** Whether sshd and ssh-keygen are installed. */
export const hasSshd = hasGit && ['/usr/sbin/sshd', '/usr/bin/ssh-keygen'].every((file) => existsSync(file))

/** Environment variables of commits, independent of the machine's configuration. */
export const committer = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
}

/** The repository `realms.git` in a folder, with a working copy. */
export interface Repository {
  /** URL with the scheme `file:`. */
  readonly url: string
  git(...args: string[]): Promise<string>
  /** Writes files, commits and pushes them, and returns the commit. `settings` are options of git. */
  push(files: Readonly<Record<string, string>>, ...settings: string[]): Promise<string>
}

/** Creates a repository with the branch `main`. */
export async function createRepository(folder: string): Promise<Repository> {
  const bare = join(folder, 'realms.git')
  const copy = join(folder, 'copy')
  const git = async (...args: string[]) => {
    const options = { cwd: copy, env: { ...process.env, ...committer } }
    return (await promisify(execFile)('git', args, options)).stdout.trim()
  }
  await mkdir(copy)
  await git('init', '--quiet', '--bare', '--initial-branch=main', bare)
  await git('--git-dir', bare, 'config', 'receive.denyDeleteCurrent', 'ignore')
  await git('init', '--quiet', '--initial-branch=main')
  await git('remote', 'add', 'origin', bare)
  return {
    url: `file://${bare}`,
    git,
    async push(files, ...settings) {
      for (const [name, text] of Object.entries(files)) {
        await mkdir(dirname(join(copy, name)), { recursive: true })
        await writeFile(join(copy, name), text)
      }
      await git('add', '--all')
      await git(...settings, 'commit', '--quiet', '--allow-empty', '--message=Change')
      await git('push', '--quiet', '--force', 'origin', 'main')
      return git('rev-parse', 'HEAD')
    },
  }
}

/** An HTTP server of the repositories in a folder, with password authentication. */
export interface GitServer {
  readonly host: string
  /** Returns the number of requests so far. */
  countRequests(): number
  /** If false, the server returns 503. */
  isUp: boolean
  /** The user whose password is accepted. */
  user: string
  close(): Promise<void>
}

/** Creates a self-signed certificate for 127.0.0.1 in a folder. */
export async function createCertificate(folder: string): Promise<{ file: string; cert: Buffer; key: Buffer }> {
  const [file, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  const of = ['-subj', '/CN=git', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', ...key, '-keyout', keyFile, '-out', file, ...of], { stdio: 'ignore' })
  return { file, cert: await readFile(file), key: await readFile(keyFile) }
}

/** Starts `git http-backend` behind HTTP, or behind HTTPS if there is a certificate. */
export async function startGitServer(
  folder: string,
  user: string,
  password: string,
  tls?: { cert: Buffer; key: Buffer },
): Promise<GitServer> {
  let requests = 0
  const handle: RequestListener = async (request, response) => {
    requests++
    if (!state.isUp) return response.writeHead(503).end()
    const expected = `Basic ${Buffer.from(`${state.user}:${password}`).toString('base64')}`
    if (request.headers.authorization !== expected) {
      return response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    }
    const [path, query = ''] = request.url!.split('?')
    const backend = spawn('git', ['http-backend'], {
      env: {
        ...process.env,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        REQUEST_METHOD: request.method,
        PATH_INFO: path,
        QUERY_STRING: query,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      },
    })
    void pipeline(request, backend.stdin).catch(() => undefined)
    const output = Buffer.concat(await backend.stdout.toArray())
    const end = output.indexOf('\r\n\r\n')
    const lines = output.subarray(0, end).toString().split('\r\n')
    const headers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]))
    return response.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers).end(output.subarray(end + 4))
  }
  const server = tls ? createSecureServer(tls, handle) : createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const state: GitServer = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    countRequests: () => requests,
    isUp: true,
    user,
    async close() {
      server.close()
      server.closeAllConnections()
      await rm(folder, { recursive: true, force: true })
    },
  }
  return state
}

/** An SSH server that the current user can log in to with a key. */
export interface SshServer {
  /** User and host. */
  readonly host: string
  /** The value of `GIT_SSH_COMMAND`. Its list of known hosts is empty at first. */
  readonly command: string
  /** Adds the server to the known hosts. */
  trustHost(): Promise<void>
  close(): void
}

/** Starts sshd with keys in a folder. */
export async function startSshServer(folder: string): Promise<SshServer> {
  const file = (name: string) => join(folder, name)
  for (const name of ['host-key', 'user-key']) {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(name)])
  }
  const port = await freePort()
  const options = [`AuthorizedKeysFile=${file('user-key.pub')}`, 'StrictModes=no', 'PidFile=none', 'UsePAM=no']
  const listening = ['-p', String(port), '-o', 'ListenAddress=127.0.0.1', '-h', file('host-key')]
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true })
  const server = spawn('/usr/sbin/sshd', [
    ...['-D', '-e', '-f', '/dev/null', ...listening],
    ...options.flatMap((option) => ['-o', option]),
  ])
  for await (const line of server.stderr.setEncoding('utf8')) if (String(line).includes('listening')) break
  await writeFile(file('known-hosts'), '')
  return {
    host: `${userInfo().username}@127.0.0.1:${port}`,
    command: `ssh -F none -i ${file('user-key')} -o IdentitiesOnly=yes -o UserKnownHostsFile=${file('known-hosts')}`,
    trustHost: async () =>
      appendFile(file('known-hosts'), `[127.0.0.1]:${port} ${await readFile(file('host-key.pub'))}`),
    close: () => void server.kill(),
  }
}

/** Returns a port of this machine that no process listens on. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
