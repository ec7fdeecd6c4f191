// Content of a realm that comes in one call: a plan of the one engine, which owns nothing afterwards.
import { randomUUID } from 'node:crypto'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { address, splitTree } from '../../kinds/tree.ts'
import { valueDocument } from '../../realm-file/yaml/document.ts'
import { byPlace, DocumentError } from '../../realm-file/yaml/problem.ts'
import type { WriteContext } from '../../service/context/context.ts'
import type { Service } from '../../service/context/service.ts'
import { demand } from '../../service/permissions/administrators.ts'
import { prepareCredentials } from '../../service/users/credentials.ts'
import { parsePolicy } from '../../service/users/password-policy.ts'
import { type PasswordMaker, type Person, passwordMaker } from '../../service/users/password-rules.ts'
import { type Applied, apply } from '../execute/apply.ts'
import { type DesiredRealm, desiredRealms } from '../merge/desired-realm.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { observe } from '../observe/observe.ts'
import { planRealm } from '../plan/plan-realm.ts'
import { completed } from './missing-references.ts'

/** Ids that the content wishes for its objects, by address: built-in objects of a new realm can have them too. */
export function wishedIds(realm: Representation): ReadonlyMap<string, string> {
  return new Map(splitTree(realm).flatMap(({ kind, key, id }) => (id === undefined ? [] : [[address(kind, key), id]])))
}

/** How passwords of people are made in a realm that states its own policy. */
export function statedPasswords({ blacklists }: Pick<Service, 'blacklists'>, realm: Representation): MakerOf {
  const policy = parsePolicy(String(realm.passwordPolicy ?? ''))
  return (person) => passwordMaker(policy, blacklists, person)
}

type MakerOf = (person: Person) => PasswordMaker

/** Content with the credentials of its people as they are kept: that takes its time, and comes before the transaction. */
export async function withPreparedCredentials<Content extends object>(
  content: Content,
  makerOf: MakerOf,
): Promise<Content> {
  if (!('users' in content && Array.isArray(content.users))) return content
  const users = await Promise.all(
    (content.users as Representation[]).map(async (user) =>
      Array.isArray(user?.credentials)
        ? {
            ...user,
            credentials: await prepareCredentials(
              user.credentials as Representation[],
              makerOf({ username: String(user.username ?? ''), email: user.email as string }),
            ),
          }
        : user,
    ),
  )
  return { ...content, users }
}

/** Keycloak: a client that comes with a new realm and has no client id is known by its id. */
export function withClientIds(realm: Representation): Representation {
  if (!Array.isArray(realm.clients)) return realm
  const clients = (realm.clients as Representation[]).map((client) => {
    if ((client.clientId ?? null) !== null) return client
    const id = client.id ?? randomUUID()
    return { ...client, id, clientId: id }
  })
  return { ...realm, clients }
}

/** Keycloak: a client that comes with a new realm sends people back after log-out wherever it may after log-in. */
export function withLogOutAddresses(realm: Representation): Representation {
  if (!Array.isArray(realm.clients)) return realm
  const clients = (realm.clients as Representation[]).map((client) => ({
    ...client,
    attributes: { 'post.logout.redirect.uris': '+', ...(client.attributes as Representation | null | undefined) },
  }))
  return { ...realm, clients }
}

/**
 * Keycloak: a new realm may have mappers of identity providers that come later. Here a mapper belongs to its provider: those of
 * providers that the realm does not have are left out.
 */
export function withoutLooseMappers(realm: Representation): Representation {
  const { identityProviderMappers: mappers, identityProviders: providers } = realm
  if (!Array.isArray(mappers)) return realm
  const known = new Set(Array.isArray(providers) ? providers.map((one) => (one as Representation).alias) : [])
  const own = (mappers as Representation[]).filter(
    ({ identityProviderAlias: alias }) => alias === undefined || known.has(alias),
  )
  return { ...realm, identityProviderMappers: own }
}

/**
 * Makes the objects that a realm's representation holds, and sets what refers to them, inside the transaction of the caller:
 * with the ids that they state, or with new ones. Gives them by address. Throws DocumentError.
 */
export async function importContent(
  context: WriteContext,
  realm: Representation,
  { ids = 'stated', isExact = nothing }: ImportOptions = {},
): Promise<Applied> {
  const { children, fields, forms } = kinds.realm
  const isContent = (field: string) =>
    field in children || field in forms || (fields[field]?.late !== undefined && !fields[field].computed)
  const content = Object.entries(realm).filter(([field, value]) => isContent(field) && value !== null)
  if (!content.length) return new Map()
  const value = withDecidingClients(withDeclaredRoles({ realm: context.realm.name, ...Object.fromEntries(content) }))
  const documents = [valueDocument('body', value)]
  const [stated] = desiredRealms(documents, context.vault)
  const desired = ids === 'new' ? withoutIds(stated!) : stated!
  const own = { source: '', desired, settings: {}, resettled: false }
  const observed = await observe(context, [own], desired)
  const whole = completed(desired, observed.live)
  demandRolesCreated(context, whole.roles)
  const { objects } = whole.desired
  const { plan, obstacles } = planRealm({ ...observed, declared: objects, isAuthoritative: isExact(desired) })
  if (obstacles.length) throw new DocumentError(byPlace(obstacles, documents))
  return apply(context, plan, { objects, secret: (id, path) => objects.get(id)?.secrets?.[path] })
}

/** Whoever imports what names roles that there are not creates these roles. */
function demandRolesCreated(context: WriteContext, roles: readonly Key[]): void {
  if (roles.some((key) => key.length === 1)) demand(context, 'manage-realm')
  if (roles.some((key) => key.length > 1)) demand(context, 'manage-clients')
}

/** Keycloak: users whom an import creates have the roles that it declares, be they none. */
function withDeclaredRoles(realm: Representation): Representation {
  if (!Array.isArray(realm.users)) return realm
  const users = (realm.users as Representation[]).map((user) => ({
    ...user,
    realmRoles: user.realmRoles ?? [],
  }))
  return { ...realm, users }
}

/** Keycloak: a client whose import has authorization settings, or switches them on, decides permissions and is confidential. */
function withDecidingClients(realm: Representation): Representation {
  if (!Array.isArray(realm.clients)) return realm
  const clients = (realm.clients as Representation[]).map((client) =>
    (client.authorizationSettings ?? null) !== null || client.authorizationServicesEnabled === true
      ? { ...client, authorizationServicesEnabled: true, bearerOnly: false, publicClient: false }
      : client,
  )
  return { ...realm, clients }
}

/** How content is imported. */
interface ImportOptions {
  readonly ids?: 'stated' | 'new'
  /** Which lists hold nothing but what the content declares. */
  readonly isExact?: (desired: DesiredRealm) => PlanInput['isAuthoritative']
}

const nothing = () => () => false

function withoutIds(desired: DesiredRealm): DesiredRealm {
  const objects = new Map([...desired.objects].map(([address, object]) => [address, { ...object, id: undefined }]))
  return { ...desired, objects }
}
