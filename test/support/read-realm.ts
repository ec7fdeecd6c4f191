// Reads a realm by REST, kind by kind, into a form in which the responses of two servers can be compared.
import { toComparable } from './comparable-responses.ts'

/** Sends a GET request to an address. */
export type SendRequest = (address: string) => Promise<{ readonly status: number; readonly body?: unknown }>

/** Responses by path of the operation, then by names of the objects. */
export type RealmResponses = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** An object of a list. Its id and name are values of path parameters. */
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

/** Reads the realm by the existing operations. */
export async function readRealm(
  realm: string,
  ask: SendRequest,
  isThere = (_path: string) => true,
): Promise<RealmResponses> {
  const answers: Record<string, Record<string, unknown>> = {}
  const names = new Map<string, string>()

  for (const path of single) await readOne(path)
  const { id } = (answers['/']?.[''] ?? {}) as { id?: string }
  if (id) names.set(id, '{realm}')
  await scopes()
  for (const client of await readList('/clients', 'clientId')) await clientParts(client)
  for (const role of await readList('/roles', 'name', [], '?briefRepresentation=false'))
    if (role.value.composite) await readOne('/roles/{role-name}/composites', [role])
  for (const group of await readList('/groups', 'path', [], '?briefRepresentation=false')) await children(group)
  for (const user of await readList('/users', 'username', [], '?max=1000')) await userParts(user)
  for (const flow of await readList('/authentication/flows', 'alias')) await flowParts(flow)
  for (const provider of await readList('/identity-provider/instances', 'alias'))
    await readList('/identity-provider/instances/{alias}/mappers', 'name', [provider])
  await readList('/components', ({ providerType, subType, name }) =>
    [providerType.split('.').at(-1), subType, name].filter(Boolean).join(' '),
  )
  await readList('/workflows', 'name')
  await adminClient()
  return toComparable(answers, realm, names) as RealmResponses

  async function scopes() {
    for (const scope of await readList('/client-scopes', 'name'))
      await readOne('/client-scopes/{client-scope-id}/scope-mappings', [scope])
  }

  async function clientParts(client: ListedObject) {
    await readOne('/clients/{client-uuid}/scope-mappings', [client])
    for (const role of await readList('/clients/{client-uuid}/roles', 'name', [client], '?briefRepresentation=false'))
      if (role.value.composite) await readOne('/clients/{client-uuid}/roles/{role-name}/composites', [client, role])
    if (client.value.serviceAccountsEnabled) {
      const user = (await readOne('/clients/{client-uuid}/service-account-user', [client])) as ListedObject['value']
      const account = user && { id: user.id, name: user.username }
      if (user) await readOne('/users/{user-id}/role-mappings', [account], 'role mappings of service accounts')
    }
    if (client.value.authorizationServicesEnabled)
      await readOne('/clients/{client-uuid}/authz/resource-server/settings', [client])
  }

  async function children(group: ListedObject) {
    if (!group.value.subGroupCount) return
    const query = '?briefRepresentation=false&max=1000'
    for (const child of await readList('/groups/{group-id}/children', 'path', [group], query)) await children(child)
  }

  async function userParts(user: ListedObject) {
    await readOne('/users/{user-id}/role-mappings', [user])
    await readOne('/users/{user-id}/groups', [user])
    await readOne('/users/{user-id}/consents', [user])
    await readOne('/users/{user-id}/credentials', [user])
    await readOne('/users/{user-id}/federated-identity', [user])
  }

  async function flowParts(flow: ListedObject) {
    const executions = (await readOne('/authentication/flows/{flowAlias}/executions', [
      flow,
    ])) as ListedObject['value'][]
    for (const { authenticationConfig: id, alias } of executions ?? []) {
      if (!id) continue
      names.set(id, alias)
      await readOne('/authentication/config/{id}', [{ id, name: `${flow.name} / ${alias}` }])
    }
  }

  /** Reads the client in master that has the admin roles of the realm. */
  async function adminClient() {
    const read = async (path: string) =>
      (await ask(`/admin/realms/master/clients${path}`)).body as ListedObject['value'][]
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

  function store(part: string, of: readonly Omit<ListedObject, 'value'>[], value: unknown) {
    answers[part] ??= {}
    answers[part][of.map(({ name }) => name).join(' / ')] = value
  }

  /** Reads and stores a response; returns its body if the status is 200. */
  async function readOne(path: string, of: readonly Omit<ListedObject, 'value'>[] = [], part = path): Promise<unknown> {
    if (!isThere(path)) return undefined
    const { status, body } = await get(path, of)
    store(part, of, status === 200 ? body : { status, body })
    return status === 200 ? body : undefined
  }

  /** Reads a list, and stores each object by name. */
  async function readList(
    path: string,
    naming: string | ((value: ListedObject['value']) => string),
    of: readonly ListedObject[] = [],
    query = '',
  ): Promise<ListedObject[]> {
    if (!isThere(path)) return []
    const { status, body } = await get(path, of, query)
    answers[path] ??= {}
    if (status !== 200) store(path, of, { status, body })
    const objects = (status === 200 ? (body as ListedObject['value'][]) : []).map((value) => ({
      id: value.id,
      name: typeof naming === 'string' ? value[naming] : naming(value),
      value,
    }))
    for (const object of objects) {
      names.set(object.id, object.name)
      store(path, [...of, object], object.value)
    }
    return objects
  }
}
