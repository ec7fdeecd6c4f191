// The direct grant flow, which authenticates the user of a password grant.
import { MASTER } from '../../kinds/built-in/index.ts'
import { SYSTEM } from '../../service/context/service.ts'
import type { StoredUser } from '../../service/context/store-types.ts'
import { findUserById } from '../../service/login/find-user.ts'
import { hasRequiredActions } from '../login/actions/index.ts'
import { runFlow } from '../login/authentication-stage.ts'
import { getLoginUser, type Login } from '../login/login.ts'
import { LoginError } from '../login/login-error.ts'
import { createLoginState, type LoginState } from '../login/session/login-state.ts'
import { OAuthError } from '../oauth-error.ts'
import type { GrantRequest } from './grant.ts'

/** A user who passed the direct grant flow. */
export interface DirectGrantLogin extends Pick<LoginState, 'usedCredentialTypes' | 'methods'> {
  readonly user: StoredUser
  /** The id of the password credential. */
  readonly credential: string | undefined
  /** Whether an action of the realm is due, such as the completion of the profile. */
  readonly hasRequiredActions: boolean
}

/** Runs the direct grant flow with the fields of a token request. Sets the user of the event. Throws OAuthError. */
export async function runDirectGrantFlow(request: GrantRequest): Promise<DirectGrantLogin> {
  const { service, realm, form, event } = request
  const login = createDirectGrantLogin(request)
  let isActionDue: boolean
  try {
    await runFlow(login)
    // An incomplete profile must not lock out the administrators of master.
    isActionDue = request.realm.name !== MASTER && (await hasRequiredActions(login))
  } catch (error) {
    if (error instanceof LoginError) throw toOAuthError(error)
    throw error
  } finally {
    event.details.username = form.username || undefined
    event.user = login.state.user
  }
  const user = await service.read(SYSTEM, realm.name, (context) => findUserById(context, getLoginUser(login).id))
  const { credential, usedCredentialTypes, methods } = login.state
  return { user: user!, credential, usedCredentialTypes, hasRequiredActions: isActionDue, ...(methods && { methods }) }
}

/** Creates a login that is not stored: its only request is the token request. */
function createDirectGrantLogin({ service, base, realm, client, form, address = '' }: GrantRequest): Login {
  return {
    service,
    realm,
    client,
    request: {
      base,
      realm: realm.name,
      query: new URLSearchParams(),
      form,
      cookies: new Map(),
      address,
      secure: true,
      languages: '',
    },
    state: createLoginState('directGrant', {
      client: client.key[0]!,
      parameters: { redirectUri: '', responseMode: 'query', scope: form.scope ?? '', prompt: [] },
    }),
    tab: '',
    user: undefined,
  }
}

/** Hides the reason of a failed login from the client, unless the account is disabled or the flow is not supported. */
function toOAuthError({ key, error, params }: LoginError): OAuthError {
  const createError = (description: string, reason?: string) =>
    new OAuthError(400, 'invalid_grant', { description, event: { error, ...(reason && { reason }) } })
  if (key === 'accountDisabledMessage') return createError('Account disabled')
  if (key !== 'unsupportedStepMessage') return createError('Invalid user credentials')
  const reason = `The direct grant flow requires ${params.join(', ')}, which the password grant does not support`
  return createError(reason, reason)
}
