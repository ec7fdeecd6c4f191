// Compares decisions: random authorization settings are imported into a client, and evaluated for random requests. Those of Regent must be the
// same by the evaluation of administrators, by the grant for permissions, and by a ticket of the protection API. With --reference, the settings
// are imported into Keycloak too, and the evaluations and grants of both servers must be the same. Regent runs on an embedded store of its own.
// Reports each difference with what is needed to repeat it.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import {
  isList,
  type Json,
  type Representation,
  readObject,
  readObjects,
  readText,
  readTexts,
} from '../src/kinds/json.ts'
import { writeAuthorizationSettings } from '../src/realm-file/formats/authorization-settings.ts'
import type { NamedResource } from '../src/service/policy-evaluation/access-requests.ts'
import {
  type GeneratedRequest,
  type GeneratedSettings,
  type GeneratedTicket,
  generatedRequest,
  generatedSettings,
  generatedTickets,
  universe,
} from '../test/support/generated-authorization.ts'

const USAGE =
  'Usage: npm run campaign:authorization -- [--reference URL] [--server URL] [--settings N] [--requests N] [--seed N]'

const { values } = parseArgs({
  options: {
    reference: { type: 'string' },
    server: { type: 'string' },
    settings: { type: 'string', default: '200' },
    requests: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
if (!Number(values.settings) || !Number(values.requests)) throw new Error(USAGE)

/** A server with a realm that has the objects of the universe. */
class CampaignServer {
  readonly #url: string
  #token = { text: '', at: 0 }
  /** Ids by kind and name. */
  readonly ids = new Map<string, string>()
  readonly realm = `campaign-${Date.now()}`

  constructor(url: string) {
    this.#url = url
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Representation; id: string }> {
    if (Date.now() - this.#token.at > 30_000) this.#token = { text: await this.#logIn(), at: Date.now() }
    const response = await fetch(`${this.#url}/admin/realms${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#token.text}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await response.text()
    const id = response.headers.get('location')?.split('/').at(-1) ?? ''
    return { status: response.status, body: text ? JSON.parse(text) : {}, id }
  }

  /** Requests a token; a list is a repeated parameter. Without `authorization`, the form has the client. */
  async post(form: Readonly<Record<string, string | readonly string[]>>, authorization?: string): Promise<unknown> {
    const fields = Object.entries(form).flatMap(([name, value]) => [value].flat().map((text) => [name, String(text)]))
    const body = new URLSearchParams()
    for (const [name, text] of fields) body.append(name!, text!)
    const response = await fetch(`${this.#url}/realms/${this.realm}/protocol/openid-connect/token`, {
      method: 'POST',
      headers: { ...(authorization && { authorization }) },
      body,
    })
    return JSON.parse(await response.text())
  }

  /** Access tokens by user and client. */
  readonly #tokens = new Map<string, string>()

  /** Returns an access token of a user at a client; at the client with the settings if none is given. */
  async #getToken(user: string, client = 'archive'): Promise<string> {
    const key = `${user} ${client}`
    const secret: Record<string, string> = client === 'archive' ? { client_secret: 'archive' } : {}
    const login = { grant_type: 'password', client_id: client, ...secret, username: user, password: user }
    const existing = this.#tokens.get(key)
    if (existing) return existing
    const { access_token: token } = readObject((await this.post(login)) as Json)
    if (typeof token !== 'string') throw new Error(`${this.#url}: ${key} cannot log in`)
    this.#tokens.set(key, token)
    return token
  }

  /** Forgets the tokens of the client with the settings, which is deleted. */
  forgetArchive(): void {
    for (const key of this.#tokens.keys()) if (key.endsWith(' archive')) this.#tokens.delete(key)
  }

  /** Returns the permissions that the grant gives for a request; with `ticket`, by a ticket of the protection API. */
  async requestPermissions(
    request: GeneratedRequest,
    { permissions, byTicket }: { readonly permissions: readonly NamedPermission[]; readonly byTicket: boolean },
  ): Promise<Json> {
    const token = await this.#getToken(request.user, request.client)
    const claims = Object.entries(request.attributes).filter(([name]) => !name.startsWith('kc.'))
    const pushed = Object.fromEntries(claims.map(([name, value]) => [name, value.split(',')]))
    const parameters = byTicket
      ? { ticket: await this.#createTicket(permissions), submit_request: 'false' }
      : { audience: 'archive', permission: permissions.map(toParameter) }
    const granted = await this.post(
      {
        grant_type: 'urn:ietf:params:oauth:grant-type:uma-ticket',
        response_mode: 'permissions',
        subject_token: token,
        claim_token: Buffer.from(JSON.stringify(pushed)).toString('base64'),
        claim_token_format: 'urn:ietf:params:oauth:token-type:jwt',
        ...parameters,
      },
      ARCHIVE,
    )
    return toComparablePermissions(granted as Json)
  }

  async #createTicket(permissions: readonly NamedPermission[]): Promise<string> {
    const body = permissions.map(({ resource, scopes }) => ({
      ...(resource !== undefined && { resource_id: resource }),
      resource_scopes: scopes,
    }))
    return String((await this.#protect('permission', body)).ticket)
  }

  /** Grants tickets as the client with the resources. */
  async grantTickets(tickets: readonly GeneratedTicket[]): Promise<void> {
    for (const { resource, scope, requester } of tickets)
      await this.#protect('permission/ticket', {
        resource: this.ids.get(resource),
        scopeName: scope,
        requesterName: requester,
        granted: true,
      })
  }

  /** Sends a request to the protection API. */
  async #protect(path: string, body: object): Promise<Representation> {
    const { access_token: token } = readObject((await this.post({ grant_type: 'client_credentials' }, ARCHIVE)) as Json)
    const response = await fetch(`${this.#url}/realms/${this.realm}/authz/protection/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${this.#url} ${path} ${JSON.stringify(body)}: ${text}`)
    return readObject(JSON.parse(text))
  }

  /** Returns the permissions in the evaluation for a user with a token of their own: without roles that the token lacks, and at this time. */
  async evaluatePermissions(address: string, request: GeneratedRequest, settings: GeneratedSettings): Promise<Json> {
    const attributes = Object.entries(request.attributes).filter(([name]) => !name.startsWith('kc.'))
    const body = this.#toEvaluation({ ...request, roles: [], attributes: Object.fromEntries(attributes) }, settings)
    const response = await this.call('POST', `${address}/authz/resource-server/policy/evaluate`, {
      ...body,
      userId: request.user,
    })
    return toComparablePermissions(readObject(readObject(response.body.rpt).authorization).permissions ?? null)
  }

  /** Returns the requested resources as permissions, with ids of this server; undefined if a grant names them differently. */
  toPermissions({ resources }: GeneratedRequest, settings: GeneratedSettings): NamedPermission[] | undefined {
    const permissions = resources.map(({ id, name, type, scopes }) =>
      toPermission(this.ids, settings, { id, name, type, scopes }),
    )
    return permissions.includes(undefined) ? undefined : permissions.filter((permission) => permission !== undefined)
  }

  async create(path: string, body: unknown): Promise<string> {
    const response = await this.call('POST', path, body)
    if (response.status >= 300)
      throw new Error(`${this.#url} ${path}: ${response.status} ${JSON.stringify(response.body)}`)
    return response.id
  }

  async #logIn(): Promise<string> {
    const login = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }
    const path = '/realms/master/protocol/openid-connect/token'
    const response = await fetch(`${this.#url}${path}`, { method: 'POST', body: new URLSearchParams(login) })
    const body: Representation = JSON.parse(await response.text())
    return String(body.access_token)
  }

  /** Creates the realm. Mia leads, Noel keeps by a composite role and by a group, and Otto visits. */
  async createRealm(): Promise<void> {
    const groupMapper = (full: boolean) => ({
      name: 'groups',
      protocol: 'openid-connect',
      protocolMapper: 'oidc-group-membership-mapper',
      config: { 'claim.name': 'groups', 'full.path': String(full), 'access.token.claim': 'true' },
    })
    await this.create('', {
      realm: this.realm,
      enabled: true,
      accessTokenLifespan: 3600,
      roles: {
        realm: [
          { name: 'reader' },
          { name: 'keeper', composite: true, composites: { realm: ['reader'] } },
          { name: 'lead' },
        ],
        client: { other: [{ name: 'use' }] },
      },
      groups: [
        { name: 'staff', realmRoles: ['keeper'], subGroups: [{ name: 'night', clientRoles: { other: ['use'] } }] },
        { name: 'visitors' },
      ],
      clients: [
        { clientId: 'other' },
        { ...publicClient('web'), fullScopeAllowed: true, protocolMappers: [groupMapper(true)] },
        { ...publicClient('narrow'), fullScopeAllowed: false, protocolMappers: [groupMapper(false)] },
      ],
      users: [
        {
          ...user('mia'),
          email: 'mia@example.org',
          realmRoles: ['lead'],
          clientRoles: { other: ['use'] },
        },
        { ...user('noel'), email: 'noel@example.com', groups: ['/staff/night'] },
        { ...user('otto'), email: 'otto@example.net', realmRoles: ['reader'], groups: ['/visitors'] },
      ],
    })
    for (const username of universe.users) await this.#find('users', 'username', username)
    for (const clientId of universe.clients) await this.#find('clients', 'clientId', clientId)
  }

  async #find(path: string, field: string, name: string): Promise<void> {
    const { body } = await this.call('GET', `/${this.realm}/${path}?${field}=${name}&exact=true`)
    this.ids.set(name, String(readObjects(body)[0]!.id))
  }

  /** Creates a client with settings. Returns its address. */
  async createClient(settings: GeneratedSettings): Promise<string> {
    const client = await this.create(`/${this.realm}/clients`, {
      clientId: 'archive',
      secret: 'archive',
      directAccessGrantsEnabled: true,
      serviceAccountsEnabled: true,
      authorizationServicesEnabled: true,
    })
    const address = `/${this.realm}/clients/${client}`
    const { imported, created } = toDocuments(settings)
    await this.create(`${address}/authz/resource-server/import`, imported)
    for (const { _id, name } of readObjects((await this.call('GET', `${address}/authz/resource-server/resource`)).body))
      this.ids.set(String(name), String(_id))
    for (const { type, ...permission } of created) {
      const { policies } = permission
      const ids = await Promise.all(readTexts(policies).map((name) => this.#findPolicy(address, name)))
      const resources = readTexts(permission.resources).map((name) => this.ids.get(name)!)
      await this.create(`${address}/authz/resource-server/permission/${type}`, {
        ...permission,
        policies: ids,
        resources,
      })
    }
    return address
  }

  async #findPolicy(address: string, name: string): Promise<string> {
    const { body } = await this.call(
      'GET',
      `${address}/authz/resource-server/policy/search?name=${encodeURIComponent(name)}`,
    )
    return String(body.id)
  }

  async evaluate(address: string, request: GeneratedRequest, settings: GeneratedSettings): Promise<Comparable> {
    const body = this.#toEvaluation(request, settings)
    const response = await this.call('POST', `${address}/authz/resource-server/policy/evaluate`, body)
    return response.status === 200 ? toComparable(response.body) : { status: response.status }
  }

  #toEvaluation(request: GeneratedRequest, settings: GeneratedSettings): object {
    const names = new Map(settings.resources.map(({ id, name }) => [id, name]))
    return {
      userId: this.ids.get(request.user),
      clientId: request.client === undefined ? undefined : this.ids.get(request.client),
      roleIds: request.roles,
      resources: request.resources.map(({ id, scopes, ...rest }) => ({
        ...rest,
        ...(id !== undefined && { _id: this.ids.get(names.get(id)!) }),
        scopes: scopes.map((name) => ({ name })),
      })),
      context: { attributes: request.attributes },
    }
  }
}

