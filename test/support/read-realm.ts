// Reads a realm through REST, kind by kind, into a form in which the answers of two servers can be compared.
import { toComparable } from './comparable.ts'

/** Asks a server for what stands at an address. */
export type SendRequest = (address: string) => Promise<{ readonly status: number; readonly body?: unknown }>

/** What a realm's operations answer: by path of the operation, then by the names of what is asked for. */
export type RealmResponses = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** An object in a list: its id and name lead to what hangs on it. */
interface ListedObject {
  readonly id: string
  readonly name: string
  // biome-ignore lint/suspicious/noExplicitAny: objects of every kind
  readonly value: any
}

const single = [
  '/',
  '/authentication/required-actions',
  '/authentication/unregistered-required-actions',
  '/client-policies/policies',
  '/client-policies/profiles',
  '/default-default-client-scopes',
  '/default-groups',
  '/default-optional-client-scopes',
  '/events/config',
  '/localization',
  '/keys',
  '/users/profile',
]

/** Reads the realm with the operations that are there. What hangs on a list that is not there is not asked for. */
export async function readRealm(realm: string, ask: SendRequest, isThere = (_path: string) => true): Promise<RealmResponses> {
  const answers: Record<string, Record<string, unknown>> = {}
  const names = new Map<string, string>()

  for (const path of single) await one(path)
  const { id } = (answers['/']?.[''] ?? {}) as { id?: string }
  if (id) names.set(id, '{realm}')
  await scopes()
  for (const client of await list('/clients', 'clientId')) await clientParts(client)
  for (const role of await list('/roles', 'name', [], '?briefRepresentation=false'))
    if (role.value.composite) await one('/roles/{role-name}/composites', [role])
  for (const group of await list('/groups', 'path', [], '?briefRepresentation=false')) await children(group)
  for (const user of await list('/users', 'username', [], '?max=1000')) await userParts(user)
  for (const flow of await list('/authentication/flows', 'alias')) await flowParts(flow)
  for (const provider of await list('/identity-provider/instances', 'alias'))
    await list('/identity-provider/instances/{alias}/mappers', 'name', [provider])
  await list('/components', ({ providerType, subType, name }) =>
    [providerType.split('.').at(-1), subType, name].filter(Boolean).join(' '),
  )
  await list('/workflows', 'name')
  await adminClient()
  return toComparable(answers, realm, names) as RealmResponses

  async function scopes() {
    for (const scope of await list('/client-scopes', 'name'))
      await one('/client-scopes/{client-scope-id}/scope-mappings', [scope])
  }

  async function clientParts(client: ListedObject) {
    await one('/clients/{client-uuid}/scope-mappings', [client])
    for (const role of await list('/clients/{client-uuid}/roles', 'name', [client], '?briefRepresentation=false'))
      if (role.value.composite) await one('/clients/{client-uuid}/roles/{role-name}/composites', [client, role])
    if (client.value.serviceAccountsEnabled) {
      const user = (await one('/clients/{client-uuid}/service-account-user', [client])) as ListedObject['value']
      const account = user && { id: user.id, name: user.username }
      if (user) await one('/users/{user-id}/role-mappings', [account], 'role mappings of service accounts')
    }
    if (client.value.authorizationServicesEnabled)
      await one('/clients/{client-uuid}/authz/resource-server/settings', [client])
  }

  async function children(group: ListedObject) {
    if (!group.value.subGroupCount) return
    const query = '?briefRepresentation=false&max=1000'
    for (const child of await list('/groups/{group-id}/children', 'path', [group], query)) await children(child)
  }

  async function userParts(user: ListedObject) {
    await one('/users/{user-id}/role-mappings', [user])
    await one('/users/{user-id}/groups', [user])
    await one('/users/{user-id}/consents', [user])
    await one('/users/{user-id}/credentials', [user])
    await one('/users/{user-id}/federated-identity', [user])
  }

  async function flowParts(flow: ListedObject) {
    const executions = (await one('/authentication/flows/{flowAlias}/executions', [flow])) as ListedObject['value'][]
    for (const { authenticationConfig: id, alias } of executions ?? []) {
      if (!id) continue
      names.set(id, alias)
      await one('/authentication/config/{id}', [{ id, name: `${flow.name} / ${alias}` }])
    }
  }

  /** The client of master that administers the realm. */
  async function adminClient() {
    const read = async (path: string) => (await ask(`/admin/realms/master/clients${path}`)).body as ListedObject['value'][]
    const [client] = await read(`?clientId=${realm}-realm`)
    const roles = await read(`/${client.id}/roles?briefRepresentation=false`)
    names.set(client.id, client.clientId)
    answers['in master'] = { client, ...Object.fromEntries(roles.map((role) => [role.name, role])) }
  }

  async function get(path: string, of: readonly Omit<ListedObject, 'value'>[], query = '') {
    const rest = [...of]
    const address = path.replace(/\{([^}]+)\}/g, (_, parameter: string) => {
      const { id, name } = rest.shift()!
      return encodeURIComponent(parameter.endsWith('id') ? id : name)
    })
    return ask(`/admin/realms/${realm}${address.replace(/^\/$/, '')}${query}`)
  }

  function keep(part: string, of: readonly Omit<ListedObject, 'value'>[], value: unknown) {
    answers[part] ??= {}
    answers[part][of.map(({ name }) => name).join(' / ')] = value
  }

  /** Keeps what is answered, as that part; gives it when it is there. */
  async function one(path: string, of: readonly Omit<ListedObject, 'value'>[] = [], part = path): Promise<unknown> {
    if (!isThere(path)) return undefined
    const { status, body } = await get(path, of)
    keep(part, of, status === 200 ? body : { status, body })
    return status === 200 ? body : undefined
  }

  /** Keeps each object of a list by its name. */
  async function list(
    path: string,
    naming: string | ((value: ListedObject['value']) => string),
    of: readonly ListedObject[] = [],
    query = '',
  ): Promise<ListedObject[]> {
    if (!isThere(path)) return []
    const { status, body } = await get(path, of, query)
    answers[path] ??= {}
    if (status !== 200) keep(path, of, { status, body })
    const found = (status === 200 ? (body as ListedObject['value'][]) : []).map((value) => ({
      id: value.id,
      name: typeof naming === 'string' ? value[naming] : naming(value),
      value,
    }))
    for (const one of found) {
      names.set(one.id, one.name)
      keep(path, [...of, one], one.value)
    }
    return found
  }
}
