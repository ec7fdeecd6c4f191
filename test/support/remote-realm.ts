// A realm of a remote server with an object of every kind. Deleted objects are created again.
import { randomUUID } from 'node:crypto'
import { listParameters } from '../../src/http/operation.ts'
import { findMeaning } from './path-parameters.ts'

/** A response of the server. */
export interface RemoteResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: recorders look into answers of every form
  readonly body: any
  readonly location: string | undefined
}

/** Calls the server as administrator. Bodies are JSON, unless they are texts. */
export type RemoteCall = (method: string, address: string, body?: unknown) => Promise<RemoteResponse>

/** A realm of the server. */
export interface RemoteRealm {
  readonly name: string
  /** Creates missing objects, and the realm if it is missing. */
  ensure(): Promise<void>
  /** Returns the value of a path parameter. */
  value(path: string, parameter: string): string
}

/** The name of all objects of this process. */
export const LABEL = `thing-${randomUUID().slice(0, 8)}`

interface RemoteObject {
  readonly kind: string
  readonly parent?: string
  /** The path at which the object is created, below the realm. */
  readonly list: string
  readonly body: object
  /** The path of the object, if it is known. */
  readonly at?: string
}

const mapper = {
  name: LABEL,
  protocol: 'openid-connect',
  protocolMapper: 'oidc-hardcoded-claim-mapper',
  config: { 'claim.name': 'x', 'claim.value': 'y' },
}
const client = { secret: 'secret', serviceAccountsEnabled: true, authorizationServicesEnabled: true }
const provider = { clientId: 'x', authorizationUrl: 'https://e.example.org/a', tokenUrl: 'https://e.example.org/t' }
const AUTHORIZATION = 'clients/{client-uuid}/authz/resource-server'

/** An object of each kind, in the order of creation. */
const remoteObjects: readonly RemoteObject[] = [
  { kind: 'role', list: 'roles', body: { name: LABEL } },
  { kind: 'clientScope', list: 'client-scopes', body: { name: LABEL, protocol: 'openid-connect' } },
  { kind: 'client', list: 'clients', body: { clientId: LABEL, ...client } },
  { kind: 'role', parent: 'client', list: 'clients/{client-uuid}/roles', body: { name: LABEL } },
  {
    kind: 'protocolMapper',
    parent: 'clientScope',
    list: 'client-scopes/{client-scope-id}/protocol-mappers/models',
    body: mapper,
  },
  { kind: 'protocolMapper', parent: 'client', list: 'clients/{client-uuid}/protocol-mappers/models', body: mapper },
  { kind: 'group', list: 'groups', body: { name: LABEL } },
  {
    kind: 'user',
    list: 'users',
    body: { username: LABEL, enabled: true, credentials: [{ type: 'password', value: 'pw' }] },
  },
  { kind: 'authorizationScope', parent: 'client', list: `${AUTHORIZATION}/scope`, body: { name: LABEL } },
  { kind: 'authorizationResource', parent: 'client', list: `${AUTHORIZATION}/resource`, body: { name: LABEL } },
  {
    kind: 'authorizationPolicy',
    parent: 'client',
    list: `${AUTHORIZATION}/permission/scope`,
    body: { name: LABEL, scopes: [LABEL] },
  },
  {
    kind: 'identityProvider',
    list: 'identity-provider/instances',
    body: { alias: LABEL, providerId: 'oidc', config: provider },
  },
  {
    kind: 'identityProviderMapper',
    list: 'identity-provider/instances/{alias}/mappers',
    body: {
      name: LABEL,
      identityProviderAlias: LABEL,
      identityProviderMapper: 'hardcoded-attribute-idp-mapper',
      config: {},
    },
  },
  {
    kind: 'authenticationFlow',
    list: 'authentication/flows',
    body: { alias: LABEL, providerId: 'basic-flow', topLevel: true },
  },
  {
    kind: 'execution',
    list: 'authentication/flows/{flowAlias}/executions/execution',
    body: { provider: 'identity-provider-redirector' },
  },
  {
    kind: 'authenticatorConfig',
    list: 'authentication/executions/{executionId}/config',
    body: { alias: LABEL, config: { defaultProvider: LABEL } },
  },
  {
    kind: 'requiredAction',
    list: 'authentication/register-required-action',
    body: { providerId: 'VERIFY_EMAIL', name: 'Verify Email' },
    at: 'authentication/required-actions/VERIFY_EMAIL',
  },
  { kind: 'organization', list: 'organizations', body: { name: LABEL, domains: [{ name: `${LABEL}.example.org` }] } },
  {
    kind: 'organizationGroup',
    parent: 'organization',
    list: 'organizations/{org-id}/groups',
    body: { name: LABEL },
  },
  {
    kind: 'component',
    list: 'components',
    body: { name: LABEL, providerType: 'org.keycloak.keys.KeyProvider', providerId: 'hmac-generated' },
  },
  {
    kind: 'workflow',
    list: 'workflows',
    body: { name: LABEL, on: 'user_created', steps: [{ uses: 'disable-user', after: 'P1D' }] },
  },
]

