// Conditions on sessions: the selected and the active ones.
import { sql } from 'kysely'
import { buildVisibility, type Visibility } from '../visibility.ts'

/** The columns of a user session `s`. */
export const sessionColumns = sql`
  s.id, s.offline, s.user_account as "user", s.started_at as "startedAt", s.refreshed_at as "refreshedAt",
  s.remember_me as "rememberMe", s.address, s.body`

/** The earliest times at which active sessions were started and last used; sessions with "remember me" have limits of their own. */
export interface SessionLimits {
  readonly started: Date
  readonly refreshed: Date
  readonly rememberedStarted: Date
  readonly rememberedRefreshed: Date
}

/** Selects sessions of a realm. All conditions must hold. */
export interface SessionFilter {
  readonly id?: string
  readonly user?: string
  readonly client?: string
  readonly offline?: boolean
  /** A text that the username, the address or the id of a client contains. */
  readonly search?: string
  /** The users whose sessions are selected. */
  readonly visible?: Visibility
  /** Id of a session to exclude. */
  readonly except?: string | undefined
}

/** Returns the condition that the user session `s` meets the filter. */
export function buildSessionFilter(realm: number, filter: SessionFilter) {
  const { id, user, client, offline, except, search = '', visible = 'all' } = filter
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
    }
    ${search === '' ? sql`` : sql`and ${buildSessionSearch(search)}`}
    ${
      visible === 'all'
        ? sql``
        : sql`and exists (select from user_account v
            where v.realm = s.realm and v.id = s.user_account and ${buildVisibility('v', visible)})`
    }`
}

function buildSessionSearch(text: string) {
  return sql`(strpos(s.address, ${text}) > 0
    or exists (select from user_account v
      where v.realm = s.realm and v.id = s.user_account and strpos(v.username, ${text}) > 0)
    or exists (select from client_session c join client k on k.realm = c.realm and k.id = c.client
      where c.realm = s.realm and c.offline = s.offline and c.session = s.id and strpos(k.client_id, ${text}) > 0))`
}

/** Returns the condition that the user session `s` is active. */
export function buildActiveFilter({ started, refreshed, rememberedStarted, rememberedRefreshed }: SessionLimits) {
  return sql`case when s.remember_me
    then s.started_at > ${rememberedStarted} and s.refreshed_at > ${rememberedRefreshed}
    else s.started_at > ${started} and s.refreshed_at > ${refreshed} end`
}
