// Levels of authentication: an application asks for one, and conditional flows are the steps up to it. Keycloak: AcrStore.

import { secondsOf } from '../../../lib/seconds.ts'
import type { UserSession } from '../../../service/context/store-types.ts'
import { levelsOf } from '../../mappers/session.ts'
import { wishesOf } from '../../mappers/wishes.ts'
import type { Step } from '../flow.ts'
import type { Login } from '../login.ts'
import type { Levels } from '../session/state.ts'

/** The condition that stands for a level. */
export const LEVEL = 'conditional-level-of-authentication'

/** The lowest level that the application would be content with; absent: it asks for none. */
export function requestedLevel({ client, realm, state }: Login): number | undefined {
  const attributes = (client.representation.attributes ?? {}) as Record<string, string>
  const levels = levelsOf(attributes) ?? levelsOf(realm.settings.attributes) ?? {}
  const { claims, acrValues } = state.parameters
  const { acr } = wishesOf(claims, 'id_token')
  const wished = [acr?.value, acr?.values].flat().filter((one) => typeof one === 'string')
  const usual = (attributes['default.acr.values'] ?? '').split('##').filter(Boolean)
  const [asked = []] = [wished, acrValues?.split(' ') ?? [], usual].filter(({ length }) => length)
  const numbers = asked.map((name) => (Object.hasOwn(levels, name) ? levels[name]! : Number(name)))
  const known = numbers.filter((level) => level >= 0)
  return known.length ? Math.min(...known) : undefined
}

/** Whether the application insists on its level (OpenID Connect Core, section 5.5.1.1). */
export function insistsOnLevel({ state }: Login): boolean {
  return wishesOf(state.parameters.claims, 'id_token').acr?.essential === true
}

/**
 * Whether the flow of a level must be gone through: where nothing was reached yet, or the application asks for more, unless
 * an earlier log-in reached that level not too long ago.
 */
export function levelHolds(login: Login, condition: Step): boolean {
  const { state, realm } = login
  const reached = levelOf(login)
  if (reached !== undefined && reached >= (requestedLevel(login) ?? 0)) return false
  const level = levelIn(condition)
  const before = state.levels?.[level]
  // Keycloak: without a longest age a level counts for this log-in only.
  const maxAge = Number(condition.config['loa-max-age'] || 0)
  if (before === undefined || secondsOf(realm.now) - before >= maxAge) return true
  state.notes.level = String(level)
  return false
}

/** Notes the level of a conditional flow that was gone through. */
export function levelReached(login: Login, { steps }: Step): void {
  const { state, realm } = login
  const condition = steps.find(
    ({ authenticator, requirement }) => authenticator === LEVEL && requirement !== 'DISABLED',
  )
  if (!condition) return
  const level = levelIn(condition)
  if (level > (levelOf(login) ?? -1)) state.notes.level = String(level)
  state.levels = { ...state.levels, [level]: state.levels?.[level] ?? secondsOf(realm.now) }
}

/** The level that this log-in has reached; absent: its flow knows none. */
export function levelOf({ state }: Login): number | undefined {
  return state.notes.level === undefined ? undefined : Number(state.notes.level)
}

/** Whether the session of an earlier log-in is enough for what the application asks for now, in that flow. */
export function isHighEnough(login: Login, flow: readonly Step[], session: UserSession): boolean {
  const possible = levelsIn(flow)
  const wished = requestedLevel(login)
  if (wished === undefined || !possible.length) return true
  const levels = (session.body.levels ?? {}) as Levels
  return Math.max(-1, ...Object.keys(levels).map(Number)) >= Math.min(wished, Math.max(...possible))
}

function levelsIn(flow: readonly Step[]): number[] {
  return flow.flatMap((step) => (step.authenticator === LEVEL ? [levelIn(step)] : levelsIn(step.steps)))
}

const levelIn = ({ config }: Step): number => Number(config['loa-condition-level'] ?? 0)
