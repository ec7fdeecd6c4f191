// A directory with users, groups and roles for tests, and the settings of a user store for it.
import { createOutbound } from '../../src/lib/http/outbound.ts'
import { type LdapConnection, LdapError, openLdapConnection } from '../../src/lib/ldap/ldap-connection.ts'
import { testServer } from './server.ts'
import { DIRECTORY_ADMIN } from './slapd.ts'

/** A user of the directory, as an entry in LDIF. The password is the username and `-secret`. */
export const renderUser = (name: string, more: readonly string[] = []): string =>
  [
    `dn: uid=${name},ou=users,dc=example,dc=org`,
    'objectClass: inetOrgPerson',
    `uid: ${name}`,
    `cn: ${name[0]!.toUpperCase()}${name.slice(1)}`,
    `sn: ${name.toUpperCase()}`,
    `mail: ${name}@example.org`,
    `userPassword: ${name}-secret`,
    ...more,
    '',
  ].join('\n')

/** A group of the directory, as an entry in LDIF. */
export const renderGroup = (name: string, folder: string, members: readonly string[]): string =>
  [
    `dn: cn=${name},ou=${folder},dc=example,dc=org`,
    'objectClass: groupOfNames',
    `cn: ${name}`,
    ...members.map((member) => `member: ${member}`),
    '',
  ].join('\n')

/** The folders of the directory, as entries in LDIF. */
export const FOLDERS = ['users', 'groups', 'roles']
  .map((name) => `dn: ou=${name},dc=example,dc=org\nobjectClass: organizationalUnit\nou: ${name}\n`)
  .join('\n')

/** Returns a component for the users of the directory at a URL. */
export function createStore(url: string, settings: Readonly<Record<string, string>> = {}) {
  const config = {
    enabled: 'true',
    vendor: 'other',
    connectionUrl: url,
    bindDn: DIRECTORY_ADMIN.dn,
    bindCredential: DIRECTORY_ADMIN.password,
    authType: 'simple',
    usersDn: 'ou=users,dc=example,dc=org',
    usernameLDAPAttribute: 'uid',
    rdnLDAPAttribute: 'uid',
    uuidLDAPAttribute: 'entryUUID',
    userObjectClasses: 'inetOrgPerson',
    editMode: 'READ_ONLY',
    importEnabled: 'true',
    pagination: 'true',
    ...settings,
  }
  return {
    name: 'directory',
    providerId: 'ldap',
    providerType: 'org.keycloak.storage.UserStorageProvider',
    config: Object.fromEntries(Object.entries(config).map(([name, value]) => [name, [value]])),
  }
}

/** Returns a mapper of the user store with this id. */
export function createMapper(parentId: string, providerId: string, settings: Readonly<Record<string, string>>) {
  return {
    name: providerId,
    providerId,
    parentId,
    providerType: 'org.keycloak.storage.ldap.mappers.LDAPStorageMapper',
    config: Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, [value]])),
  }
}

/** The entries of the directory of recorded exchanges. */
export const RECORDED_ENTRIES = [
  FOLDERS,
  'dn: ou=teams,dc=example,dc=org\nobjectClass: organizationalUnit\nou: teams\n',
  renderUser('ann', ['telephoneNumber: +49 1']),
  ...['bob', 'carla', 'dora'].map((name) => renderUser(name)),
  renderGroup('crew', 'groups', ['uid=ann,ou=users,dc=example,dc=org', 'cn=subcrew,ou=groups,dc=example,dc=org']),
  renderGroup('subcrew', 'groups', ['uid=bob,ou=users,dc=example,dc=org']),
  renderGroup('editor', 'roles', ['uid=ann,ou=users,dc=example,dc=org']),
].join('\n')

const open = (urls: readonly string[]) =>
  openLdapConnection(createOutbound({ development: true }), {
    urls,
    startTls: false,
    connectTimeout: 5000,
    readTimeout: 5000,
  })

/** Runs work on a directory as its administrator. */
export async function changeDirectory<T>(url: string, work: (connection: LdapConnection) => Promise<T>): Promise<T> {
  const connection = await open([url])
  try {
    await connection.bind(DIRECTORY_ADMIN)
    return await work(connection)
  } finally {
    await connection.close()
  }
}

/** Returns the values of the attributes of an entry, by name in lower case; undefined if it does not exist. */
export function readDirectory(url: string, dn: string): Promise<Record<string, string[]> | undefined> {
  return changeDirectory(url, async (connection) => {
    const search = { base: dn, scope: 'base', filter: '(objectClass=*)', attributes: ['*'] } as const
    try {
      for await (const [entry] of connection.search(search)) {
        const values = [...(entry?.attributes ?? [])].map(([name, bytes]) => [name, bytes.map(String)] as const)
        return Object.fromEntries(values)
      }
    } catch (error) {
      if (!(error instanceof LdapError) || error.problem !== 'no such entry') throw error
    }
    return undefined
  })
}

/** Whether a directory accepts the password of an entry. */
export async function acceptsPassword(url: string, dn: string, password: string): Promise<boolean> {
  const connection = await open([url])
  try {
    await connection.bind({ dn, password })
    return true
  } catch {
    return false
  } finally {
    await connection.close()
  }
}

/** Requests tokens with the password of a user. Returns the response. `realm`: the path of the realm in the admin API. */
export async function requestTokens(realm: string, username: string, password: string) {
  const { app } = await testServer()
  return app.inject({
    method: 'POST',
    url: `/realms/${realm.split('/').at(-1)}/protocol/openid-connect/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username, password }).toString(),
  })
}
