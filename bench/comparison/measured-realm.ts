// The realm that is measured, created on each server through the admin API.
import { createProtectedClient } from '../authorization-settings.ts'
import type { AdminClient } from './admin-client.ts'

export const REALM = 'measured'
/** The realm in which objects are created, so that the lists of the other one do not grow. */
export const WRITTEN_REALM = 'written'
export const SIZE = { users: 10_000, groups: 1_000, clients: 300, roles: 1_000 } as const
/** Number of objects of a kind that are read one by one, and of sessions. */
const SAMPLE = 200
const SESSIONS = 16
/** Users in one partial import. */
const CHUNK = 1_000
const PASSWORD = 'a-long-password'
/** The client with a service account, which also requests tokens of users and introspects them. */
export const SERVICE_CLIENT = { client_id: 'service', client_secret: 'service-secret' } as const

/** The ids and tokens of the realm on one server. */
export interface MeasuredRealm {
  readonly userIds: readonly string[]
  readonly clientIds: readonly string[]
  /** The id of the user who has a composite role with all others. */
  readonly userWithRoles: string
  readonly refreshTokens: readonly string[]
  readonly accessToken: string
}

/** Creates the realms; deletes them before if they exist. */
export async function createMeasuredRealm(admin: AdminClient): Promise<MeasuredRealm> {
  const base = `/admin/realms/${REALM}`
  await admin.delete(base)
  await admin.delete(`/admin/realms/${WRITTEN_REALM}`)
  await admin.post('/admin/realms', { realm: WRITTEN_REALM, enabled: true })
  await admin.post('/admin/realms', createRepresentation())
  for (let first = 0; first < SIZE.users; first += CHUNK)
    await admin.post(`${base}/partialImport`, {
      ifResourceExists: 'FAIL',
      users: numbers(CHUNK).map((at) => createUser(first + at)),
    })
  const getIds = async (path: string) => (await admin.get<{ id: string }[]>(`${base}/${path}`)).map(({ id }) => id)
  const sessions: Record<string, unknown>[] = []
  for (const at of numbers(SESSIONS)) {
    const form = { ...SERVICE_CLIENT, grant_type: 'password', scope: 'openid' }
    sessions.push(await admin.requestToken(REALM, { ...form, username: `login-${at}`, password: PASSWORD }))
  }
  return {
    userIds: await getIds(`users?search=user-&first=1000&max=${SAMPLE}`),
    clientIds: await getIds(`clients?search=true&clientId=client-&max=${SAMPLE}`),
    userWithRoles: (await getIds('users?username=many-roles&exact=true'))[0]!,
    refreshTokens: sessions.map(({ refresh_token }) => String(refresh_token)),
    accessToken: String(sessions[0]!.access_token),
  }
}

function createRepresentation(): object {
  const roles = numbers(SIZE.roles).map((at) => ({ name: `role-${at}` }))
  return {
    realm: REALM,
    enabled: true,
    accessTokenLifespan: 36_000,
    ssoSessionIdleTimeout: 36_000,
    roles: {
      realm: [...roles, { name: 'all', composite: true, composites: { realm: roles.map(({ name }) => name) } }],
    },
    groups: numbers(SIZE.groups).map((at) => ({ name: `group-${pad(at)}`, attributes: { number: [String(at)] } })),
    clients: [
      {
        clientId: SERVICE_CLIENT.client_id,
        secret: SERVICE_CLIENT.client_secret,
        publicClient: false,
        serviceAccountsEnabled: true,
        directAccessGrantsEnabled: true,
      },
      createProtectedClient({ client: SERVICE_CLIENT.client_id, roles: roles.map(({ name }) => name) }),
      ...numbers(SIZE.clients).map((at) => ({
        clientId: `client-${at}`,
        name: `Client ${at}`,
        redirectUris: [`https://client-${at}.example.com/callback`, `https://client-${at}.example.com/silent`],
        webOrigins: [`https://client-${at}.example.com`],
        attributes: { 'post.logout.redirect.uris': '+', 'access.token.lifespan': '300' },
      })),
    ],
    users: [
      { username: 'many-roles', enabled: true, realmRoles: ['all'] },
      ...numbers(SESSIONS).map((at) => ({
        username: `login-${at}`,
        enabled: true,
        email: `login-${at}@example.com`,
        emailVerified: true,
        firstName: 'Log',
        lastName: 'In',
        credentials: [{ type: 'password', value: PASSWORD }],
      })),
    ],
  }
}

function createUser(number: number): object {
  return {
    username: `user-${pad(number)}`,
    email: `user-${pad(number)}@example.com`,
    firstName: 'User',
    lastName: `Number ${number}`,
    enabled: true,
    groups: [`/group-${pad(number % SIZE.groups)}`],
    realmRoles: [`role-${number % SIZE.roles}`],
  }
}

function pad(number: number): string {
  return String(number).padStart(5, '0')
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at)
}
