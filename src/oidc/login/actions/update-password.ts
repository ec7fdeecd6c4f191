import type { Representation } from '../../../kinds/json.ts'
import { resetPassword } from '../../../service/admin-api/users/credentials.ts'
import { ServiceError } from '../../../service/context/errors.ts'
import { endSessions } from '../../../service/login/sessions.ts'
import { passwordsOfUser } from '../../../service/users/credentials.ts'
import { isExpired, parsePolicy } from '../../../service/users/password-policy.ts'
import type { PasswordMaker } from '../../../service/users/password-rules.ts'
import { updatePasswordPage } from '../../pages/actions.ts'
import { callerOf, type Form, noting, personOf, reading } from '../login.ts'
import type { Problem } from '../session/state.ts'
import type { RequiredAction } from './action.ts'

/** Somebody chooses a new password; who has one that is too old must. */
export const updatePassword: RequiredAction = {
  events: ['UPDATE_PASSWORD', 'UPDATE_CREDENTIAL'],
  details: { credential_type: 'password' },
  due({ person, realm }) {
    const policy = parsePolicy(String(realm.settings.passwordPolicy ?? ''))
    const kept = person?.credentials.find(({ type }) => type === 'password')
    return kept !== undefined && isExpired(policy, new Date(Number(kept.createdDate)), realm.now)
  },
  begin: (login) => ({ page: updatePasswordPage(personOf(login).live.key[0]!) }),
  async answer(login, form) {
    const { live } = personOf(login)
    const make = await reading(login, (context) => passwordsOfUser(context, live))
    const made = await newPassword(form, ['password-new', 'password-confirm'], make)
    if ('key' in made) return made
    await login.service.write(callerOf(login), login.realm.name, (context) =>
      resetPassword(context, live.id, made.credential),
    )
    if (form['logout-sessions'] === 'on') {
      const others = { user: live.id, offline: false, except: login.state.session }
      await noting(login, (context) => endSessions(context, others))
    }
    return 'done'
  },
}

/** Makes a credential of two fields that must hold the same new password, or says what is wrong with it. */
export async function newPassword(
  form: Form,
  [name, repeated]: readonly [string, string],
  make: PasswordMaker,
): Promise<{ readonly credential: Representation } | Problem> {
  const password = form[name] ?? ''
  if (password === '') return { key: 'missingPasswordMessage', field: name, error: 'password_missing' }
  if (password !== form[repeated])
    return { key: 'notMatchPasswordMessage', field: repeated, error: 'password_confirm_error' }
  try {
    return { credential: await make(password) }
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.text) throw error
    return { key: error.text.key, about: error.text.params, field: name, error: 'password_rejected' }
  }
}
