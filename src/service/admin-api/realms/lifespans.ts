// Lifespans of a realm that contradict each other. Keycloak: only an update of the realm is checked, not its creation.
import type { Representation } from '../../../kinds/json.ts'
import { failure } from '../../context/errors.ts'

/** Throws invalid where the lifespans in the body of an update, or those of the realm afterwards, contradict each other. */
export function checkLifespans(body: Representation, next: Representation): void {
  const { accessCodeLifespanLogin = null, accessCodeLifespanUserAction = null } = body
  const codes = [accessCodeLifespanLogin, accessCodeLifespanUserAction]
  if (codes.every((seconds) => seconds !== null) && codes.some((seconds) => Number(seconds) < 1))
    throw failure('invalid', 'AccessCodeLifespanLogin or AccessCodeLifespanUserAction cannot be 0')
  const remembers = next.rememberMe === true
  const isLonger = (client: string, session: string) => {
    const remembered = remembers ? Number(next[`${session}RememberMe`] ?? 0) : Number.NEGATIVE_INFINITY
    return Number(next[client] ?? 0) > Math.max(Number(next[session] ?? 0), remembered)
  }
  if (isLonger('clientSessionIdleTimeout', 'ssoSessionIdleTimeout'))
    throw failure(
      'invalid',
      remembers
        ? 'Client session idle timeout cannot exceed realm SSO session idle timeout and RememberMe idle timeout.'
        : 'Client Session Idle Timeout cannot be greater than Realm SSO Idle Timeout.',
    )
  if (isLonger('clientSessionMaxLifespan', 'ssoSessionMaxLifespan'))
    throw failure(
      'invalid',
      remembers
        ? 'Client session max lifespan cannot exceed realm SSO session max lifespan and RememberMe Max span.'
        : 'Client session max lifespan cannot exceed realm SSO session max lifespan.',
    )
}