const ARCHIVE = `Basic ${Buffer.from('archive:archive').toString('base64')}`

const publicClient = (clientId: string) => ({ clientId, publicClient: true, directAccessGrantsEnabled: true })

const user = (username: string) => ({
  ...{ username, enabled: true, firstName: username, lastName: 'Doe' },
  credentials: [{ type: 'password', value: username }],
})

/** A permission as the grant and tickets name it. */
interface NamedPermission {
  /** Id, name or type. */
  readonly resource?: string
  readonly scopes: readonly string[]
}

const toParameter = ({ resource = '', scopes }: NamedPermission): string =>
  scopes.length ? `${resource}#${scopes.join(',')}` : resource

/**
 * Returns a requested resource as a permission; undefined if a grant refuses what evaluation ignores: scopes that a resource does not have, and
 * names of resources of users.
 */
function toPermission(
  ids: ReadonlyMap<string, string>,
  { resources }: GeneratedSettings,
  { id, name, type, scopes }: NamedResource,
): NamedPermission | undefined {
  const ofServer = resources.filter(({ owner }) => owner === undefined)
  const hasScopes = (resource: GeneratedSettings['resources'][number]) => {
    const isOfType = resource.owner !== undefined && resource.type !== undefined
    const related = isOfType ? ofServer.filter((other) => other.type === resource.type) : []
    const available = [resource, ...related].flatMap((other) => other.scopes)
    return !scopes.length || scopes.every((scope) => available.includes(scope))
  }
  if (type !== undefined) {
    const ofType = ofServer.filter((resource) => resource.type === type)
    return ofType.length && ofType.every(hasScopes) ? { resource: `resource-type:${type}`, scopes } : undefined
  }
  if (id === undefined && name === undefined) return { scopes }
  const resource = resources.find((candidate) => candidate.id === id || candidate.name === name)
  if (!resource || !hasScopes(resource) || (name !== undefined && resource.owner !== undefined)) return undefined
  return { resource: name ?? ids.get(resource.name)!, scopes }
}

