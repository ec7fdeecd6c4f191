import { randomInt } from 'node:crypto'
import { Secret } from 'otpauth'
import { listOtpApplications } from '../../../kinds/realm.ts'
import { addOwnCredential } from '../../../service/login/own-account.ts'
import { normalizeLabel } from '../../../service/users/credentials.ts'
import {
  createOtpUri,
  formatOtpSecret,
  getLookAheadWindow,
  getOtpPolicy,
  matchOtpCode,
  useTotpCode,
} from '../../../service/users/one-time-codes.ts'
import { configureTotpPage } from '../../pages/configure-totp.ts'
import { listOtpDevices } from '../authenticators/otp-form.ts'
import { getCaller, getLoginUser } from '../login.ts'
import { seal, unseal } from '../session/cookies.ts'
import type { RequiredAction } from './action.ts'

const PURPOSE = 'one-time codes'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The user sets up an authenticator app: the app gets a secret, and the user enters the first code of the app. */
export const configureTotp: RequiredAction = {
  events: ['UPDATE_TOTP', 'UPDATE_CREDENTIAL'],
  details: { credential_type: 'otp' },
  challenge(login) {
    const { state, realm, service } = login
    const user = getLoginUser(login)
    // The secret does not change after a wrong code, since the app has it already.
    const secret = unseal<string>(service.vault, PURPOSE, state.notes.sealedOtpSecret) ?? generateOtpSecret()
    state.notes.sealedOtpSecret ??= seal(service.vault, PURPOSE, secret)
    const policy = getOtpPolicy(realm.settings)
    const issuer = realm.settings.displayName ?? realm.name
    return {
      page: configureTotpPage({
        address: createOtpUri(policy, secret, { issuer, label: user.username }),
        formattedSecret: formatOtpSecret(secret),
        policy,
        applications: listOtpApplications(realm.settings),
        isLabelRequired: listOtpDevices(user).length > 0,
        isCancellable: state.parameters.action === 'CONFIGURE_TOTP',
      }),
    }
  },
  async handleForm(login, { totp = '', userLabel = '' }) {
    const { state, realm, service } = login
    const user = getLoginUser(login)
    const secret = unseal<string>(service.vault, PURPOSE, state.notes.sealedOtpSecret)
    if (totp.trim() === '') return { key: 'missingTotpMessage', field: 'totp' }
    if (userLabel.trim() === '' && listOtpDevices(user).length) {
      return { key: 'missingTotpDeviceNameMessage', field: 'userLabel' }
    }
    if (
      listOtpDevices(user).some(
        (device) => normalizeLabel(String(device.userLabel ?? '')) === normalizeLabel(userLabel),
      )
    )
      return { key: 'totpDeviceNameExistsMessage', field: 'userLabel' }
    const policy = getOtpPolicy(realm.settings)
    const window = getLookAheadWindow(realm.settings)
    const submitted = { code: totp, window, now: realm.now }
    const deviation = secret === undefined ? null : matchOtpCode(policy, Secret.fromUTF8(secret), submitted)
    if (deviation === null) return { key: 'invalidTotpMessage', field: 'totp' }
    const counter = policy.subType === 'hotp' ? policy.counter + deviation + 1 : policy.counter
    const credential = {
      type: 'otp',
      userLabel: userLabel.trim(),
      secretData: JSON.stringify({ value: secret }),
      credentialData: JSON.stringify({ ...policy, counter }),
    }
    await service.write(getCaller(login), realm.name, async (context) => {
      const id = await addOwnCredential(context, user.id, credential)
      // The first code must not be accepted again by a login.
      if (policy.subType === 'totp')
        await useTotpCode(context, realm.settings, { credential: id, period: policy.period, deviation })
    })
    delete state.notes.sealedOtpSecret
    return 'done'
  },
}

/** Keycloak: a secret is a text of 20 letters and digits; its bytes are the key. */
function generateOtpSecret(): string {
  return Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
