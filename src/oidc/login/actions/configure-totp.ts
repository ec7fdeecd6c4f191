import { randomInt } from 'node:crypto'
import { Secret } from 'otpauth'
import { otpApplications } from '../../../kinds/realm.ts'
import { addOwnCredential } from '../../../service/login/own-account.ts'
import {
  addressOf,
  matchCode,
  policyOf,
  spendCode,
  typedSecret,
  windowOf,
} from '../../../service/users/one-time-codes.ts'
import { configureTotpPage } from '../../pages/configure-totp.ts'
import { devicesOf } from '../authenticators/one-time-code.ts'
import { callerOf, personOf } from '../login.ts'
import { openFor, sealFor } from '../session/cookies.ts'
import type { RequiredAction } from './action.ts'

const PURPOSE = 'one-time codes'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Somebody gives their app a secret, and shows a code that the app made with it. */
export const configureTotp: RequiredAction = {
  events: ['UPDATE_TOTP', 'UPDATE_CREDENTIAL'],
  details: { credential_type: 'otp' },
  begin(login) {
    const { state, realm, service } = login
    const person = personOf(login)
    // The secret stays the same until it is proved: the app has it already when a first code was mistyped.
    const secret = openFor<string>(service.vault, PURPOSE, state.notes.secret) ?? newSecret()
    state.notes.secret ??= sealFor(service.vault, PURPOSE, secret)
    const policy = policyOf(realm.settings)
    const issuer = String(realm.settings.displayName ?? realm.name)
    return {
      page: configureTotpPage({
        address: addressOf(policy, secret, issuer, person.live.key[0]!),
        typed: typedSecret(secret),
        policy,
        applications: otpApplications(realm.settings),
        labelNeeded: devicesOf(person).length > 0,
        cancellable: state.parameters.action === 'CONFIGURE_TOTP',
      }),
    }
  },
  async answer(login, { totp = '', userLabel = '' }) {
    const { state, realm, service } = login
    const person = personOf(login)
    const secret = openFor<string>(service.vault, PURPOSE, state.notes.secret)
    if (totp.trim() === '') return { key: 'missingTotpMessage', field: 'totp' }
    if (userLabel.trim() === '' && devicesOf(person).length) {
      return { key: 'missingTotpDeviceNameMessage', field: 'userLabel' }
    }
    const policy = policyOf(realm.settings)
    const window = windowOf(realm.settings)
    const off = secret === undefined ? null : matchCode(policy, Secret.fromUTF8(secret), totp, window, realm.now)
    if (off === null) return { key: 'invalidTotpMessage', field: 'totp' }
    const counter = policy.subType === 'hotp' ? policy.counter + off + 1 : policy.counter
    const credential = {
      type: 'otp',
      userLabel: userLabel.trim(),
      secretData: JSON.stringify({ value: secret }),
      credentialData: JSON.stringify({ ...policy, counter }),
    }
    await service.write(callerOf(login), realm.name, async (context) => {
      const id = await addOwnCredential(context, person.live.id, credential)
      // The code that proves the secret does not log anybody in besides.
      if (policy.subType === 'totp') await spendCode(context, realm.settings, policy, { credential: id, off })
    })
    delete state.notes.secret
    return 'done'
  },
}

/** Keycloak: a secret is a text of twenty letters and digits, whose bytes are the key. */
function newSecret(): string {
  return Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
}
