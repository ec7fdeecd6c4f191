// Who the person is whose name and password a client sends: as the flow of the realm for it demands.

import { SYSTEM } from '../../service/context/service.ts'
import type { StoredUser } from '../../service/context/store-types.ts'
import { findById } from '../../service/login/login.ts'
import type { Login } from '../login/login.ts'
import { LoginError } from '../login/login-error.ts'
import { authenticate } from '../login/machine.ts'
import type { LoginState } from '../login/session/state.ts'
import { OAuthError } from '../oauth-error.ts'
import type { GrantCall } from './grant.ts'

/** Who somebody is, with what they showed for it. */
export interface Authenticated extends Pick<LoginState, 'used' | 'methods'> {
  readonly user: StoredUser
  /** The id of the credential. */
  readonly credential: string | undefined
}

/** The person, and what was shown. Throws OAuthError; `notes` says of whom. */
export async function authenticateDirectly(call: GrantCall): Promise<Authenticated> {
  const { service, base, realm, client, form, address = '', notes } = call
  const login: Login = {
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
    state: {
      binding: 'directGrant',
      client: client.key[0]!,
      parameters: { redirectUri: '', responseMode: 'query', scope: form.scope ?? '', prompt: [] },
      done: {},
      used: [],
      actions: [],
      ended: [],
      notes: {},
    },
    tab: '',
    person: undefined,
  }
  try {
    await authenticate(login)
  } catch (error) {
    if (error instanceof LoginError) throw refused(error)
    throw error
  } finally {
    notes.details.username = form.username || undefined
    notes.user = login.state.user
  }
  const user = await service.read(SYSTEM, realm.name, (context) => findById(context, login.person!.live.id))
  const { credential, used, methods } = login.state
  return { user: user!, credential, used, methods }
}

/** A flow that cannot be executed says so; whatever else was wrong is not told. */
function refused({ key, error, about }: LoginError): OAuthError {
  if (key === 'accountDisabledMessage') return new OAuthError(400, 'invalid_grant', 'Account disabled', { error })
  if (key !== 'unsupportedStepMessage')
    return new OAuthError(400, 'invalid_grant', 'Invalid user credentials', { error })
  const reason = `The flow demands ${about.join(', ')}, which this server does not offer`
  return new OAuthError(400, 'invalid_grant', reason, { error, reason })
}
