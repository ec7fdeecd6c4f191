// Connections to directories: certificates, several addresses, referrals, time limits and interruptions.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ActiveDirectory, FAKE_ADMIN, startActiveDirectory } from '../support/active-directory.ts'
import { changeDirectory, createStore, FOLDERS, renderUser, requestTokens } from '../support/directory.ts'
import { testServer } from '../support/server.ts'
import { hasSlapd, startSlapd, type TestDirectory } from '../support/slapd.ts'
import { startRelay } from '../support/tcp-relay.ts'

const { call, create, createRealm } = await testServer()
const getLastSegment = (path: string) => path.split('/').at(-1)!
const COUNT = 2_500
const UNREACHABLE = 'ldap://127.0.0.1:1'

async function openRealm(settings: Readonly<Record<string, string>>) {
  const path = await createRealm()
  const store = createStore('', { connectionTimeout: '500', readTimeout: '2000', ...settings })
  const id = getLastSegment(await create(`${path}/components`, store))
  const sync = (action = 'triggerFullSync') => call('POST', `${path}/user-storage/${id}/sync?action=${action}`)
  const count = async () => (await call('GET', `${path}/users/count`)).body
  const logIn = async (username: string, password: string) => {
    const response = await requestTokens(path, username, password)
    return response.statusCode
  }
  return { path, id, sync, count, logIn }
}

