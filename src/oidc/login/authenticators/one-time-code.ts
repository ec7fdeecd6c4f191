// A one-time code from an app.
import { attempted } from '../../../service/login/attempts.ts'
import { useCode } from '../../../service/users/one-time-codes.ts'
import { oneTimeCodePage } from '../../pages/log-in.ts'
import { type Authenticator, type Login, noting, type Person, personOf } from '../login.ts'

/** The apps of a person. */
export const devicesOf = ({ credentials }: Person) => credentials.filter(({ type }) => type === 'otp')

/** Asks for a code of one of the person's apps. */
export const oneTimeCode: Authenticator = {
  ofPerson: true,
  configured: ({ person }) => person !== undefined && devicesOf(person).length > 0,
  setUpBy: 'CONFIGURE_TOTP',
  begin(login) {
    const person = personOf(login)
    const devices = devicesOf(person).map(({ id, userLabel }, at) => ({
      id: String(id),
      label: String(userLabel ?? `#${at + 1}`),
    }))
    return { page: oneTimeCodePage(person.live.key[0]!, devices, login.state.notes.device ?? devices[0]!.id) }
  },
  async answer(login, _step, { otp = '', selectedCredentialId }) {
    const devices = devicesOf(personOf(login))
    const device = devices.find(({ id }) => id === selectedCredentialId) ?? devices[0]!
    login.state.notes.device = String(device.id)
    const outcome = await attempt(login, () => isRight(login, device, otp))
    if (outcome !== 'right') {
      const error = outcome === 'locked' ? 'user_temporarily_disabled' : 'invalid_user_credentials'
      return { key: 'invalidTotpMessage', field: 'otp', error }
    }
    login.state.used.push('otp')
    return 'success'
  },
}

/** Codes can be guessed as passwords can. */
function attempt(login: Login, evaluate: () => Promise<boolean>) {
  const { service, realm, request } = login
  const { id, key, representation } = personOf(login).live
  const user = { id, username: key[0]!, body: representation }
  return attempted(service, realm, { user, username: user.username, address: request.address, otp: true }, evaluate)
}

function isRight(login: Login, device: Person['credentials'][number], code: string): Promise<boolean> {
  return noting(login, (context) => useCode(context, login.realm.settings, device, code))
}
