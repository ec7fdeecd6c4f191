// What REST does with the settings of clients that decide permissions.
import { ADMIN_PERMISSIONS, authorizationSchema, isAdminPermissions } from '../../../kinds/admin-permissions.ts'
import { newAuthorizationSettings } from '../../../kinds/client.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { present } from '../../kinds/present.ts'
import type { LiveObject } from '../../objects/live.ts'
import { demand, type Permission } from '../../permissions/administrators.ts'
import { CLIENT_NOT_FOUND } from '../clients/clients.ts'
import { getObject } from '../common/resource.ts'

/** What is said of a client that decides no permissions, and of most that it does not have. */
export const NOT_FOUND = 'HTTP 404 Not Found'

/** The client that decides permissions. Throws not_found where there is none, or where it does not. */
export async function getServer(context: Context, id: string, permission: Permission): Promise<LiveObject> {
  demand(context, permission)
  return findServer(context, id)
}

/** The client that decides permissions, for who may know. Throws not_found as `getServer` does. */
export async function findServer(context: Context, id: string): Promise<LiveObject> {
  const client = await getObject(context, 'client', id, CLIENT_NOT_FOUND)
  if (client.representation.authorizationServicesEnabled !== true) throw failure('not_found', NOT_FOUND)
  return client
}

/**
 * Returns the client that decides permissions, for who may manage its settings, resources and scopes.
 *
 * @throws not_found as `getServer` does; malformed where they come with the realm, so that only policies can be managed.
 */
export async function getConfigurableServer(context: Context, id: string): Promise<LiveObject> {
  const server = await getServer(context, id, 'manage-authorization')
  refuseAdminPermissions(server)
  return server
}

/** Throws malformed where the client decides permissions of administrators. Keycloak: without a reason. */
export function refuseAdminPermissions({ representation }: LiveObject): void {
  if (!isAdminPermissions(representation)) return
  const reason = `the settings, resources and scopes of client ${ADMIN_PERMISSIONS} are those of the server`
  throw failure('malformed', 'unknown_error', { reason })
}

/** Keycloak: ResourceServerRepresentation, without the content. */
export function showServer({ id, key, representation }: LiveObject): Representation {
  return {
    id,
    clientId: id,
    name: key[0]!,
    ...newAuthorizationSettings,
    ...(representation.authorizationSettings as Representation | undefined),
    resources: [],
    policies: [],
    scopes: [],
    ...(key[0] === ADMIN_PERMISSIONS && { authorizationSchema }),
  }
}

/** The settings of a client. */
export async function readServer(context: Context, id: string): Promise<Representation> {
  return showServer(await getServer(context, id, 'view-authorization'))
}

/** Replaces the settings of a client: what is not stated is as in a new one. */
export async function replaceServer(context: WriteContext, id: string, body: Representation): Promise<void> {
  const live = await getConfigurableServer(context, id)
  const set = Object.entries(newAuthorizationSettings).map(([name, given]) => [
    `authorizationSettings.${name}`,
    body[name] ?? given,
  ])
  const [updated] = await writers.client.update(context, [{ live, set: Object.fromEntries(set) }])
  describeEvent(context, { representation: showServer(updated!) })
}

/** A client with its settings, resources, scopes and policies, as documents have them: without ids. */
export async function readContent(context: Context, id: string): Promise<Representation> {
  const server = await getConfigurableServer(context, id)
  const content: Representation = {
    authorizationSettings: {
      ...newAuthorizationSettings,
      ...(server.representation.authorizationSettings as Representation | undefined),
    },
  }
  for (const [field, kind] of Object.entries(kinds.client.children)) {
    if (kinds[kind].elsewhere)
      content[field] = (await listOf(context, server, kind)).map((live) => stated(context, live))
  }
  return content
}

function stated(context: Context, live: LiveObject): Representation {
  const { [kinds[live.kind].idField]: _, ...rest } = present(context.vault, live)
  return rest
}

/** The objects of a kind that the client has, by name. */
export function listOf(
  context: Context,
  { id }: Pick<LiveObject, 'id'>,
  kind: KindName,
  search = '',
): Promise<LiveObject[]> {
  return writers[kind].list(context, { parents: { kind: 'client', ids: [id] }, ...(search && { search }) })
}

/** One object of a client, by name; undefined where it has no such one. */
export async function findNamed(
  context: Context,
  { key }: LiveObject,
  kind: KindName,
  name: string,
): Promise<LiveObject | undefined> {
  return (await writers[kind].list(context, { keys: [['client', ...key, name]] }))[0]
}

/** Keycloak: a page has 100 elements where nothing else is said. */
export function paged<T>(all: readonly T[], { first, max }: Readonly<Record<string, unknown>>): T[] {
  const start = typeof first === 'number' && first >= 0 ? first : 0
  return all.slice(start, start + (typeof max === 'number' && max >= 0 ? max : 100))
}

/** A name in a body. Keycloak: its database says that there must be one. */
export function demandName({ name }: Representation): string {
  if (typeof name !== 'string' || name === '') throw failure('duplicate', 'Duplicate resource error')
  return name
}
