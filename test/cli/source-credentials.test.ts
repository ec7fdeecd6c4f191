// Credentials of git sources in the file of --sources: GitHub Apps, deploy keys and private CAs.
import { generateKeyPairSync } from 'node:crypto'
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, test as baseTest, beforeEach, expect } from 'vitest'
import { type CommandFolder, createCommandFolder } from '../support/cli.ts'
import {
  createCertificate,
  createRepository,
  type GitServer,
  hasGit,
  hasSshd,
  type Repository,
  startGitServer,
  startSshServer,
} from '../support/git.ts'
import { type RepositoryHost, startRepositoryHost } from '../support/repository-host.ts'

const test = baseTest.skipIf(!hasGit)
const TOKEN = 'installation-token-1'

let cli: CommandFolder
let folder: string
let repository: Repository
let github: RepositoryHost
const servers: GitServer[] = []

beforeEach(async () => {
  cli = await createCommandFolder()
  folder = await mkdtemp(join(tmpdir(), 'regent-test-git-'))
  repository = await createRepository(folder)
  github = await startRepositoryHost()
  github.token = TOKEN
})
afterEach(async () => {
  await cli.remove()
  for (const server of servers.splice(0)) await server.close()
  github.close()
})

const writeSource = (spec: object) => {
  const resource = { apiVersion: 'regent.dev/v1alpha1', kind: 'RealmSource', metadata: { name: 'team' }, spec }
  return writeFile(join(cli.folder, 'sources.yaml'), JSON.stringify(resource, null, 2))
}
const serveRepository = async (tls?: { cert: Buffer; key: Buffer }) => {
  const server = await startGitServer(folder, 'x-access-token', TOKEN, tls)
  servers.push(server)
  return server
}
const realm = (displayName: string) => ({ 'acme.yaml': `realm: acme\ndisplayName: ${displayName}\n` })