/** Creates a certificate authority, and a certificate of it for 127.0.0.1. */
function createCertificates(folder: string, name: string) {
  const file = (suffix: string) => join(folder, `${name}-${suffix}.pem`)
  const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  run('req', '-x509', ...newKey, '-keyout', file('ca-key'), '-out', file('ca'), '-days', '2', '-subj', `/CN=${name} CA`)
  const ofCa = ['-CA', file('ca'), '-CAkey', file('ca-key')]
  const subject = ['-subj', '/CN=directory', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost']
  run('req', '-x509', ...newKey, '-keyout', file('key'), '-out', file('cert'), '-days', '2', ...ofCa, ...subject)
  return { certificateFile: file('cert'), keyFile: file('key'), ca: readFileSync(file('ca'), 'utf8') }
}

describe.skipIf(!hasSlapd)('with a directory', () => {
  let folder: string
  let trusted: ReturnType<typeof createCertificates>
  let directory: TestDirectory
  let secure: TestDirectory
  let untrusted: TestDirectory
  const defaults = getCACertificates('default')

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'regent-certificates-'))
    trusted = createCertificates(folder, 'trusted')
    setDefaultCACertificates([...defaults, trusted.ca])
    const users = Array.from({ length: COUNT }, (_, at) => renderUser(`user-${at}`))
    const referral = [
      'dn: ou=branch,ou=users,dc=example,dc=org',
      'objectClass: referral',
      'objectClass: extensibleObject',
      'ou: branch',
      `ref: ldap://127.0.0.1:1/ou=users,dc=example,dc=org`,
      '',
    ]
    const entries = [FOLDERS, ...users, referral.join('\n')].join('\n')
    const few = [FOLDERS, renderUser('ann')].join('\n')
    directory = await startSlapd({
      entries,
      certificate: trusted,
      sizeLimit: 'size.soft=500 size.pr=unlimited size.prtotal=unlimited',
    })
    secure = await startSlapd({ entries: few, certificate: trusted, ldaps: true })
    untrusted = await startSlapd({ entries: few, certificate: createCertificates(folder, 'other'), ldaps: true })
  })
  afterAll(async () => {
    setDefaultCACertificates(defaults)
    for (const server of [directory, secure, untrusted]) await server?.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const tryConnection = (body: object) => call('POST', '/admin/realms/master/testLDAPConnection', { body })

  test('users log in over ldaps and StartTLS, with certificates of a private authority', async () => {
    const overTls = await openRealm({ connectionUrl: secure.url })
    expect(await overTls.logIn('ann', 'ann-secret')).toBe(200)
    const upgraded = await openRealm({ connectionUrl: directory.url, startTls: 'true' })
    expect(await upgraded.logIn('user-1', 'user-1-secret')).toBe(200)
    const byName = await openRealm({ connectionUrl: secure.url.replace('127.0.0.1', 'localhost') })
    expect(await byName.logIn('ann', 'ann-secret')).toBe(200)
  })

  test('a certificate of an unknown authority is refused', async () => {
    const { logIn, sync } = await openRealm({ connectionUrl: untrusted.url })
    expect(await logIn('ann', 'ann-secret')).toBe(400)
    expect((await sync()).body.errorMessage).toContain('there is no secure connection to the directory')
    const settings = { action: 'testConnection', connectionUrl: untrusted.url }
    expect((await tryConnection(settings)).body.errorMessage).toBe('SSLHandshakeFailed')
  })

  test('StartTLS with a certificate of an unknown authority is refused before the password is sent', async () => {
    setDefaultCACertificates(defaults)
    try {
      const { logIn } = await openRealm({ connectionUrl: directory.url, startTls: 'true' })
      expect(await logIn('user-1', 'user-1-secret')).toBe(400)
    } finally {
      setDefaultCACertificates([...defaults, trusted.ca])
    }
  })

  test('a directory without StartTLS is refused if it is requested', async () => {
    const plain = await startSlapd({ entries: FOLDERS })
    const { sync } = await openRealm({ connectionUrl: plain.url, startTls: 'true' })
    expect((await sync()).status).toBe(400)
    await plain.remove()
  })

  test('of several addresses, the first that responds is used', async () => {
    const { logIn, sync } = await openRealm({ connectionUrl: `${UNREACHABLE} ${secure.url}` })
    expect(await logIn('ann', 'ann-secret')).toBe(200)
    expect((await sync()).body).toMatchObject({ updated: 1 })
    const none = await openRealm({ connectionUrl: `${UNREACHABLE} ldap://127.0.0.1:2` })
    expect((await none.sync()).body.errorMessage).toContain('there is no connection to the directory')
  })

  test('pages import more users than the size limit of the directory, and referrals are not followed', async () => {
    const { sync, count } = await openRealm({ connectionUrl: directory.url, searchScope: '2', readTimeout: '60000' })
    expect((await sync()).body).toEqual(expect.objectContaining({ added: COUNT, failed: 0 }))
    expect(await count()).toBe(COUNT)
    const below = { connectionUrl: directory.url, usersDn: 'ou=branch,ou=users,dc=example,dc=org' }
    const response = await (await openRealm(below)).sync()
    expect(response.status).toBe(400)
    expect(response.body.errorMessage).toContain('The user federation provider "directory" failed')
  })

  test('a directory that ends in the middle of a synchronization is an error, and the next one completes it', async () => {
    const relay = await startRelay(new URL(directory.url))
    const { sync, count, path } = await openRealm({
      connectionUrl: `ldap://127.0.0.1:${relay.port}`,
      batchSizeForSync: '200',
    })
    const local = { username: 'local', enabled: true, email: 'local@example.com', firstName: 'L', lastName: 'L' }
    await create(`${path}/users`, { ...local, credentials: [{ type: 'password', value: 'local-secret' }] })
    const synchronization = sync()
    await expect.poll(count, { timeout: 10_000, interval: 10 }).toBeGreaterThan(300)
    relay.cut()
    const response = await synchronization
    expect(response.status).toBe(400)
    expect(response.body.errorMessage).toContain('The user federation provider "directory" failed')
    const imported = (await count()) - 1
    expect(imported % 200).toBe(0)
    expect(imported).toBeLessThan(COUNT)
    relay.restore()
    expect((await sync()).body).toMatchObject({ added: COUNT - imported, updated: imported, failed: 0 })
    await relay.close()
  })

  test('while a synchronization waits for the directory, other users log in', async () => {
    const { sync, path, logIn } = await openRealm({ connectionUrl: directory.url, readTimeout: '1500' })
    const local = { username: 'local', enabled: true, email: 'local@example.com', firstName: 'L', lastName: 'L' }
    await create(`${path}/users`, { ...local, credentials: [{ type: 'password', value: 'local-secret' }] })
    await directory.pause()
    try {
      const synchronization = sync()
      expect(await logIn('local', 'local-secret')).toBe(200)
      expect((await synchronization).body.errorMessage).toContain('the directory does not respond in time')
    } finally {
      directory.resume()
    }
  })

  test('200 broken entries are counted, and the others are imported', async () => {
    const broken = Array.from({ length: 200 }, (_, at) =>
      [
        `dn: cn=broken-${at},ou=users,dc=example,dc=org`,
        'objectClass: inetOrgPerson',
        `cn: broken-${at}`,
        'sn: B',
        '',
      ].join('\n'),
    )
    const users = Array.from({ length: 300 }, (_, at) => renderUser(`user-${at}`))
    const mixed = broken.flatMap((entry, at) => [entry, users[at]!])
    const other = await startSlapd({ entries: [FOLDERS, ...mixed, ...users.slice(200)].join('\n') })
    const { sync } = await openRealm({ connectionUrl: other.url })
    expect((await sync()).body).toMatchObject({ added: 300, failed: 200 })
    await changeDirectory(other.url, (connection) => connection.delete('uid=user-0,ou=users,dc=example,dc=org'))
    expect((await sync()).body).toMatchObject({ added: 0, updated: 299, failed: 200 })
    await other.remove()
  })

  test('Active Directory gets passwords over TLS, and enables the account', async () => {
    const certificate = {
      cert: readFileSync(trusted.certificateFile, 'utf8'),
      key: readFileSync(trusted.keyFile, 'utf8'),
    }
    const active: ActiveDirectory = await startActiveDirectory({}, certificate)
    const { path } = await openRealm({
      connectionUrl: active.url,
      vendor: 'ad',
      bindDn: FAKE_ADMIN.dn,
      bindCredential: FAKE_ADMIN.password,
      usernameLDAPAttribute: 'cn',
      rdnLDAPAttribute: 'cn',
      uuidLDAPAttribute: 'objectGUID',
      userObjectClasses: 'top, user',
      editMode: 'WRITABLE',
      syncRegistrations: 'true',
    })
    const credentials = [{ type: 'password', value: 'new-secret', temporary: false }]
    const user = await create(`${path}/users`, { username: 'newcomer', enabled: true, credentials })
    const entry = active.entries.get('cn=newcomer,ou=users,dc=example,dc=org')
    expect(entry).toMatchObject({ password: ['new-secret'], useraccountcontrol: ['512'], pwdlastset: ['-1'] })
    const body = { type: 'password', value: 'other', temporary: true }
    expect((await call('PUT', `${user}/reset-password`, { body })).status).toBe(204)
    expect(entry).toMatchObject({ password: ['other'], pwdlastset: ['0'] })
    await active.close()
  })
})
