// Which sessions a statement is about, and which of them go on.
import { sql } from 'kysely'

/** The columns of a session `s`. */
export const sessionColumns = sql`
  s.id, s.offline, s.user_account as "user", s.started_at as "startedAt", s.refreshed_at as "refreshedAt",
  s.remember_me as "rememberMe", s.address, s.body`

/** When sessions that still go on must have begun and been used last; those that are remembered, and the others. */
export interface SessionLimits {
  readonly started: Date
  readonly refreshed: Date
  readonly rememberedStarted: Date
  readonly rememberedRefreshed: Date
}

/** Which sessions are meant: those of an id, a user, a client, or all of the realm. */
export interface SessionFilter {
  readonly id?: string
  readonly user?: string
  readonly client?: string
  readonly offline?: boolean
  /** Id of the session that stays. */
  readonly except?: string | undefined
}

/** The condition that a session `s` is one of those. */
export function chosen(realm: number, { id, user, client, offline, except }: SessionFilter) {
  return sql`s.realm = ${realm}
    ${id === undefined ? sql`` : sql`and s.id = ${id}`}
    ${user === undefined ? sql`` : sql`and s.user_account = ${user}`}
    ${offline === undefined ? sql`` : sql`and s.offline = ${offline}`}
    ${except === undefined ? sql`` : sql`and s.id <> ${except}`}
    ${
      client === undefined
        ? sql``
        : sql`and exists (select from client_session c
            where c.realm = s.realm and c.offline = s.offline and c.session = s.id and c.client = ${client})`
    }`
}

/** The condition that a session `s` goes on. */
export function goingOn({ started, refreshed, rememberedStarted, rememberedRefreshed }: SessionLimits) {
  return sql`case when s.remember_me
    then s.started_at > ${rememberedStarted} and s.refreshed_at > ${rememberedRefreshed}
    else s.started_at > ${started} and s.refreshed_at > ${refreshed} end`
}
