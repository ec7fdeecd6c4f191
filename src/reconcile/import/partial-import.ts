// Objects that come into a realm in one call, beside what is there: a plan of the one engine, which owns nothing afterwards.
import { ADMIN_PERMISSIONS } from '../../kinds/admin-permissions.ts'
import { isBuiltIn } from '../../kinds/built-in/index.ts'
import { step } from '../../kinds/group.ts'
import { kinds } from '../../kinds/index.ts'
import { isEmpty, type Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { masked } from '../../kinds/masked.ts'
import { address, nameIn } from '../../kinds/tree.ts'
import { withFlowAliases } from '../../realm-file/forms/flow-overrides.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import { keepsEvents, noteEvent } from '../../service/journal/admin-events.ts'
import { writers } from '../../service/kinds/index.ts'
import { demandReplaced } from '../../service/objects/conferring.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { demand, type Permission } from '../../service/permissions/administrators.ts'
import { defaultRoleName } from '../../service/users/default-role.ts'
import { importContent } from './import.ts'

/** What is done where the realm has such an object already. */
export const policies = ['FAIL', 'SKIP', 'OVERWRITE'] as const
export type ImportPolicy = (typeof policies)[number]

/** What may come: lists of objects, and the roles of the realm and of its clients. */
export interface PartialContent {
  readonly clients?: readonly Representation[] | null | undefined
  readonly roles?: PartialRoles | null | undefined
  readonly identityProviders?: readonly Representation[] | null | undefined
  readonly identityProviderMappers?: readonly Representation[] | null | undefined
  readonly groups?: readonly Representation[] | null | undefined
  readonly users?: readonly Representation[] | null | undefined
}

interface PartialRoles {
  readonly realm?: readonly Representation[] | null | undefined
  readonly client?: Readonly<Record<string, readonly Representation[]>> | null | undefined
}

/** What became of one object. */
export interface ImportResult {
  readonly action: 'ADDED' | 'SKIPPED' | 'OVERWRITTEN'
  readonly resourceType: ImportedType
  readonly resourceName: string
  readonly id: string
}

/** Keycloak: what results call the kinds. */
export const importedTypes = ['CLIENT', 'REALM_ROLE', 'CLIENT_ROLE', 'IDP', 'IDP_MAPPER', 'GROUP', 'USER'] as const
type ImportedType = (typeof importedTypes)[number]

/** One object that comes. */
interface Coming {
  readonly kind: KindName
  readonly key: Key
  readonly type: ImportedType
  readonly name: string
  readonly body: Representation
  /** What is said where there is one. */
  readonly exists: string
}

/** The permissions that creating objects of a type one by one requires. */
const permissions: Readonly<Record<ImportedType, Permission>> = {
  CLIENT: 'manage-clients',
  REALM_ROLE: 'manage-realm',
  CLIENT_ROLE: 'manage-clients',
  IDP: 'manage-identity-providers',
  IDP_MAPPER: 'manage-identity-providers',
  GROUP: 'manage-users',
  USER: 'manage-users',
}

/** Keycloak: where admin events say that an imported object is. */
const places: Readonly<Record<ImportedType, string>> = {
  CLIENT: 'clients',
  REALM_ROLE: 'realms',
  CLIENT_ROLE: 'clients',
  IDP: 'identity-provider-settings',
  IDP_MAPPER: 'mappers',
  GROUP: 'groups',
  USER: 'users',
}

/**
 * Imports the content into the context's realm, with new ids. What is overwritten is deleted first, and what hung on it with it.
 * Throws conflict where something is there that must not be, DocumentError where the content is wrong.
 */
export async function importPartially(
  context: WriteContext,
  content: PartialContent,
  policy: ImportPolicy,
): Promise<ImportResult[]> {
  demandContent(context, content)
  const coming = [...comingIn(context.realm.name, content)]
  const there = await presentOf(context, coming)
  const present = coming.filter((one) => there.has(idOf(one)))
  if (policy === 'FAIL' && present.length) throw failure('conflict', present[0]!.exists)
  const skipped = new Set(policy === 'SKIP' ? present : [])
  const defaultRole = policy === 'OVERWRITE' ? await defaultRoleName(context) : undefined
  if (policy === 'OVERWRITE') await makeWay(context, present, there, defaultRole)
  const made = coming.filter((one) => !skipped.has(one))
  // Keycloak: a role that is overwritten contains what is declared.
  const isExact = () => (kind: KindName, key: Key) => kind === 'role' && key.length === 1 && key[0] === defaultRole
  const stated = await withLiveFlows(context, representationOf(made))
  const applied = await importContent(context, stated, { ids: 'new', isExact })
  const results = coming.flatMap((one): ImportResult[] => {
    const id = (applied.get(idOf(one)) ?? there.get(idOf(one)))!.id
    const result = (action: ImportResult['action']): ImportResult => ({
      action,
      resourceType: one.type,
      resourceName: one.name,
      id,
    })
    if (skipped.has(one)) return [result('SKIPPED')]
    if (!there.has(idOf(one))) return [result('ADDED')]
    // Keycloak: a role that is overwritten is told of as added too.
    return one.kind === 'role' ? [result('OVERWRITTEN'), result('ADDED')] : [result('OVERWRITTEN')]
  })
  tell(context, made, results)
  return results
}

/**
 * Throws forbidden unless the caller may make and delete objects of every type that the content has, one by one: results tell what is
 * there. No statement.
 */
export function demandContent(context: Context, content: PartialContent): void {
  const types = new Set([...comingIn(context.realm.name, content)].map(({ type }) => type))
  demand(context, 'manage-realm', ...[...types].map((type) => permissions[type]))
}

const idOf = ({ kind, key }: Coming): string => address(kind, key)

/** Keycloak: clients that every realm has, or that come with a switch of it, are left out without a word. */
function* comingIn(realm: string, content: PartialContent): Generator<Coming> {
  for (const body of content.clients ?? []) {
    const name = nameIn(kinds.client, body)
    if (!isBuiltIn(realm, 'client', [name]) && name !== ADMIN_PERMISSIONS)
      yield { kind: 'client', key: [name], type: 'CLIENT', name, body, exists: `Client id '${name}' already exists` }
  }
  for (const body of content.roles?.realm ?? []) {
    const name = nameIn(kinds.role, body)
    yield { kind: 'role', key: [name], type: 'REALM_ROLE', name, body, exists: `Realm role '${name}' already exists.` }
  }
  for (const [client, roles] of Object.entries(content.roles?.client ?? {})) {
    for (const body of roles ?? []) {
      const name = nameIn(kinds.role, body)
      const exists = `Client role '${name}' for client '${client}' already exists.`
      yield {
        kind: 'role',
        key: ['client', client, name],
        type: 'CLIENT_ROLE',
        name: `${client}-->${name}`,
        body,
        exists,
      }
    }
  }
  for (const body of content.identityProviders ?? []) {
    const name = nameIn(kinds.identityProvider, body)
    yield {
      kind: 'identityProvider',
      key: [name],
      type: 'IDP',
      name,
      body,
      exists: `Identity Provider '${name}' already exists.`,
    }
  }
  for (const body of content.identityProviderMappers ?? []) {
    const name = nameIn(kinds.identityProviderMapper, body)
    const key = ['identityProvider', String(body.identityProviderAlias ?? ''), name]
    const exists = `Identity Provider Mapper'${name}' already exists.`
    yield { kind: 'identityProviderMapper', key, type: 'IDP_MAPPER', name, body, exists }
  }
  for (const body of content.groups ?? []) {
    const name = String(body.name ?? '')
    const path = step(name)
    yield { kind: 'group', key: [path], type: 'GROUP', name, body, exists: `Group '${path}' already exists` }
  }
  for (const body of content.users ?? []) {
    const key = nameIn(kinds.user, body)
    const name = String(body.username ?? '')
    yield { kind: 'user', key: [key], type: 'USER', name, body, exists: `User with user name ${name} already exists.` }
  }
}

/** The objects that are there already, by address. A constant number of statements for each kind. */
async function presentOf(context: WriteContext, coming: readonly Coming[]): Promise<ReadonlyMap<string, LiveObject>> {
  const found = new Map<string, LiveObject>()
  for (const [kind, some] of Map.groupBy(coming, ({ kind }) => kind)) {
    const live = await writers[kind].list(context, { keys: some.map(({ key }) => key) })
    for (const one of live) found.set(address(kind, one.key), one)
  }
  return found
}

/** Deletes what is overwritten. The role that everybody has stays, and is changed: without it nobody could be given it. */
async function makeWay(
  context: WriteContext,
  present: readonly Coming[],
  there: ReadonlyMap<string, LiveObject>,
  everybodys: string | undefined,
): Promise<void> {
  const going = present.filter(({ kind, key }) => kind !== 'role' || key.length > 1 || key[0] !== everybodys)
  const clients = new Set(going.flatMap(({ kind, key }) => (kind === 'client' ? key : [])))
  const providers = new Set(going.flatMap(({ kind, key }) => (kind === 'identityProvider' ? key : [])))
  // What belongs to something that goes, goes with it.
  const own = going.filter(({ key }) => key.length === 1 || !(key[0] === 'client' ? clients : providers).has(key[1]!))
  for (const [kind, some] of Map.groupBy(own, ({ kind }) => kind)) {
    const objects = some.map((one) => there.get(idOf(one))!)
    await demandReplaced(context, kind, objects)
    await writers[kind].delete(context, objects)
  }
}

/** What is made, as a realm's representation states it. */
function representationOf(made: readonly Coming[]): Representation {
  const of = (type: ImportedType) => made.filter((one) => one.type === type).map(({ body }) => body)
  const ofClients = Map.groupBy(
    made.filter(({ type }) => type === 'CLIENT_ROLE'),
    ({ key }) => key[1]!,
  )
  return {
    clients: of('CLIENT'),
    roles: {
      realm: of('REALM_ROLE'),
      client: Object.fromEntries([...ofClients].map(([client, roles]) => [client, roles.map(({ body }) => body)])),
    },
    identityProviders: of('IDP'),
    identityProviderMappers: of('IDP_MAPPER'),
    groups: of('GROUP'),
    users: of('USER'),
  }
}

/** Keycloak: clients name the flows of the realm by id. One statement, or none. */
async function withLiveFlows(context: WriteContext, stated: Representation): Promise<Representation> {
  const clients = stated.clients as Representation[]
  if (!clients.some((client) => !isEmpty(client.authenticationFlowBindingOverrides))) return stated
  const flows = await writers.authenticationFlow.list(context, {})
  return {
    ...stated,
    clients: withFlowAliases(
      clients,
      flows.map(({ id, key: [alias] }) => ({ id, alias: alias! })),
    ),
  }
}

/** Keycloak: an event for each object, as if the realm had been changed. */
function tell(context: WriteContext, made: readonly Coming[], results: readonly ImportResult[]): void {
  if (!keepsEvents(context)) return
  for (const one of made) {
    const { action, id } = results.find(
      ({ resourceType, resourceName }) => resourceType === one.type && resourceName === one.name,
    )!
    noteEvent(context, {
      operationType: action === 'ADDED' ? 'CREATE' : 'UPDATE',
      resourceType: 'REALM',
      resourcePath: `${places[one.type]}/${id}`,
      representation: masked(kinds[one.kind], { ...one.body, [kinds[one.kind].idField]: id }),
    })
  }
}
