// The steps of log-in by a client that sends what the person typed, all at once.
import { authenticatePassword } from '../../../service/login/login.ts'
import { OAuthError } from '../../oauth-error.ts'
import { type Authenticator, identify, type Login, personOf } from '../login.ts'
import { devicesOf, oneTimeCode } from './one-time-code.ts'

/** What the client is told, whatever was wrong: the event says more. */
const refused = (error: string) => new OAuthError(400, 'invalid_grant', 'Invalid user credentials', { error })

/** Reads whose log-in it is to be. Nobody is looked up before the password is looked at: the time would tell who is there. */
export const directUsername: Authenticator = {
  begin(login) {
    login.state.username = formOf(login).username ?? ''
    return 'success'
  },
}

/** Looks at the password. */
export const directPassword: Authenticator = {
  async begin(login): Promise<'success'> {
    const { service, realm, request, state } = login
    const { password = '' } = formOf(login)
    const form = { username: state.username ?? '', password, address: request.address }
    const { user, credential, error } = await authenticatePassword(service, realm, form)
    state.user = user?.id
    if (error !== undefined) throw refused(error)
    await identify(login, user.id)
    state.credential = credential
    state.used.push('password')
    return 'success'
  },
}

/** Looks at the one-time code. Keycloak: the field is called otp, or totp. */
export const directOneTimeCode: Authenticator = {
  ofPerson: true,
  configured: (login) => oneTimeCode.configured!(login),
  async begin(login, step) {
    const { otp, totp = otp, ...form } = formOf(login)
    const [device] = devicesOf(personOf(login))
    if (totp === undefined || !device) throw refused('invalid_user_credentials')
    const outcome = await oneTimeCode.answer!(login, step, { ...form, otp: totp })
    if (typeof outcome === 'object') throw refused(outcome.error ?? 'invalid_user_credentials')
    return outcome
  },
}

const formOf = ({ request }: Login): Readonly<Record<string, string>> => request.form ?? {}
