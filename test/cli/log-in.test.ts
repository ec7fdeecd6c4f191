// Log-in with the command line: by a browser or a code, as a context whose tokens are requested as needed.
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type CommandFolder,
  callAsAdmin,
  createCommandFolder,
  type RunningCommand,
  type RunningServer,
} from '../support/cli.ts'
import { createHttpBrowser, type HttpBrowser } from '../support/http-browser.ts'

let host: CommandFolder
let server: RunningServer
let at: CommandFolder
/** The name of the context of the server. */
let name: string

const ADMIN = { username: 'admin', password: 'admin' }
const contextFile = () => join(at.folder, 'config', 'contexts.json')
const readContexts = async () => JSON.parse(await readFile(contextFile(), 'utf8'))
const setRealm = (settings: object) =>
  callAsAdmin(server.url, { method: 'PUT', path: '/master', body: { realm: 'master', ...settings } })
/** Sets the lifespan in seconds of access tokens of the command line. */
async function setLifespan(seconds: string): Promise<void> {
  const path = '/master/clients?clientId=security-admin-console'
  const [client] = (await callAsAdmin<{ id: string; attributes: object }[]>(server.url, { path })).body
  const attributes = { ...client!.attributes, 'access.token.lifespan': seconds }
  const body = { ...client, attributes }
  expect((await callAsAdmin(server.url, { method: 'PUT', path: `/master/clients/${client!.id}`, body })).status).toBe(
    204,
  )
}

beforeAll(async () => {
  host = await createCommandFolder()
  server = await host.serve('--source', '', '--data', 'store')
  name = new URL(server.url).host
  // Without a store of its own; the browser is the test.
  at = await createCommandFolder({ REGENT_DATABASE: '', REGENT_KEY_FILE: '', BROWSER: 'true' })
})
afterAll(async () => {
  await at.remove()
  await host.remove()
})

/** Starts a log-in, and returns the URL for the browser. */
async function startLogin(...args: string[]): Promise<{ command: RunningCommand; address: string }> {
  const command = at.start('login', ...args)
  const output = await command.waitForOutput('code_challenge_method=S256\n')
  return { command, address: /^http\S+$/m.exec(output)![0] }
}

/** Logs in, and returns the last page and the end of the command. */
async function logIn(args: string[] = ['--server', server.url], browser: HttpBrowser = createHttpBrowser()) {
  const { command, address } = await startLogin(...args)
  const page = await browser.send(await browser.open(address), ADMIN)
  return { page, code: await command.end(), output: command.output() }
}

const ensureLogin = async () => {
  const { code, output } = await logIn()
  expect([code, output]).toEqual([0, expect.stringContaining(`The context ${name} is in use.`)])
}

test('a user logs in with a browser, and commands use the context that only its owner can read', async () => {
  const { page, code, output } = await logIn()
  expect([page.status, page.text, code]).toEqual([
    200,
    expect.stringContaining('You are logged in. You can close this page.'),
    0,
  ])
  expect(output).toContain(`Logged in at ${server.url}, realm master, as admin. The context ${name} is in use.`)
  expect((await stat(contextFile())).mode & 0o777).toBe(0o600)
  expect((await stat(join(at.folder, 'config'))).mode & 0o777).toBe(0o700)
  const { current, contexts } = await readContexts()
  expect({ current, contexts }).toEqual({
    current: name,
    contexts: { [name]: { server: server.url, realm: 'master', user: 'admin', refreshToken: expect.any(String) } },
  })
  const result = await at.run('get', 'master')
  expect(result).toMatchObject({ code: 0, err: `Context ${name}: ${server.url}\n` })
  expect(JSON.parse(result.out)).toMatchObject({ realm: 'master' })
})

test('a user who is logged in in the browser enters the credentials again', async () => {
  const browser = createHttpBrowser()
  await logIn(['--server', server.url], browser)
  const { command, address } = await startLogin('--server', server.url)
  const withFragment = new URL(address)
  withFragment.searchParams.set('redirect_uri', `${withFragment.searchParams.get('redirect_uri')}#page`)
  for (const url of [address, withFragment.href]) {
    const form = await browser.open(url)
    expect([form.status, form.text]).toEqual([200, expect.stringContaining('name="password"')])
  }
  const silent = await browser.open(`${address}&prompt=none`)
  expect(silent.text).toContain('You are not logged in')
  expect(await command.end()).toBe(1)
})

test('the listener accepts only the response to its own request', async () => {
  const { command, address } = await startLogin('--server', server.url)
  const query = new URL(address).searchParams
  const listener = query.get('redirect_uri')!
  const [state] = query.getAll('state')
  for (const path of [`${listener}?code=x&state=other`, listener, `${listener}/other?code=x&state=${state}`])
    expect((await fetch(path)).status).toBe(404)
  expect((await fetch(`${listener}?code=x&state=${state}`, { method: 'POST' })).status).toBe(404)
  const foreign = await fetch(`${listener}?code=x&state=${state}&iss=https://other.example.org`)
  expect([foreign.status, await foreign.text()]).toEqual([400, expect.stringContaining('is from the issuer')])
  expect(await command.end()).toBe(1)
})