/** Returns permissions by the names of their resources, in any order; the error if there are none. */
function toComparablePermissions(granted: Json): Json {
  if (!isList(granted)) return readObject(granted).error === 'access_denied' ? [] : (granted ?? [])
  const permissions = readObjects(granted).map(({ rsname = null, scopes }) =>
    JSON.stringify({ rsname, scopes: [...readTexts(scopes)].sort() }),
  )
  return permissions.sort()
}

/** A response without ids and without order. */
type Comparable = Representation

/**
 * Returns the settings as an import of Keycloak, without the permissions that it does not import: those on resources of users, which
 * only REST creates.
 */
function toDocuments({ enforcementMode, decisionStrategy, resources, scopes, policies }: GeneratedSettings) {
  const owned = new Set(resources.flatMap(({ name, owner }) => (owner === undefined ? [] : [name])))
  const isOnOwned = ({ fields }: GeneratedSettings['policies'][number]) =>
    (fields.resources ?? []).some((name) => owned.has(name))
  const toRepresentation = (value: unknown): Representation => JSON.parse(JSON.stringify(value))
  const imported = writeAuthorizationSettings({
    authorizationSettings: {
      allowRemoteResourceManagement: true,
      policyEnforcementMode: enforcementMode,
      decisionStrategy,
    },
    authorizationScopes: scopes.map(({ name }) => ({ name })),
    authorizationResources: resources.map(({ name, type, owner, isOwnerManaged, scopes: names }) =>
      toRepresentation({ name, type, owner, ownerManagedAccess: isOwnerManaged, scopes: names }),
    ),
    authorizationPolicies: policies
      .filter((policy) => !isOnOwned(policy))
      .map(({ name, fields }) => toRepresentation({ name, ...fields })),
  })
  const created = policies
    .filter((policy) => isOnOwned(policy) && policy.fields.type !== 'uma')
    .map(({ name, fields }) => toRepresentation({ name, ...fields }))
  return { imported, created }
}

