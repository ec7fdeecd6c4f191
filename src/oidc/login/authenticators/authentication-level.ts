// Levels of authentication: a client requests one, and conditional subflows are the steps up to it. Keycloak: AcrStore.
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import type { UserSession } from '../../../service/context/store-types.ts'
import { parseRequestedLevels } from '../../mappers/claims-parameter.ts'
import { parseLevels } from '../../mappers/session.ts'
import { readSessionData } from '../../session-data.ts'
import { viewClient } from '../../views.ts'
import type { FlowStep } from '../flow.ts'
import type { Login } from '../login.ts'
import { LoginError } from '../login-error.ts'

/** The provider id of the condition for a level. */
export const LEVEL_CONDITION = 'conditional-level-of-authentication'

/** Returns the level of a name: the client or the realm maps it, or it is a number; otherwise NaN. */
function toLevel({ client, realm }: Login, name: string): number {
  const levels = parseLevels(viewClient(client).attributes) ?? parseLevels(realm.settings.attributes) ?? {}
  return Object.hasOwn(levels, name) ? levels[name]! : Number(name)
}

/** Returns the level that every login of the client must reach; `Infinity` if the client has an unknown one. Keycloak: minimum.acr.value. */
export function getMinimumLevel(login: Login): number {
  const name = viewClient(login.client).attributes?.['minimum.acr.value'] ?? ''
  const level = toLevel(login, name)
  return Number.isNaN(level) ? Number.POSITIVE_INFINITY : level
}

/** Returns the lowest of the requested levels, but no less than the minimum of the client; undefined if neither is there. */
export function findRequestedLevel(login: Login): number | undefined {
  const levels = [getMinimumLevel(login), findLowestLevel(login) ?? 0]
  return Math.max(...levels) > 0 ? Math.max(...levels) : findLowestLevel(login)
}

/** Returns the lowest of the levels that the request or the client names; undefined if there is none. */
function findLowestLevel(login: Login): number | undefined {
  const { client, state } = login
  const { attributes = {} } = viewClient(client)
  const { claims, acrValues } = state.parameters
  const defaults = (attributes['default.acr.values'] ?? '').split('##').filter(Boolean)
  const candidates = [parseRequestedLevels(claims).values, acrValues?.split(' ') ?? [], defaults]
  const names = candidates.find(({ length }) => length) ?? []
  const numbers = names.map((name) => toLevel(login, name))
  const valid = numbers.filter((level) => level >= 0)
  return valid.length ? Math.min(...valid) : undefined
}

/** Whether the requested level is essential, so that the login fails without it. OpenID Connect Core, section 5.5.1.1. */
export function isLevelEssential({ state }: Login): boolean {
  return parseRequestedLevels(state.parameters.claims).isEssential
}

/** Throws LoginError if an essential level is unknown, since no login can be known to reach it. Keycloak: also if the request names others. */
export function requireKnownLevels(login: Login): void {
  const { values, isEssential } = parseRequestedLevels(login.state.parameters.claims)
  if (!isEssential || !values.some((name) => Number.isNaN(toLevel(login, name)))) return
  throw new LoginError('invalidParameterMessage', 'invalid_request', { params: ['claims'] })
}

/**
 * Whether the subflow of a level must be executed: no level was reached, or a higher one is requested, unless an earlier
 * login reached the level not too long ago.
 */
export function isLevelConditionMet(login: Login, condition: FlowStep): boolean {
  const { state, realm } = login
  const reached = findReachedLevel(login)
  if (reached !== undefined && reached >= (findRequestedLevel(login) ?? 0)) return false
  const level = getLevel(condition)
  const reachedAt = state.levels?.[level]
  // Keycloak: without a maximum age a level counts only for the login that reached it.
  const maxAge = Number(condition.config['loa-max-age'] || 0)
  if (reachedAt === undefined || toEpochSeconds(realm.now) - reachedAt >= maxAge) return true
  state.notes.level = level
  return false
}

/** Records the level of a conditional subflow that succeeded. */
export function recordLevel(login: Login, { steps }: FlowStep): void {
  const { state, realm } = login
  const condition = steps.find(
    ({ authenticator, requirement }) => authenticator === LEVEL_CONDITION && requirement !== 'DISABLED',
  )
  if (!condition) return
  const level = getLevel(condition)
  if (level > (findReachedLevel(login) ?? -1)) state.notes.level = level
  state.levels = { ...state.levels, [level]: state.levels?.[level] ?? toEpochSeconds(realm.now) }
}

/** Returns the level that a login has reached; undefined if its flow has no levels. */
export function findReachedLevel({ state }: Login): number | undefined {
  return state.notes.level
}

/** Whether the SSO session has a sufficient level for the request, as far as the flow has levels. */
export function isSessionLevelSufficient(login: Login, flow: readonly FlowStep[], session: UserSession): boolean {
  const available = listLevels(flow)
  const requested = findRequestedLevel(login)
  if (requested === undefined || !available.length) return true
  const reached = Object.keys(readSessionData(session).levels ?? {}).map(Number)
  return Math.max(-1, ...reached) >= Math.min(requested, Math.max(...available))
}

/** Lists the levels in a flow. */
export function listLevels(flow: readonly FlowStep[]): number[] {
  return flow.flatMap((step) => (step.authenticator === LEVEL_CONDITION ? [getLevel(step)] : listLevels(step.steps)))
}

const getLevel = ({ config }: FlowStep): number => Number(config['loa-condition-level'] ?? 0)
