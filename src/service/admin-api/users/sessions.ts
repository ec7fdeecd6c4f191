// The REST operations on sessions.

import type { Representation } from '../../../kinds/json.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import type { SessionFilter } from '../../../store/login/session-filter.ts'
import {
  countSessions,
  countSessionsByClient,
  type ListedSession,
  selectSessions,
} from '../../../store/login/session-lists.ts'
import { mayBeImpersonated } from '../../authorization/caller-grants.ts'
import { getObjectVisibility, requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, RuntimeContext, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import type { UserSession } from '../../context/store-types.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { endSessions, getSessionLimits, startSession } from '../../login/sessions.ts'
import { recordUserEvent } from '../../messages/user-events.ts'
import { requireControlOfUsers } from '../../permissions/privilege-escalation.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getClient } from '../common/client-lookup.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { type ListPage, parsePage } from '../common/list-query.ts'
import { getObject, type Query } from '../common/resource.ts'
import { getLiveUser, getManageableUser, getViewableUser } from './users.ts'

/** Lists the sessions of a user, the latest first. */
export async function listUserSessions(context: Context, user: string): Promise<Representation[]> {
  await getViewableUser(context, user)
  return listSessions(context, { user, offline: false })
}

/** Lists the offline sessions of a user with the client of that id. */
export async function listUserOfflineSessions(
  context: Context,
  user: string,
  client: string,
): Promise<Representation[]> {
  await getViewableUser(context, user)
  await getObject(context, 'client', { id: client, notFound: 'Client not found' })
  return listSessions(context, { user, client, offline: true })
}

/** The sessions of a client: those that a user has with it, or the offline ones. */
export interface ClientSessionFilter {
  readonly client: string
  readonly offline: boolean
}

/** Lists a page of the sessions of a client. */
export async function listClientSessions(
  context: Context,
  filter: ClientSessionFilter,
  query: Query,
): Promise<Representation[]> {
  await requireClient(context, filter.client)
  return listSessions(context, filter, parsePage(query, 100))
}

/** A search for the sessions of a realm, or of a client. */
export interface SessionListQuery {
  readonly type: 'ALL' | 'REGULAR' | 'OFFLINE'
  /** A text that the username, the address or the id of a client contains. */
  readonly search: string
  readonly page: Required<ListPage>
}

/** Lists a page of the sessions of the realm, or of a client: the online ones, then the offline ones. */
export async function listSessionsOfRealm(
  context: Context,
  client: string | undefined,
  { type, search, page: { first, max } }: SessionListQuery,
): Promise<Representation[]> {
  if (client === undefined) requirePermissions(context, 'view-realm')
  else await requireClient(context, client)
  const filter = {
    ...(client !== undefined && { client }),
    search: search.trim(),
    visible: await getObjectVisibility(context, 'Users'),
  }
  const sessions: Representation[] = []
  let skipped = first
  for (const offline of [false, true]) {
    if (type === (offline ? 'REGULAR' : 'OFFLINE')) continue
    const ofType = { ...filter, offline }
    const page = { first: skipped, max: max - sessions.length }
    for (const session of await listSessions(context, ofType, page)) {
      const { rememberMe: _, ...fields } = session
      sessions.push({ ...fields, type: offline ? 'OFFLINE' : 'REGULAR' })
    }
    if (sessions.length >= max) break
    const limits = await readSessionLimits(context, offline)
    const count = await countSessions(context.tx, context.realm.number, { filter: ofType, limits })
    skipped = Math.max(0, skipped - count)
  }
  return sessions
}

/** Returns the number of sessions of a client. */
export async function countClientSessions(context: Context, filter: ClientSessionFilter): Promise<{ count: number }> {
  await requireClient(context, filter.client)
  const limits = await readSessionLimits(context, filter.offline)
  return { count: await countSessions(context.tx, context.realm.number, { filter, limits }) }
}

/** Lists the clients that have sessions, with the numbers of their active and offline sessions. */
export async function listClientSessionStats(context: Context): Promise<Representation[]> {
  requirePermissions(context, 'view-realm')
  const { representation } = await getCurrentRealm(context)
  const statsByClient = new Map<string, { id: string; clientId: string; active: number; offline: number }>()
  for (const offline of [false, true]) {
    const limits = getSessionLimits(representation, offline, context.now)
    const counts = await countSessionsByClient(context.tx, context.realm.number, { offline, limits })
    for (const { id, clientId, count } of counts) {
      const stats = statsByClient.get(id) ?? { id, clientId, active: 0, offline: 0 }
      statsByClient.set(id, { ...stats, [offline ? 'offline' : 'active']: count })
    }
  }
  // Keycloak: the numbers are texts.
  return [...statsByClient.values()].map(({ id, clientId, active, offline }) => ({
    offline: String(offline),
    clientId,
    active: String(active),
    id,
  }))
}

/** Ends the session with that id. Throws not_found. */
export async function endSession(context: WriteContext, id: string, offline: boolean): Promise<void> {
  requirePermissions(context, 'manage-users')
  const limits = await readSessionLimits(context, offline)
  const filter = { id, offline }
  // Keycloak: the message is spelt like this.
  if (!(await countSessions(context.tx, context.realm.number, { filter, limits })))
    throw failure('not_found', 'Sesssion not found')
  await endSessions(context, filter)
  describeAdminEvent(context, { representation: { offline } })
}

/** Ends the online sessions of a user, and invalidates all tokens issued so far, offline tokens included. Offline sessions stay. */
export async function logOutUser(context: WriteContext, user: string): Promise<void> {
  const live = await getManageableUser(context, user)
  await endSessions(context, { user, offline: false })
  await writers.user.update(context, [{ live, set: { notBefore: toEpochSeconds(context.now) } }])
}

/** Ends all sessions of the realm, also offline ones, and invalidates all tokens issued so far. */
export async function logOutAll(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-users')
  await endSessions(context, {})
  const live = await getCurrentRealm(context)
  await writers.realm.update(context, [{ live, set: { notBefore: toEpochSeconds(context.now) } }])
}

/** Starts a session of a user for the caller, and ends the caller's own session, if its id is given. */
export async function impersonate(
  context: RuntimeContext,
  user: string,
  ownSession: string | undefined,
): Promise<UserSession> {
  const { actor, now } = context
  const live = await getLiveUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'impersonate', objects: [live] })
  if (!(await mayBeImpersonated(context, live))) throw failure('forbidden', 'HTTP 403 Forbidden')
  await requireControlOfUsers(context, [user])
  const { enabled, serviceAccountClientId } = live.representation
  if (enabled !== true) throw failure('invalid', 'User is disabled')
  if (serviceAccountClientId != null) throw failure('invalid', 'Service accounts cannot be impersonated')
  if (ownSession !== undefined) await endSessions(context, { id: ownSession, offline: false })
  const session = await startSession(context, {
    user: live.id,
    address: actor.address,
    body: {
      authTime: toEpochSeconds(now),
      // Keycloak: protocol mappers may add these notes to tokens.
      notes: { IMPERSONATOR_ID: actor.userId ?? '', IMPERSONATOR_USERNAME: actor.user ?? '' },
    },
  })
  const details = { impersonator: actor.user, impersonator_realm: actor.realm }
  recordUserEvent(context, { type: 'IMPERSONATE', user: live.id, session: session.id, details })
  return session
}

