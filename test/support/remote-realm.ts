// A realm of a server that is asked over the network, with an object of every kind: what is gone is made again.
import { randomUUID } from 'node:crypto'
import { paramsOf } from '../../src/http/operation.ts'
import { findMeaning } from './parameters.ts'

/** What a server answered. */
export interface RemoteResponse {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: recorders look into answers of every form
  readonly body: any
  readonly location: string | undefined
}

/** Calls the server as its administrator; addresses begin at its root. A body is JSON, unless it is a text. */
export type RemoteCall = (method: string, address: string, body?: unknown) => Promise<RemoteResponse>

/** A realm of that server. */
export interface RemoteRealm {
  readonly name: string
  /** Makes what is not there, the realm too. */
  ensure(): Promise<void>
  /** What stands in a path for one of its parameters. */
  value(path: string, parameter: string): string
}

/** What everything there is called, by this process. */
export const LABEL = `thing-${randomUUID().slice(0, 8)}`

interface RemoteObject {
  readonly what: string
  readonly parent?: string
  /** Where it is made, below the realm. */
  readonly list: string
  readonly body: object
  /** Where it is read, if that is known beforehand. */
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

/** One of each kind, in an order in which they can be made. */
const remoteObjects: readonly RemoteObject[] = [
  { what: 'role', list: 'roles', body: { name: LABEL } },
  { what: 'clientScope', list: 'client-scopes', body: { name: LABEL, protocol: 'openid-connect' } },
  { what: 'client', list: 'clients', body: { clientId: LABEL, ...client } },
  { what: 'role', parent: 'client', list: 'clients/{client-uuid}/roles', body: { name: LABEL } },
  {
    what: 'protocolMapper',
    parent: 'clientScope',
    list: 'client-scopes/{client-scope-id}/protocol-mappers/models',
    body: mapper,
  },
  { what: 'protocolMapper', parent: 'client', list: 'clients/{client-uuid}/protocol-mappers/models', body: mapper },
  { what: 'group', list: 'groups', body: { name: LABEL } },
  {
    what: 'user',
    list: 'users',
    body: { username: LABEL, enabled: true, credentials: [{ type: 'password', value: 'pw' }] },
  },
  { what: 'authorizationScope', parent: 'client', list: `${AUTHORIZATION}/scope`, body: { name: LABEL } },
  { what: 'authorizationResource', parent: 'client', list: `${AUTHORIZATION}/resource`, body: { name: LABEL } },
  {
    what: 'authorizationPolicy',
    parent: 'client',
    list: `${AUTHORIZATION}/permission/scope`,
    body: { name: LABEL, scopes: [LABEL] },
  },
  {
    what: 'identityProvider',
    list: 'identity-provider/instances',
    body: { alias: LABEL, providerId: 'oidc', config: provider },
  },
  {
    what: 'identityProviderMapper',
    list: 'identity-provider/instances/{alias}/mappers',
    body: {
      name: LABEL,
      identityProviderAlias: LABEL,
      identityProviderMapper: 'hardcoded-attribute-idp-mapper',
      config: {},
    },
  },
  {
    what: 'authenticationFlow',
    list: 'authentication/flows',
    body: { alias: LABEL, providerId: 'basic-flow', topLevel: true },
  },
  {
    what: 'execution',
    list: 'authentication/flows/{flowAlias}/executions/execution',
    body: { provider: 'identity-provider-redirector' },
  },
  {
    what: 'authenticatorConfig',
    list: 'authentication/executions/{executionId}/config',
    body: { alias: LABEL, config: { defaultProvider: LABEL } },
  },
  {
    what: 'requiredAction',
    list: 'authentication/register-required-action',
    body: { providerId: 'VERIFY_EMAIL', name: 'Verify Email' },
    at: 'authentication/required-actions/VERIFY_EMAIL',
  },
  { what: 'organization', list: 'organizations', body: { name: LABEL, domains: [{ name: `${LABEL}.example.org` }] } },
  {
    what: 'component',
    list: 'components',
    body: { name: LABEL, providerType: 'org.keycloak.keys.KeyProvider', providerId: 'hmac-generated' },
  },
  {
    what: 'workflow',
    list: 'workflows',
    body: { name: LABEL, on: 'user_created', steps: [{ uses: 'disable-user', after: 'P1D' }] },
  },
]

/** What the realm must say for that. */
const asks = { organizationsEnabled: true, accessTokenLifespan: 3600 }

type Relation = readonly [method: string, path: string, body?: unknown]
const THE_PERSON = '{user-id}'

/** How things hang together, and what is no object by itself; said again it changes nothing. */
const relations: readonly Relation[] = [
  ['PUT', 'default-groups/{groupId}'],
  ['PUT', 'users/{user-id}/groups/{groupId}'],
  ['PUT', 'users/{user-id}/reset-password', { type: 'password', value: 'pw' }],
  ['POST', 'users/{user-id}/federated-identity/{provider}', { userId: LABEL, userName: LABEL }],
  ['POST', 'organizations/{org-id}/members', THE_PERSON],
  ['POST', 'organizations/{org-id}/identity-providers', LABEL],
  ['POST', 'clients/{client-uuid}/nodes', { node: LABEL }],
  ['PUT', 'localization/{locale}/{key}', 'Hello'],
]

const rotating = { name: LABEL, executors: [{ executor: 'secret-rotation', configuration: {} }] }
const always = { name: LABEL, enabled: true, conditions: [{ condition: 'any-client' }], profiles: [LABEL] }

/** A client that has a secret of before. */
const settings: readonly Relation[] = [
  ['PUT', 'client-policies/profiles', { profiles: [rotating] }],
  ['PUT', 'client-policies/policies', { policies: [always] }],
  ['POST', 'clients/{client-uuid}/client-secret'],
]

/** A realm there with an object of every kind, once `ensure` was called. */
export function createRemoteRealm(call: RemoteCall, name: string): RemoteRealm {
  const known = new Map<RemoteObject, { readonly id: string; readonly at: string }>()
  let credential: string | undefined
  const below = (path: string) => `/admin/realms/{realm}/${path}`
  const realm: RemoteRealm = {
    name,
    value(path, parameter) {
      const meaning = findMeaning(path, parameter)
      // What is not known yet stands for nothing that is there.
      if (!meaning) return 'nothing'
      if (parameter === 'realm') return name
      if ('fixed' in meaning) return meaning.fixed
      if (meaning.by === 'name') return meaning.what === 'requiredAction' ? 'VERIFY_EMAIL' : LABEL
      if ('listed' in meaning) {
        const thing = remoteObjects.find(({ list }) => list.startsWith(meaning.listed))
        return (thing ? known.get(thing)?.id : credential) ?? 'nothing'
      }
      const through = paramsOf(path).map((one) => {
        const of = findMeaning(path, one)
        return of && 'what' in of ? of.what : undefined
      })
      const own = remoteObjects.filter(({ what }) => what === meaning.what)
      const thing = own.find(({ parent }) => parent !== undefined && through.includes(parent)) ?? own[0]
      return (thing && known.get(thing)?.id) ?? 'nothing'
    },
    async ensure() {
      if ((await call('GET', `/admin/realms/${name}`)).status === 404) {
        known.clear()
        await demand('POST', '/admin/realms', { realm: name, enabled: true })
      }
      const there = await Promise.all(remoteObjects.map(isThere))
      if (!there.some(Boolean)) await demand('PUT', `/admin/realms/${name}`, asks)
      for (const [at, thing] of remoteObjects.entries()) if (!there[at]) await make(thing)
      const client = remoteObjects.findIndex(({ what }) => what === 'client')
      for (const relation of there[client] ? [] : settings) await say(relation)
      await Promise.all(relations.map(say))
      const { body } = await call('GET', toAddress(realm, below('users/{user-id}/credentials')))
      credential = body[0].id
    },
  }

  async function say([method, path, body]: Relation): Promise<void> {
    const person = realm.value(below('users/{user-id}'), 'user-id')
    await call(method, toAddress(realm, below(path)), body === THE_PERSON ? person : body)
  }

  async function demand(method: string, address: string, body: object): Promise<RemoteResponse> {
    const answer = await call(method, address, body)
    if (answer.status >= 400) throw new Error(`${method} ${address}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer
  }

  async function isThere(thing: RemoteObject): Promise<boolean> {
    const at = known.get(thing)?.at
    return at !== undefined && (await call('GET', at)).status === 200
  }

  async function make(thing: RemoteObject): Promise<void> {
    const address = toAddress(realm, below(thing.list))
    const at = thing.at && toAddress(realm, below(thing.at))
    if (at && (await call('GET', at)).status === 200) return void known.set(thing, { id: 'nothing', at })
    const made = await demand('POST', address, thing.body)
    const own = made.body?.id ?? made.body?._id
    const place = at ?? (own === undefined ? new URL(made.location!).pathname : `${address}/${own}`)
    known.set(thing, { id: own ?? (await call('GET', place)).body.id, at: place })
  }

  return realm
}

/** The address that a path is in the realm. */
export function toAddress({ value }: RemoteRealm, path: string): string {
  return path.replace(/\{([^}]+)\}/g, (_, parameter) => encodeURIComponent(value(path, parameter)))
}
