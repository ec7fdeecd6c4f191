// Secrets of realms that are read from the vault directory.
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer as createPlainServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { openVaultDirectory, resolveSecret } from '../../src/service/context/vault-directory.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { openMailbox } from '../support/mailbox.ts'
import { newRealm, openNewService } from '../support/service.ts'

const root = await mkdtemp(join(tmpdir(), 'vault-'))
const directory = join(root, 'secrets')
await mkdir(directory)
/** Writes the secret of a file in the vault directory. */
const write = (fileName: string, secret: string) => writeFile(join(directory, fileName), secret)

let password = 'right'
const mailbox = await openMailbox({
  authOptional: false,
  onAuth: (login, _session, done) =>
    login.password === password ? done(null, { user: login.username }) : done(new Error('no')),
})
const service = await openNewService({ vaultDirectory: openVaultDirectory(directory) })
const serviceWithoutVault = await openNewService()
await bootstrap(service, { user: 'admin', password: 'admin' })
afterAll(async () => {
  await service.close()
  await serviceWithoutVault.close()
  await mailbox.close()
  await rm(root, { recursive: true })
})

const reference = '${vault.smtp_pw}'
const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org', auth: 'true', user: 'sso' }

/** Delivers an email over the SMTP server of a realm, and returns `delivered` or the error. */
async function deliver(realm: string, by: Service = service): Promise<string> {
  const message = { kind: 'mail', to: 'ann@example.org', template: 'emailTest' } as const
  return deliverers.mail({ service: by, realm, message, id: 'x' }).then(
    () => 'delivered',
    (error: Error) => error.message,
  )
}

test('emails are sent with the password of the file, which is read each time', async () => {
  const realm = await newRealm(service, { smtpServer: { ...smtpServer, password: reference } })
  await write(`${realm}_smtp__pw`, 'right')
  expect(await deliver(realm)).toBe('delivered')
  password = 'rotated'
  expect(await deliver(realm)).toContain('does not accept the user and the password')
  await write(`${realm}_smtp__pw`, 'rotated')
  expect(await deliver(realm)).toBe('delivered')
  password = 'right'
})

test('emails are not sent without the file, and the error names realm, key and file', async () => {
  const settings = { smtpServer: { ...smtpServer, password: reference } }
  const realm = await newRealm(service, settings)
  expect(await deliver(realm)).toBe(
    `the vault has no secret "smtp_pw" of the realm "${realm}". Add the file ${realm}_smtp__pw to the directory of --vault-dir, readable by the server.`,
  )
  await serviceWithoutVault.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  const realmWithoutVault = await newRealm(serviceWithoutVault, settings)
  expect(await deliver(realmWithoutVault, serviceWithoutVault)).toBe(
    `the vault has no secret "smtp_pw" of the realm "${realmWithoutVault}". Start the server with --vault-dir, a directory with the file ${realmWithoutVault}_smtp__pw.`,
  )
})

test('a password that is not used is not read', async () => {
  const openMailServer = await openMailbox()
  const withoutAuth = { ...smtpServer, port: openMailServer.port, auth: 'false', password: reference }
  expect(await deliver(await newRealm(service, { smtpServer: withoutAuth }))).toBe('delivered')
  await openMailServer.close()
})

test('the secret for the token endpoint of a mail server is read from the file', async () => {
  const requests: string[] = []
  const tokenServer = createPlainServer(async (request, response) => {
    requests.push(await text(request))
    response.writeHead(500).end()
  })
  await new Promise<void>((resolve) => tokenServer.listen(0, '127.0.0.1', resolve))
  const authTokenUrl = `http://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`
  const token = { authType: 'token', authTokenUrl, authTokenClientId: 'regent', authTokenClientSecret: reference }
  const realm = await newRealm(service, { smtpServer: { ...smtpServer, ...token } })
  await write(`${realm}_smtp__pw`, 'shh')
  await deliver(realm)
  expect(new URLSearchParams(requests[0]).get('client_secret')).toBe('shh')
  tokenServer.close()
})

