// What events say of a log-in, in the reference server's words.
import type { Representation } from '../../kinds/json.ts'
import type { UserEvent } from '../../service/context/context.ts'
import type { LoginState } from './session/state.ts'

type Details = NonNullable<UserEvent['details']>

/** What is known by now: what the application asked for, who was typed in, and how far it has come. */
export function detailsOf({ state }: { readonly state: LoginState }): Details {
  const { redirectUri, responseMode } = state.parameters
  const authenticated = state.notes.authenticated !== undefined
  // Keycloak: not of people who are new, and not once they had something to do.
  const atOnce = state.binding !== 'registration' && !(authenticated && state.asked !== undefined)
  return {
    auth_method: 'openid-connect',
    ...(atOnce && { auth_type: 'code' }),
    ...(authenticated && { response_type: 'code', response_mode: responseMode }),
    redirect_uri: redirectUri || undefined,
    username: state.username || undefined,
  }
}

/** What a change of people's own details says of them: those that are kept outside of attributes. */
export function changesOf(before: Representation, after: Representation): Details {
  const fields = { email: 'email', firstName: 'first_name', lastName: 'last_name' } as const
  return Object.fromEntries(
    Object.entries(fields).flatMap(([field, name]) =>
      before[field] === after[field]
        ? []
        : [
            [`previous_${name}`, textOf(before[field])],
            [`updated_${name}`, textOf(after[field])],
          ],
    ),
  )
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