test('a GitHub App reads a repository with one installation token, which is requested again before it expires', async () => {
  await repository.push(realm('One'))
  const { host } = await serveRepository()
  await writeFile(join(cli.folder, 'app.pem'), github.privateKey)
  const app = { appId: 4711, installationId: '42', privateKeyFile: 'app.pem', baseUrl: `${github.url}/api/v3/` }
  await writeSource({ url: `http://${host}/realms.git`, interval: '1s', credentials: { githubApp: app } })
  const server = await cli.serve('--sources', 'sources.yaml')
  expect(server.output()).toContain('+ realm acme')
  await repository.push(realm('Two'))
  await server.until('One → Two')
  expect(github.tokenRequests).toHaveLength(1)
  const [{ method, path, headers, body, claims }] = github.tokenRequests as [(typeof github.tokenRequests)[0]]
  expect({ method, path, body }).toEqual({
    method: 'POST',
    path: '/api/v3/app/installations/42/access_tokens',
    body: { repositories: ['realms'] },
  })
  expect(headers).toMatchObject({ accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' })
  const now = Date.now() / 1000
  expect(claims.iss).toBe('4711')
  expect(claims.iat).toBeLessThan(now)
  expect(claims.exp! - now).toBeLessThan(600)
  await server.stop()

  // A token that expires within minutes is used once only.
  github.lifetime = 60_000
  github.tokenRequests.length = 0
  const again = await cli.serve('--sources', 'sources.yaml')
  await repository.push(realm('Three'))
  await again.until('Two → Three')
  expect(github.tokenRequests.length).toBeGreaterThan(1)
  expect(server.output() + again.output()).not.toContain(TOKEN)
})

test('a GitHub App with another key or a revoked token is reported, and retried', async () => {
  await repository.push(realm('One'))
  const { host } = await serveRepository()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(join(cli.folder, 'app.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const app = { appId: 4711, installationId: 42, privateKeyFile: 'app.pem', baseUrl: github.url }
  const credentials = { githubApp: app }
  const url = `http://${host}/realms.git`
  await writeSource({ url, interval: '1s', credentials })
  const server = cli.start('serve', '--sources', 'sources.yaml', '--port', '0')
  await server.waitForOutput('The GitHub App 4711 gets no token of its installation 42')
  expect(server.output()).toContain(`responded with status 401 (A JSON web token could not be decoded)`)
  await server.stop()

  await writeFile(join(cli.folder, 'app.pem'), github.privateKey)
  github.token = 'revoked'
  const refused = cli.start('serve', '--sources', 'sources.yaml', '--port', '0')
  await refused.waitForOutput('git cannot list the branches and tags')
  github.token = TOKEN
  await refused.waitForOutput('+ realm acme')
  await refused.stop()

  await writeFile(join(cli.folder, 'app.pem'), 'no key')
  const invalid = await cli.run('serve', '--sources', 'sources.yaml', '--port', '0')
  expect(invalid).toMatchObject({ code: 1 })
  expect(invalid.err).toContain('The private key of the GitHub App is not an RSA key in PEM.')
})

test('an https server with a certificate of a private CA is refused without caFile', async () => {
  await repository.push(realm('One'))
  const { file, ...tls } = await createCertificate(folder)
  const { host } = await serveRepository(tls)
  await copyFile(file, join(cli.folder, 'ca.pem'))
  await writeFile(join(cli.folder, 'password'), TOKEN)
  const spec = {
    url: `https://${host}/realms.git`,
    interval: '1s',
    credentials: { username: 'x-access-token', passwordFile: 'password' },
  }
  await writeSource(spec)
  const refused = cli.start('serve', '--sources', 'sources.yaml', '--port', '0')
  expect(await refused.waitForOutput('cannot be applied now')).toMatch(/certificate/)
  await refused.stop()
  await writeSource({ ...spec, caFile: 'ca.pem' })
  const server = await cli.serve('--sources', 'sources.yaml')
  expect(server.output()).toContain('+ realm acme')
})

baseTest.skipIf(!hasSshd)(
  'a deploy key reads a repository over ssh, from a server with a known host key only',
  async () => {
    await repository.push(realm('One'))
    const ssh = await startSshServer(folder)
    try {
      await copyFile(join(folder, 'user-key'), join(cli.folder, 'identity'))
      await writeFile(join(cli.folder, 'known_hosts'), '')
      const credentials = { identityFile: 'identity', knownHostsFile: 'known_hosts' }
      await writeSource({ url: `ssh://${ssh.host}${folder}/realms.git`, interval: '1s', credentials })
      const refused = cli.start('serve', '--sources', 'sources.yaml', '--port', '0')
      await refused.waitForOutput('Host key verification failed')
      await refused.stop()
      await ssh.trustHost()
      await copyFile(join(folder, 'known-hosts'), join(cli.folder, 'known_hosts'))
      const server = await cli.serve('--sources', 'sources.yaml')
      expect(server.output()).toContain('+ realm acme')
    } finally {
      ssh.close()
    }
  },
)

test('serve refuses credentials and settings that do not fit the repository', async () => {
  await writeFile(join(cli.folder, 'file'), 'x')
  const https = 'https://git.example.com/acme/realms.git'
  const app = { appId: 1, installationId: 2, privateKeyFile: 'file' }
  const cases: [object, string][] = [
    [{ url: https, credentials: { identityFile: 'file' } }, 'identityFile and knownHostsFile are required together'],
    [{ url: https, credentials: { identityFile: 'file', knownHostsFile: 'file' } }, 'takes no key'],
    [
      { url: https, credentials: { passwordFile: 'file', githubApp: app } },
      'githubApp cannot be combined with passwordFile',
    ],
    [{ url: 'ssh://git@git.example.com/x.git', credentials: { githubApp: app } }, 'Remove credentials.githubApp.'],
    [
      { url: https, credentials: { githubApp: { ...app, privateKeyFile: 'none' } } },
      'The private key none cannot be read',
    ],
    [{ path: 'file', caFile: 'file' }, 'caFile requires a url'],
    [{ url: https, caFile: 'none' }, 'The file of CA certificates none cannot be read (ENOENT)'],
    [{ url: https, commitStatus: { provider: 'gitlab' } }, 'commitStatus requires a token that may set statuses'],
    [{ url: https, commitStatus: { provider: 'bitbucket', tokenFile: 'file' } }, 'spec.commitStatus.provider'],
    [
      { url: 'file:///srv/realms.git', commitStatus: { provider: 'gitea', tokenFile: 'file' } },
      'commitStatus: file:///srv/realms.git has no host',
    ],
    [
      { url: https, commitStatus: { provider: 'gitea', tokenFile: 'file', apiUrl: 'http://git.example.com/api/v1' } },
      'http://git.example.com/api/v1 is not an https URL',
    ],
  ]
  for (const [spec, message] of cases) {
    await writeSource(spec)
    const { code, err } = await cli.run('serve', '--sources', 'sources.yaml', '--port', '0')
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) })
  }
})