/** Settings that the objects require. */
const asks = { organizationsEnabled: true, accessTokenLifespan: 3600 }

type Relation = readonly [method: string, path: string, body?: unknown]
const USER_ID = '{user-id}'

/** Requests that relate objects, or create things that are no objects of their own. They are idempotent. */
const relations: readonly Relation[] = [
  ['PUT', 'default-groups/{groupId}'],
  ['PUT', 'users/{user-id}/groups/{groupId}'],
  ['PUT', 'users/{user-id}/reset-password', { type: 'password', value: 'pw' }],
  ['POST', 'users/{user-id}/federated-identity/{provider}', { userId: LABEL, userName: LABEL }],
  ['POST', 'organizations/{org-id}/members', USER_ID],
  ['PUT', 'organizations/{org-id}/groups/{group-id}/members/{userId}'],
  ['POST', 'organizations/{org-id}/identity-providers', LABEL],
  ['POST', 'clients/{client-uuid}/nodes', { node: LABEL }],
  ['PUT', 'localization/{locale}/{key}', 'Hello'],
]

const rotating = { name: LABEL, executors: [{ executor: 'secret-rotation', configuration: {} }] }
const always = { name: LABEL, enabled: true, conditions: [{ condition: 'any-client' }], profiles: [LABEL] }

/** Requests that give the client a rotated secret. */
const settings: readonly Relation[] = [
  ['PUT', 'client-policies/profiles', { profiles: [rotating] }],
  ['PUT', 'client-policies/policies', { policies: [always] }],
  ['POST', 'clients/{client-uuid}/client-secret'],
]

/** Returns a realm that has an object of every kind after `ensure`. */
export function createRemoteRealm(call: RemoteCall, name: string): RemoteRealm {
  const created = new Map<RemoteObject, { readonly id: string; readonly at: string }>()
  let credential: string | undefined
  const below = (path: string) => `/admin/realms/{realm}/${path}`
  const realm: RemoteRealm = {
    name,
    value(path, parameter) {
      const meaning = findMeaning(path, parameter)
      // An unknown parameter addresses nothing.
      if (!meaning) return 'nothing'
      if (parameter === 'realm') return name
      if ('fixed' in meaning) return meaning.fixed
      if (meaning.by === 'name') return meaning.kind === 'requiredAction' ? 'VERIFY_EMAIL' : LABEL
      if ('list' in meaning) {
        const object = remoteObjects.find(({ list }) => list.startsWith(meaning.list))
        return (object ? created.get(object)?.id : credential) ?? 'nothing'
      }
      const through = listParameters(path).map((name) => {
        const of = findMeaning(path, name)
        return of && 'kind' in of ? of.kind : undefined
      })
      const candidates = remoteObjects.filter(({ kind }) => kind === meaning.kind)
      const object = candidates.find(({ parent }) => parent !== undefined && through.includes(parent)) ?? candidates[0]
      return (object && created.get(object)?.id) ?? 'nothing'
    },
    async ensure() {
      if ((await call('GET', `/admin/realms/${name}`)).status === 404) {
        created.clear()
        await demand('POST', '/admin/realms', { realm: name, enabled: true })
      }
      const exists = await Promise.all(remoteObjects.map(isThere))
      if (!exists.some(Boolean)) await demand('PUT', `/admin/realms/${name}`, asks)
      for (const [at, object] of remoteObjects.entries()) if (!exists[at]) await make(object)
      const client = remoteObjects.findIndex(({ kind }) => kind === 'client')
      for (const relation of exists[client] ? [] : settings) await say(relation)
      for (const relation of relations) await say(relation)
      const { body } = await call('GET', toAddress(realm, below('users/{user-id}/credentials')))
      credential = body[0].id
    },
  }

  async function say([method, path, body]: Relation): Promise<void> {
    const user = realm.value(below('users/{user-id}'), 'user-id')
    await call(method, toAddress(realm, below(path)), body === USER_ID ? user : body)
  }

  async function demand(method: string, address: string, body: object): Promise<RemoteResponse> {
    const response = await call(method, address, body)
    if (response.status >= 400)
      throw new Error(`${method} ${address}: ${response.status} ${JSON.stringify(response.body)}`)
    return response
  }

  async function isThere(object: RemoteObject): Promise<boolean> {
    const at = created.get(object)?.at
    return at !== undefined && (await call('GET', at)).status === 200
  }

  async function make(object: RemoteObject): Promise<void> {
    const address = toAddress(realm, below(object.list))
    const at = object.at && toAddress(realm, below(object.at))
    if (at && (await call('GET', at)).status === 200) return void created.set(object, { id: 'nothing', at })
    const response = await demand('POST', address, object.body)
    const id = response.body?.id ?? response.body?._id
    const place = at ?? (id === undefined ? new URL(response.location!).pathname : `${address}/${id}`)
    created.set(object, { id: id ?? (await call('GET', place)).body.id, at: place })
  }

  return realm
}

/** Returns the address of a path in the realm. */
export function toAddress({ value }: RemoteRealm, path: string): string {
  return path.replace(/\{([^}]+)\}/g, (_, parameter) => encodeURIComponent(value(path, parameter)))
}
