// Details of user events of logins, in Keycloak's terms.
import type { UserEvent } from '../../service/context/context.ts'
import type { UserFields } from '../views.ts'
import type { LoginState } from './session/login-state.ts'

type Details = NonNullable<UserEvent['details']>

/** Returns the details of a login: its authorization request, the entered username, and its progress. */
export function getLoginEventDetails({ state }: { readonly state: LoginState }): Details {
  const { parameters, isAuthenticated, currentPage, binding, username } = state
  // Keycloak: neither for registrations, nor after a required action.
  const hasAuthType = binding !== 'registration' && !(isAuthenticated && currentPage !== undefined)
  return {
    auth_method: 'openid-connect',
    ...(hasAuthType && { auth_type: 'code' }),
    ...(isAuthenticated && { response_type: 'code', response_mode: parameters.responseMode }),
    redirect_uri: parameters.redirectUri || undefined,
    username: username || undefined,
  }
}

/** Returns the previous and updated values of a profile change, without those of attributes. */
export function getProfileChanges(before: UserFields, after: UserFields): Details {
  const fields = { email: 'email', firstName: 'first_name', lastName: 'last_name' } as const
  return Object.fromEntries(
    (['email', 'firstName', 'lastName'] as const).flatMap((field) =>
      before[field] === after[field]
        ? []
        : [
            [`previous_${fields[field]}`, before[field]],
            [`updated_${fields[field]}`, after[field]],
          ],
    ),
  )
}