test('only the loopback address and the page of the server are redirect URIs of the command line', async () => {
  const { command, address } = await startLogin('--server', server.url)
  const browser = createHttpBrowser()
  for (const uri of [
    'http://127.0.0.1:8000/other',
    'http://localhost:8000/regent-log-in',
    'http://127.0.0.1.example.org/regent-log-in',
    'https://example.org/regent/log-in/code',
  ]) {
    const url = new URL(address)
    url.searchParams.set('redirect_uri', uri)
    expect([uri, (await browser.open(url.href)).status]).toEqual([uri, 400])
  }
  await command.stop()
})

test('without a browser, the user copies the code from a page of the server', async () => {
  const { command, address } = await startLogin('--no-browser', '--server', server.url, '--context', 'remote')
  const browser = createHttpBrowser()
  const page = await browser.send(await browser.open(address), ADMIN)
  const [, code = ''] = /<code>([\w.-]{20,})<\/code>/.exec(page.text) ?? []
  expect([page.url, page.text]).toEqual([
    expect.stringContaining('/regent/log-in/code?'),
    expect.stringContaining('regent login'),
  ])
  command.type(`${code}\n`)
  expect([await command.end(), command.output()]).toEqual([0, expect.stringContaining('The context remote is in use.')])
  await at.run('context', 'delete', 'remote')
})

test('a code of another request and an error page give no context', async () => {
  const { command } = await startLogin('--no-browser', '--server', server.url, '--context', 'other')
  command.type('code\n')
  expect([await command.end(), command.output()]).toEqual([1, expect.stringContaining('Code not valid')])
  const page = await fetch(`${server.url}/regent/log-in/code?error=access_denied&error_description=<b>`)
  expect([page.headers.get('cache-control'), await page.text()]).toEqual([
    'no-store',
    expect.stringContaining('&#60;b&#62;'),
  ])
  expect((await readContexts()).contexts).not.toHaveProperty('other')
})

test('contexts are listed, chosen, shown and deleted', async () => {
  await ensureLogin()
  await logIn(['--server', server.url, '--context', 'second'])
  const list = JSON.parse((await at.run('context', '--output', 'json')).out)
  expect(list).toMatchObject([
    { name, user: 'admin', session: 'logged in', inUse: false },
    { name: 'second', server: server.url, realm: 'master', inUse: true },
  ])
  expect(JSON.stringify(list)).not.toContain('refreshToken')
  expect((await at.run('context', 'use', name)).out).toBe(`The context ${name} is in use: ${server.url}.\n`)
  const text = (await at.run('context', 'show')).out
  expect(text).toContain(`Context: ${' '}${name} (in use)`)
  expect(text).toContain(`A command without options uses the context ${name}.`)
  expect(text).toMatch(/Precedence:\n {2}1\. `--context`/)
  expect(await at.run('context', 'show', 'none')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/no context none/),
  })
  expect((await at.run('context', 'delete', 'second')).code).toBe(0)
  expect(Object.keys((await readContexts()).contexts)).toEqual([name])
})

test('a named context precedes variables, which precede the context in use', async () => {
  await ensureLogin()
  const other = { REGENT_SERVER: 'http://127.0.0.1:1' }
  expect((await at.shell(`regent get master --context ${name}`, other)).code).toBe(0)
  expect((await at.shell('regent get master', { ...other, REGENT_CONTEXT: name })).code).toBe(0)
  expect(await at.shell('regent get master', { ...other, REGENT_TOKEN: 'x' })).toMatchObject({
    code: 1,
    err: expect.stringContaining('No server responds'),
  })
  expect(await at.run('get', 'master', '--context', name, '--data', 'x')).toMatchObject({
    code: 1,
    err: 'Pass either --context, or --server, --database or --data.\n',
  })
  // The token in the variable is for another server.
  expect((await at.shell('regent get master', { REGENT_TOKEN: 'x' })).code).toBe(0)
  expect((await at.shell(`regent get master --server ${server.url}`, { REGENT_TOKEN: 'x' })).code).toBe(1)
  expect((await at.run('get', 'master', '--server', server.url)).code).toBe(0)
})

