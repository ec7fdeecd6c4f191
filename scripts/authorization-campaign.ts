// Compares the decisions of Regent with those of Keycloak: random authorization settings are imported into a client of both, and evaluated for
// random requests. Regent runs on an embedded store of its own. Reports each difference with what is needed to repeat it.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { type Representation, readObject, readObjects, readText, readTexts } from '../src/kinds/json.ts'
import { writeAuthorizationSettings } from '../src/realm-file/formats/authorization-settings.ts'
import {
  type GeneratedRequest,
  type GeneratedSettings,
  generatedRequest,
  generatedSettings,
  universe,
} from '../test/support/generated-authorization.ts'

const USAGE =
  'Usage: npm run campaign:authorization -- --reference URL [--server URL] [--settings N] [--requests N] [--seed N]'

const { values } = parseArgs({
  options: {
    reference: { type: 'string' },
    server: { type: 'string' },
    settings: { type: 'string', default: '200' },
    requests: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
if (!values.reference) throw new Error(USAGE)

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
        { clientId: 'web', publicClient: true, fullScopeAllowed: true, protocolMappers: [groupMapper(true)] },
        { clientId: 'narrow', publicClient: true, fullScopeAllowed: false, protocolMappers: [groupMapper(false)] },
      ],
      users: [
        {
          username: 'mia',
          enabled: true,
          email: 'mia@example.org',
          realmRoles: ['lead'],
          clientRoles: { other: ['use'] },
        },
        { username: 'noel', enabled: true, email: 'noel@example.com', groups: ['/staff/night'] },
        { username: 'otto', enabled: true, realmRoles: ['reader'], groups: ['/visitors'] },
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
    const names = new Map(settings.resources.map(({ id, name }) => [id, name]))
    const response = await this.call('POST', `${address}/authz/resource-server/policy/evaluate`, {
      userId: this.ids.get(request.user),
      clientId: request.client === undefined ? undefined : this.ids.get(request.client),
      roleIds: request.roles,
      resources: request.resources.map(({ id, scopes, ...rest }) => ({
        ...rest,
        ...(id !== undefined && { _id: this.ids.get(names.get(id)!) }),
        scopes: scopes.map((name) => ({ name })),
      })),
      context: { attributes: request.attributes },
    })
    return response.status === 200 ? toComparable(response.body) : { status: response.status }
  }
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
const [regent, reference] = [new CampaignServer(regentServer.url), new CampaignServer(values.reference)]
const seed = Number(values.seed)
let [requestCount, differenceCount] = [0, 0]
try {
  await Promise.all([regent, reference].map((server) => server.createRealm()))
  const allSettings = fc.sample(generatedSettings, { numRuns: Number(values.settings), seed })
  for (const [index, settings] of allSettings.entries()) {
    const addresses = await Promise.all([regent, reference].map((server) => server.createClient(settings)))
    for (const request of fc.sample(generatedRequest(settings), {
      numRuns: Number(values.requests),
      seed: seed + index,
    })) {
      const [actual, expected] = await Promise.all([
        regent.evaluate(addresses[0]!, request, settings),
        reference.evaluate(addresses[1]!, request, settings),
      ])
      requestCount += 1
      if (JSON.stringify(actual) === JSON.stringify(expected)) continue
      differenceCount += 1
      console.log(JSON.stringify({ seed, index, settings, request, expected, actual }))
    }
    await Promise.all([regent.call('DELETE', addresses[0]!), reference.call('DELETE', addresses[1]!)])
  }
} finally {
  await Promise.all([regent, reference].map((server) => server.call('DELETE', `/${server.realm}`)))
  regentServer.stop()
}
console.log(`${values.settings} settings, ${requestCount} requests, seed ${seed}: ${differenceCount} differences`)
process.exitCode = differenceCount ? 1 : 0
