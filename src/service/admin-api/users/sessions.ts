// What REST does with sessions.
import type { Representation } from '../../../kinds/json.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import type { SessionFilter } from '../../../store/login/session-filter.ts'
import { countSessionsByClient, countSessions, type ListedSession, selectSessions } from '../../../store/login/session-lists.ts'
import type { Context, RuntimeContext, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import type { UserSession } from '../../context/store-types.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { endSessions, endClientSessions, getSessionLimits, startSession } from '../../login/sessions.ts'
import { recordUserEvent } from '../../messages/user-events.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { requireControlOfUsers } from '../../permissions/privilege-escalation.ts'
import { parsePage } from '../common/list-query.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { getObject, type Query } from '../common/resource.ts'
import { findUser } from './users.ts'

/** The sessions of a user, the latest first. */
export async function listUserSessions(context: Context, user: string): Promise<Representation[]> {
  await findUser(context, user)
  requirePermissions(context, 'view-users')
  return list(context, { user, offline: false })
}

/** The offline sessions that a user has with the client of that id. */
export async function listUserOfflineSessions(
  context: Context,
  user: string,
  client: string,
): Promise<Representation[]> {
  await findUser(context, user)
  requirePermissions(context, 'view-users')
  await getObject(context, 'client', { id: client, notFound: 'Client not found' })
  return list(context, { user, client, offline: true })
}

/** The sessions that have a part at a client, a page of them. */
export async function listClientSessions(
  context: Context,
  client: string,
  offline: boolean,
  query: Query,
): Promise<Representation[]> {
  await findClient(context, client)
  return list(context, { client, offline }, parsePage(query, 100))
}

/** How many sessions have a part at a client. */
export async function countClientSessions(
  context: Context,
  client: string,
  offline: boolean,
): Promise<{ count: number }> {
  await findClient(context, client)
  const limits = await limitsIn(context, offline)
  return { count: await countSessions(context.tx, context.realm.number, { filter: { client, offline }, limits }) }
}

/** The numbers of sessions of the clients that have sessions. */
export async function sessionStats(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'view-realm')
  const { representation } = await getCurrentRealm(context)
  const counts = new Map<string, { id: string; clientId: string; active: number; offline: number }>()
  for (const offline of [false, true]) {
    const limits = getSessionLimits(representation, offline, context.now)
    for (const { id, clientId, count } of await countSessionsByClient(context.tx, context.realm.number, { offline, limits })) {
      const other = counts.get(id) ?? { id, clientId, active: 0, offline: 0 }
      counts.set(id, { ...other, [offline ? 'offline' : 'active']: count })
    }
  }
  // Keycloak: the numbers are texts.
  return [...counts.values()].map(({ id, clientId, active, offline }) => ({
    offline: String(offline),
    clientId,
    active: String(active),
    id,
  }))
}

/** Ends the session of that id. Throws not_found. */
export async function endSession(context: WriteContext, id: string, offline: boolean): Promise<void> {
  requirePermissions(context, 'manage-users')
  const limits = await limitsIn(context, offline)
  const filter = { id, offline }
  // Keycloak: in these letters.
  if (!(await countSessions(context.tx, context.realm.number, { filter, limits })))
    throw failure('not_found', 'Sesssion not found')
  await endSessions(context, filter)
  describeAdminEvent(context, { representation: { offline } })
}

/** Ends the sessions of a user, and voids their tokens of until now. Offline sessions stay. */
export async function logUserOut(context: WriteContext, user: string): Promise<void> {
  const live = await findUser(context, user)
  requirePermissions(context, 'manage-users')
  await endSessions(context, { user, offline: false })
  await writers.user.update(context, [{ live, set: { notBefore: toEpochSeconds(context.now) } }])
}

/** Ends all sessions of the realm, offline ones too, and voids its tokens of until now. */
export async function logEverybodyOut(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-users')
  await endSessions(context, {})
  await writers.realm.update(context, [{ live: await getCurrentRealm(context), set: { notBefore: toEpochSeconds(context.now) } }])
}

/** Begins a session of a user for the caller, who leaves the session of that id for it, if one is named. */
export async function impersonate(
  context: RuntimeContext,
  user: string,
  left: string | undefined,
): Promise<UserSession> {
  const { actor, now } = context
  const live = await findUser(context, user)
  requirePermissions(context, 'impersonation')
  await requireControlOfUsers(context, [user])
  const { enabled, serviceAccountClientId } = live.representation
  if (enabled !== true) throw failure('invalid', 'User is disabled')
  if (serviceAccountClientId != null) throw failure('invalid', 'Service accounts cannot be impersonated')
  if (left !== undefined) await endSessions(context, { id: left, offline: false })
  const session = await startSession(context, {
    user: live.id,
    address: actor.address,
    body: {
      authTime: toEpochSeconds(now),
      // Keycloak: mappers may show these to applications.
      notes: { IMPERSONATOR_ID: actor.userId ?? '', IMPERSONATOR_USERNAME: actor.user ?? '' },
    },
  })
  const details = { impersonator: actor.user, impersonator_realm: actor.realm }
  recordUserEvent(context, { type: 'IMPERSONATE', user: live.id, session: session.id, details })
  return session
}

/** The clients with which a user has offline sessions, by id. */
export async function offlineClients(context: Context, user: string): Promise<Record<string, string>> {
  const { representation } = await getCurrentRealm(context)
  const limits = getSessionLimits(representation, true, context.now)
  const sessions = await selectSessions(context.tx, context.realm.number, { filter: { user, offline: true }, limits })
  return Object.assign({}, ...sessions.map(({ clients }) => clients))
}

/** Ends what a user's offline sessions have at a client: how many there were. */
export function endOfflineAt(context: WriteContext, user: string, client: LiveObject): Promise<number> {
  return endClientSessions(context, client.id, { user, offline: true })
}

async function findClient(context: Context, id: string): Promise<void> {
  await getClient(context, id)
  requirePermissions(context, 'view-clients')
}

async function limitsIn(context: Context, offline: boolean) {
  return getSessionLimits((await getCurrentRealm(context)).representation, offline, context.now)
}

async function list(
  context: Context,
  filter: SessionFilter & { readonly offline: boolean },
  part: { first?: number; max?: number } = {},
): Promise<Representation[]> {
  const limits = await limitsIn(context, filter.offline)
  return (await selectSessions(context.tx, context.realm.number, { filter, limits, page: part })).map(show)
}

/** Keycloak: UserSessionRepresentation; times are milliseconds of whole seconds. */
function show({
  id,
  username,
  user,
  address,
  startedAt,
  refreshedAt,
  rememberMe,
  clients,
}: ListedSession): Representation {
  const whole = (time: Date) => toEpochSeconds(time) * 1000
  return {
    id,
    username,
    userId: user,
    ...(address !== null && { ipAddress: address }),
    start: whole(startedAt),
    lastAccess: whole(refreshedAt),
    rememberMe,
    clients: { ...clients },
    transientUser: false,
  }
}