function toComparable({ status, results, rpt }: Representation): Comparable {
  const byName = (list: readonly Representation[]) =>
    [...list].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  const toNames = (list: readonly Representation[]) => list.map(({ name }) => String(name)).sort()
  const isAnyResource = (name: unknown) => String(name).startsWith('Any Resource')
  const { permissions } = readObject(readObject(rpt).authorization)
  const allowedByResource = new Map(
    readObjects(results).map(({ resource, allowedScopes }) => [
      readObject(resource)._id,
      toNames(readObjects(allowedScopes)),
    ]),
  )
  // Keycloak: a permission of an owner adds scopes to the token that are not requested, and not in the result either.
  const listScopes = ({ rsid, scopes }: Representation) =>
    readTexts(scopes).filter((scope) => rsid === undefined || allowedByResource.get(rsid)?.includes(scope))
  return {
    status: status!,
    results: byName(
      readObjects(results)
        .filter(({ resource }) => !isAnyResource(readObject(resource).name))
        .map((result) => ({
          resource: String(readObject(result.resource).name).replace(/ with scopes .*/, ''),
          status: result.status!,
          scopes: toNames(readObjects(result.scopes)),
          allowed: toNames(readObjects(result.allowedScopes)),
          policies: byName(readObjects(result.policies).map(toComparableResult)),
        })),
    ),
    granted: byName(
      readObjects(permissions).map((permission) => ({
        resource: permission.rsname ?? null,
        scopes: listScopes(permission).sort(),
      })),
    ),
  }
}

