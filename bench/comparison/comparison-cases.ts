// The requests that are measured on both servers, and those that a minimal server answers with the least work.
import { DECIDED_PERMISSION, decisionForm } from '../authorization-settings.ts'
import type { Load } from './load-process.ts'
import { type MeasuredRealm, REALM, SERVICE_CLIENT, WRITTEN_REALM } from './measured-realm.ts'

/** A request of a case. */
export type CaseRequest = Pick<Load, 'path'> & Partial<Pick<Load, 'method' | 'body' | 'items' | 'headers'>>

/** Requests that are measured on each server. */
export interface ComparisonCase {
  readonly name: string
  readonly connections: number
  /** The request to both servers. */
  readonly request: (realm: MeasuredRealm) => CaseRequest
  /** The request to the minimal server. Absent: there is none. */
  readonly bare?: BareRequest
  /** The number of requests in a round that are enough, where the time would allow more. */
  readonly limit?: number
  /** The case whose objects are deleted. */
  readonly deletes?: string
  /** The goal: requests per second as a multiple of Keycloak's, and as a share of those of the minimal server. */
  readonly toReach: { readonly reference?: number; readonly bare?: number }
}

/** A request to the minimal server: rows of Regent's own response, or a fixed path. */
export type BareRequest = { readonly list: string; readonly of: 'rows' | 'list' } | CaseRequest

const ADMIN = `/admin/realms/${REALM}`
const PROTOCOL = `/realms/${REALM}/protocol/openid-connect`
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** The name of created realms. An earlier run that ended early may have left some. */
const NEW_REALM = `new-${Date.now()}-{n}`

const toForm = (fields: Record<string, string>) => new URLSearchParams(fields).toString()

const read = (path: string) => () => ({ path: ADMIN + path })
const readItem = (path: (item: string) => string, items: (realm: MeasuredRealm) => readonly string[]) => {
  return (realm: MeasuredRealm) => ({ path: ADMIN + path('{item}'), items: items(realm) })
}
const create = (path: string, body: object) => () => ({
  method: 'POST' as const,
  path: `/admin/realms/${WRITTEN_REALM}${path}`,
  body: JSON.stringify(body),
})
const createUser = (prefix: string) => {
  const name = `${prefix}-{n}`
  return { username: name, email: `${name}@example.com`, firstName: 'New', lastName: 'User {n}', enabled: true }
}
const createBareUser = (prefix: string): BareRequest => ({
  method: 'POST',
  path: '/users',
  body: JSON.stringify(createUser(prefix)),
})
const bareToken: BareRequest = { method: 'POST', path: '/token', body: '{}' }

const requestToken = (fields: Record<string, string>, items: readonly string[] = [''], name = '') => ({
  method: 'POST' as const,
  path: `${PROTOCOL}/token`,
  headers: FORM,
  body: toForm({ ...SERVICE_CLIENT, ...fields }) + (name && `&${name}={item}`),
  items,
})