test('a store in the folder and a context in use are never confused', async () => {
  await ensureLogin()
  const folder = await createCommandFolder({ REGENT_DATABASE: '', REGENT_CONFIG_DIR: join(at.folder, 'config') })
  await folder.run('admin-password', '--create', '--new-password', 'x', '--data', 'data', '--key-file', 'data/key')
  await mkdir(join(folder.folder, 'data'), { recursive: true })
  expect(await folder.run('get', 'master')).toMatchObject({
    code: 1,
    err: `The context ${name} is in use (${server.url}), and this folder has a store in data. Pass --context ${name} or --data data.\n`,
  })
  expect((await folder.run('get', 'master', '--context', name)).code).toBe(0)
  await folder.remove()
})

test('the server of a project file is used if the user has logged in there', async () => {
  await ensureLogin()
  await at.run('context', 'delete', name)
  await writeFile(join(at.folder, 'regent.yaml'), `name: test\nserver: ${server.url}\n`)
  expect(await at.run('get', 'master')).toMatchObject({
    code: 1,
    err: expect.stringContaining(`To log in there, run "regent login --server ${server.url}"`),
  })
  await ensureLogin()
  expect((await at.run('get', 'master')).err).toBe(`Context ${name}: ${server.url}\n`)
  await writeFile(join(at.folder, 'regent.yaml'), 'name: test\n')
})

test('a file of contexts that other users can read is refused', async () => {
  await ensureLogin()
  await chmod(contextFile(), 0o644)
  expect(await at.run('get', 'master', '--context', name)).toMatchObject({
    code: 1,
    err: `Other users can read ${contextFile()}, which contains credentials. Run "chmod 600 ${contextFile()}".\n`,
  })
  await chmod(contextFile(), 0o600)
})

test('a command takes longer than a token is valid, and several commands share a session whose tokens are used once', async () => {
  await ensureLogin()
  await setLifespan('1')
  await setRealm({ revokeRefreshToken: true, refreshTokenMaxReuse: 0 })
  try {
    const results = await Promise.all([1, 2, 3, 4].map(() => at.run('source', 'list')))
    expect(results.map(({ code, err }) => [code, err])).toEqual(
      Array.from({ length: 4 }, () => [0, `Context ${name}: ${server.url}\n`]),
    )
    const watch = at.start('drift', '--watch')
    await watch.waitForOutput('No drift.')
    await new Promise((resolve) => setTimeout(resolve, 2500))
    await writeFile(join(at.folder, 'shop.yaml'), 'realm: shop\ndisplayName: Shop\n')
    expect((await at.run('apply', 'shop.yaml')).code).toBe(0)
    await callAsAdmin(server.url, { method: 'PUT', path: '/shop', body: { displayName: 'Other' } })
    await watch.waitForOutput('displayName')
    expect(await watch.stop()).toBe(0)
  } finally {
    await setRealm({ revokeRefreshToken: false })
    await setLifespan('')
  }
})

test('regent token prints a token of the session, and a session that has ended is reported', async () => {
  await ensureLogin()
  const token = (await at.run('token')).out.trim()
  const response = await fetch(`${server.url}/admin/realms/master`, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(200)
  const { body: users } = await callAsAdmin<{ id: string }[]>(server.url, { path: '/master/users?username=admin' })
  await callAsAdmin(server.url, { method: 'POST', path: `/master/users/${users[0]!.id}/logout` })
  expect(await at.run('token')).toMatchObject({
    code: 1,
    err: `The session of context ${name} has ended. Run "regent login".\n`,
  })
  // The context has the server and the realm.
  expect((await logIn([])).code).toBe(0)
  expect((await at.run('token')).code).toBe(0)
})

test('logout ends the session at the server', async () => {
  await ensureLogin()
  const { refreshToken } = (await readContexts()).contexts[name]
  expect((await at.run('logout')).out).toBe(`Logged out of the context ${name}.\n`)
  const body = { grant_type: 'refresh_token', client_id: 'security-admin-console', refresh_token: refreshToken }
  const url = `${server.url}/realms/master/protocol/openid-connect/token`
  expect((await fetch(url, { method: 'POST', body: new URLSearchParams(body) })).status).toBe(400)
  expect(await at.run('get', 'master')).toMatchObject({ code: 1, err: expect.stringContaining('has ended') })
})

test('an administrator of a realm logs in there by name and password', async () => {
  await callAsAdmin(server.url, { method: 'POST', path: '', body: { realm: 'blog', enabled: true } })
  const credentials = [{ type: 'password', value: 'pw' }]
  const ann = { username: 'ann', enabled: true, email: 'ann@example.org', firstName: 'A', lastName: 'B', credentials }
  await callAsAdmin(server.url, { method: 'POST', path: '/blog/users', body: ann })
  const flags = ['--server', server.url, '--user', 'ann', '--password', 'pw']
  expect((await at.run('token', ...flags, '--login-realm', 'blog')).code).toBe(0)
  expect(await at.run('token', ...flags)).toMatchObject({ code: 1, err: expect.stringContaining('ann cannot log in') })
})