test('testSMTPConnection uses secrets of its realm, and reports a missing one', async () => {
  const admin = await createServer(service, { caller: SYSTEM })
  const [user] = (await admin.inject('/admin/realms/master/users?username=admin')).json()
  const payload = { ...user, email: 'admin@example.org' }
  await admin.inject({ method: 'PUT', url: `/admin/realms/master/users/${user.id}`, payload })
  const app = await createServer(service, { caller: { ...SYSTEM, user: { realm: 'master', id: user.id } } })
  const testConnection = async (realm: string) => {
    const settings = { ...smtpServer, password: reference }
    const url = `/admin/realms/${realm}/testSMTPConnection`
    const { statusCode, body } = await app.inject({ method: 'POST', url, payload: settings })
    return `${statusCode} ${body}`
  }
  const [realm, otherRealm] = [await newRealm(service), await newRealm(service)]
  await write(`${realm}_smtp__pw`, 'right')
  expect(await testConnection(realm)).toBe('204 ')
  expect(await testConnection(otherRealm)).toContain(
    `Failed to send email: the vault has no secret \\"smtp_pw\\" of the realm \\"${otherRealm}\\". Add the file`,
  )
})

test('a client authenticates with the secret of the file, and never with the text of the reference', async () => {
  const client = { clientId: 'billing', secret: '${vault.billing}', serviceAccountsEnabled: true }
  const realm = await newRealm(service, { eventsEnabled: true })
  const admin = await createServer(service, { caller: SYSTEM })
  await admin.inject({ method: 'POST', url: `/admin/realms/${realm}/clients`, payload: client })
  const requestToken = async (secret: string) => {
    const response = await admin.inject({
      method: 'POST',
      url: `/realms/${realm}/protocol/openid-connect/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `grant_type=client_credentials&client_id=billing&client_secret=${encodeURIComponent(secret)}`,
    })
    return response.statusCode
  }
  expect(await requestToken(client.secret)).toBe(401)
  const [event] = (await admin.inject(`/admin/realms/${realm}/events?type=CLIENT_LOGIN_ERROR`)).json()
  expect(event).toMatchObject({
    clientId: 'billing',
    error: 'invalid_client_credentials',
    details: { reason: expect.stringContaining(`the vault has no secret "billing" of the realm "${realm}"`) },
  })
  await write(`${realm}_billing`, 'from the file')
  expect(await requestToken('from the file')).toBe(200)
  expect(await requestToken(client.secret)).toBe(401)
  await write(`${realm}_billing`, 'another')
  expect(await requestToken('from the file')).toBe(401)
  expect(await requestToken('another')).toBe(200)
})

const vault = openVaultDirectory(directory)
/** Returns the secret to which a key of a realm refers, or the error. */
const resolve = (realm: string, key: string) =>
  resolveSecret(vault, realm, `\${vault.${key}}`).catch((error: Error) => error.message)

test('no realm reads a file of another one', async () => {
  await write('a__b_c', 'c of a_b')
  await write('a_b__c', 'b_c of a')
  await write('a___b', 'b of a_')
  expect(await resolve('a_b', 'c')).toBe('c of a_b')
  expect(await resolve('a', 'b_c')).toBe('b_c of a')
  expect(await resolve('a_', 'b')).toBe('b of a_')
  expect(await resolve('a', '_b')).toContain('Choose a key that does not begin with an underscore')
  expect(await resolve('A', 'b_c')).toContain('the vault has no secret')
})

test('a key is never a path', async () => {
  await writeFile(join(root, 'outside'), 'outside')
  await mkdir(join(directory, 'a_'))
  await writeFile(join(directory, 'a_', 'x'), 'inside')
  for (const key of ['/../outside', '../outside', '/x', '\\x', '..', '.', 'x\0']) {
    expect(await resolve('a', key)).toContain('the vault has no secret')
    expect(await resolve(`../${'a'}`, key)).toContain('the vault has no secret')
  }
})

test('a file is read as it is: a line break at its end, a link, an empty file', async () => {
  await write('a_line', 'secret\n')
  await write('..data', 'linked')
  await symlink('..data', join(directory, 'a_link'))
  await write('a_empty', '')
  await mkdir(join(directory, 'a_folder'))
  expect(await resolve('a', 'line')).toBe('secret\n')
  expect(await resolve('a', 'link')).toBe('linked')
  expect(await resolve('a', 'empty')).toBe('')
  expect(await resolve('a', 'folder')).toContain('the vault has no secret')
})

test('a text that is no reference is the secret', async () => {
  for (const secret of ['', 'x', '${vault.}', 'x${vault.line}', '${vault.line}x', '${env.line}'])
    expect(await resolveSecret(vault, 'a', secret)).toBe(secret)
})