/** Returns the clients with which a user has offline sessions: client ids by id. */
export async function readOfflineClients(context: Context, user: string): Promise<Record<string, string>> {
  const limits = await readSessionLimits(context, true)
  const sessions = await selectSessions(context.tx, context.realm.number, { filter: { user, offline: true }, limits })
  return Object.assign({}, ...sessions.map(({ clients }) => clients))
}

async function requireClient(context: Context, id: string): Promise<void> {
  const live = await getClient(context, id)
  await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [live] })
}

async function readSessionLimits(context: Context, offline: boolean) {
  return getSessionLimits((await getCurrentRealm(context)).representation, offline, context.now)
}

async function listSessions(
  context: Context,
  filter: SessionFilter & { readonly offline: boolean },
  page: ListPage = {},
): Promise<Representation[]> {
  const limits = await readSessionLimits(context, filter.offline)
  return (await selectSessions(context.tx, context.realm.number, { filter, limits, page })).map(toRepresentation)
}

/** Keycloak: UserSessionRepresentation; times are in milliseconds, rounded down to seconds. */
function toRepresentation(session: ListedSession): Representation {
  const { id, username, user, address, startedAt, refreshedAt, rememberMe, clients } = session
  const toMilliseconds = (time: Date) => toEpochSeconds(time) * 1000
  return {
    id,
    username,
    userId: user,
    ...(address !== null && { ipAddress: address }),
    start: toMilliseconds(startedAt),
    lastAccess: toMilliseconds(refreshedAt),
    rememberMe,
    clients: { ...clients },
    transientUser: false,
  }
}