/** The cases in their order: reads first, since writes let PostgreSQL clean up for a while. */
export const COMPARISON_CASES: readonly ComparisonCase[] = [
  {
    name: 'user by id',
    connections: 16,
    request: readItem(
      (id) => `/users/${id}`,
      ({ userIds }) => userIds,
    ),
    bare: { list: 'user', of: 'rows' },
    toReach: { reference: 2.5, bare: 0.5 },
  },
  {
    name: 'user count',
    connections: 16,
    request: read('/users/count'),
    toReach: { reference: 2.5 },
  },
  {
    name: 'client by id',
    connections: 16,
    request: readItem(
      (id) => `/clients/${id}`,
      ({ clientIds }) => clientIds,
    ),
    bare: { list: 'client', of: 'rows' },
    toReach: { reference: 2.5, bare: 0.5 },
  },
  {
    name: 'realm by name',
    connections: 16,
    request: read(''),
    bare: { list: 'realm', of: 'rows' },
    toReach: { reference: 2.5, bare: 0.5 },
  },
  {
    name: 'role mappings of a user',
    connections: 16,
    request: readItem(
      (id) => `/users/${id}/role-mappings`,
      ({ userIds }) => userIds,
    ),
    bare: { list: 'mappings', of: 'rows' },
    toReach: { reference: 2.5, bare: 0.5 },
  },
  { name: 'page of 100 users', connections: 16, request: read('/users?max=100'), toReach: { reference: 10 } },
  {
    name: 'search in users',
    connections: 16,
    request: read('/users?search=*0123*&max=20'),
    toReach: { reference: 5 },
  },
  {
    name: 'client list of 300',
    connections: 4,
    request: read('/clients'),
    bare: { list: 'clients', of: 'list' },
    toReach: { bare: 0.5 },
  },
  {
    name: 'all groups of 1,000',
    connections: 4,
    request: read('/groups?briefRepresentation=false'),
    bare: { list: 'groups', of: 'list' },
    toReach: { bare: 0.5 },
  },
  {
    name: 'effective roles of 1,000',
    connections: 4,
    request: readItem(
      (id) => `/users/${id}/role-mappings/realm/composite`,
      ({ userWithRoles }) => [userWithRoles],
    ),
    bare: { list: 'roles', of: 'list' },
    toReach: { bare: 0.5 },
  },
  {
    name: 'partial export',
    connections: 4,
    request: () => ({ method: 'POST', path: `${ADMIN}/partial-export?exportClients=true&exportGroupsAndRoles=true` }),
    bare: { list: 'export', of: 'rows' },
    toReach: { bare: 0.5 },
  },
  {
    name: 'client credentials token',
    connections: 16,
    request: () => requestToken({ grant_type: 'client_credentials' }),
    bare: bareToken,
    toReach: { reference: 2, bare: 0.5 },
  },
  {
    name: 'refresh',
    connections: 16,
    request: ({ refreshTokens }) => requestToken({ grant_type: 'refresh_token' }, refreshTokens, 'refresh_token'),
    bare: bareToken,
    toReach: { reference: 2, bare: 0.5 },
  },
  {
    name: 'introspection',
    connections: 16,
    request: ({ accessToken }) => ({
      method: 'POST',
      path: `${PROTOCOL}/token/introspect`,
      headers: FORM,
      body: toForm({ ...SERVICE_CLIENT, token: accessToken }),
    }),
    toReach: { reference: 2 },
  },
  {
    name: 'userinfo',
    connections: 16,
    request: ({ accessToken }) => ({
      path: `${PROTOCOL}/userinfo`,
      headers: { authorization: `Bearer ${accessToken}` },
    }),
    toReach: { reference: 2 },
  },
  {
    name: 'decision, 1,000 resources',
    connections: 16,
    request: ({ accessToken }) => ({
      method: 'POST',
      path: `${PROTOCOL}/token`,
      headers: { ...FORM, authorization: `Bearer ${accessToken}` },
      body: toForm({ ...decisionForm, permission: DECIDED_PERMISSION }),
    }),
    bare: { method: 'POST', path: '/decision', body: '{}' },
    toReach: { reference: 2, bare: 0.5 },
  },
  {
    name: 'create a user, 1 writer',
    connections: 1,
    request: create('/users', createUser('alone')),
    bare: createBareUser('alone'),
    toReach: { reference: 3 },
  },
  {
    name: 'create a user, 16 writers',
    connections: 16,
    request: create('/users', createUser('together')),
    bare: createBareUser('together'),
    toReach: { reference: 3, bare: 0.3 },
  },
  {
    name: 'create a client',
    connections: 16,
    request: create('/clients', {
      clientId: 'new-{n}',
      enabled: true,
      redirectUris: ['https://new-{n}.example.com/*'],
    }),
    toReach: { reference: 3 },
  },
  {
    name: 'create a role',
    connections: 16,
    request: create('/roles', { name: 'new-{n}' }),
    toReach: { reference: 3 },
  },
  {
    name: 'create a group',
    connections: 16,
    request: create('/groups', { name: 'new-{n}' }),
    toReach: { reference: 3 },
  },
  {
    name: 'update a client',
    connections: 16,
    request: ({ clientIds }) => ({
      method: 'PUT',
      path: `${ADMIN}/clients/{item}`,
      body: JSON.stringify({ description: 'Change {n}' }),
      items: clientIds,
    }),
    toReach: { reference: 3 },
  },
  {
    name: 'create a realm',
    connections: 16,
    limit: 150,
    request: () => ({ method: 'POST', path: '/admin/realms', body: `{"realm":"${NEW_REALM}","enabled":true}` }),
    toReach: {},
  },
  {
    name: 'delete a realm',
    connections: 1,
    deletes: 'create a realm',
    request: () => ({ method: 'DELETE', path: `/admin/realms/${NEW_REALM}` }),
    toReach: {},
  },
]