function toComparableResult({ policy, status, scopes, associatedPolicies }: Representation): Representation {
  return {
    name: readText(readObject(policy).name)!,
    status: status!,
    scopes: [...readTexts(scopes)].sort(),
    policies: readObjects(associatedPolicies)
      .map((result) => JSON.stringify(toComparableResult(result)))
      .sort(),
  }
}

/** Returns comparable permissions with those of their scopes that are requested, or are scopes of the resource if none are. */
function limitScopes(permissions: Json, { resources }: GeneratedSettings, request: GeneratedRequest): string[] {
  const requested = request.resources.flatMap(({ scopes }) => scopes)
  return readTexts(permissions).map((permission) => {
    const { rsname, scopes } = readObject(JSON.parse(permission))
    const { type, scopes: ofResource = [] } = resources.find(({ name }) => name === rsname) ?? {}
    const ofType = resources.filter((other) => type !== undefined && other.owner === undefined && other.type === type)
    const available = [...ofResource, ...ofType.flatMap((other) => other.scopes)]
    const limit = requested.length ? requested : available
    return JSON.stringify({ rsname, scopes: readTexts(scopes).filter((scope) => limit.includes(scope)) })
  })
}

/** Starts a server with a new store. Returns its URL, and how to stop it. */
async function startRegent(): Promise<{ url: string; stop: () => void }> {
  const data = mkdtempSync(join(tmpdir(), 'regent-campaign-'))
  const server = spawn(process.execPath, ['src/main.ts', 'serve', '--port', '0', '--data', data], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    server.stdout.on('data', (chunk) => {
      output += chunk
      const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(output) ?? []
      if (address) resolve(address)
    })
    server.on('exit', () => reject(new Error(output)))
  })
  return {
    url,
    stop: () => {
      server.kill()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

const regentServer = values.server ? { url: values.server, stop: () => {} } : await startRegent()
const regent = new CampaignServer(regentServer.url)
const reference = values.reference ? new CampaignServer(values.reference) : undefined
const servers = [regent, ...(reference ? [reference] : [])]
const seed = Number(values.seed)
const counts = { requests: 0, differences: 0, granted: 0, disagreements: 0 }

const report = (kind: 'differences' | 'disagreements', details: object): void => {
  counts[kind] += 1
  console.log(JSON.stringify({ kind, seed, ...details }))
}

/** Compares the evaluations of both servers. */
async function compareServers(addresses: readonly string[], request: GeneratedRequest, settings: GeneratedSettings) {
  if (!reference) return
  const [actual, expected] = await Promise.all([
    regent.evaluate(addresses[0]!, request, settings),
    reference.evaluate(addresses[1]!, request, settings),
  ])
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    report('differences', { settings, request, expected, actual })
}

/** Compares the permissions that Regent grants in each way, and those of Keycloak by the grant. */
async function compareWays(
  address: string,
  request: GeneratedRequest,
  { settings, tickets }: { readonly settings: GeneratedSettings; readonly tickets: readonly GeneratedTicket[] },
) {
  const permissions = regent.toPermissions(request, settings)
  if (!permissions) return
  counts.granted += 1
  const canHaveTicket =
    permissions.length > 0 && !permissions.some(({ resource }) => resource?.startsWith('resource-type:'))
  const [evaluated, granted, byTicket, ofReference] = await Promise.all([
    regent.evaluatePermissions(address, request, settings),
    regent.requestPermissions(request, { permissions, byTicket: false }),
    canHaveTicket ? regent.requestPermissions(request, { permissions, byTicket: true }) : undefined,
    reference?.requestPermissions(request, {
      permissions: reference.toPermissions(request, settings)!,
      byTicket: false,
    }),
  ])
  const isSame = (other: Json | undefined) => other === undefined || JSON.stringify(other) === JSON.stringify(granted)
  if (!isSame(evaluated) || !isSame(byTicket))
    report('disagreements', { settings, tickets, request, evaluated, granted, byTicket })
  // Keycloak: permissions of owners add scopes that are not requested, and not in the evaluation either.
  const limited = ofReference === undefined ? undefined : limitScopes(ofReference, settings, request)
  if (!isSame(ofReference) && JSON.stringify(limited) !== JSON.stringify(granted))
    report('differences', { settings, tickets, request, expected: ofReference, granted })
}

/** A permission of an owner, for which requests are generated as for one that tickets are. */
const ticketPermission: GeneratedSettings['policies'][number] = {
  id: 'ticket',
  name: 'Ticket',
  fields: { type: 'uma' },
}

try {
  await Promise.all(servers.map((server) => server.createRealm()))
  const allSettings = fc.sample(generatedSettings, { numRuns: Number(values.settings), seed })
  for (const [index, settings] of allSettings.entries()) {
    const addresses = await Promise.all(servers.map((server) => server.createClient(settings)))
    const [tickets = []] = index % 2 ? fc.sample(generatedTickets(settings), { numRuns: 1, seed: seed + index }) : []
    for (const server of servers) await server.grantTickets(tickets)
    const policies = tickets.length ? [...settings.policies, ticketPermission] : settings.policies
    for (const request of fc.sample(generatedRequest({ ...settings, policies }), {
      numRuns: Number(values.requests),
      seed: seed + index,
    })) {
      counts.requests += 1
      // The names of tickets in evaluations differ.
      if (!tickets.length) await compareServers(addresses, request, settings)
      await compareWays(addresses[0]!, request, { settings, tickets })
    }
    for (const [at, server] of servers.entries()) {
      await server.call('DELETE', addresses[at]!)
      server.forgetArchive()
    }
  }
} finally {
  await Promise.all(servers.map((server) => server.call('DELETE', `/${server.realm}`)))
  regentServer.stop()
}
const { requests, differences, granted, disagreements } = counts
console.log(
  `${values.settings} settings, ${requests} requests, ${granted} of them also by grants and tickets, seed ${seed}: ${differences} differences from Keycloak, ${disagreements} disagreements`,
)
process.exitCode = differences || disagreements ? 1 : 0
