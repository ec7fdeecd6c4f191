import type { Representation } from '../../../kinds/json.ts'
import { resetPassword } from '../../../service/admin-api/users/credentials.ts'
import { ServiceError } from '../../../service/context/errors.ts'
import { endSessions } from '../../../service/login/sessions.ts'
import { createUserPasswordHasher } from '../../../service/users/credentials.ts'
import { isPasswordExpired, parsePasswordPolicy } from '../../../service/users/password-policy.ts'
import type { PasswordHasher } from '../../../service/users/password-policy-checks.ts'
import { updatePasswordPage } from '../../pages/actions.ts'
import type { FormFields } from '../form.ts'
import { getCaller, getLoginUser, readRealm, writeRuntime } from '../login.ts'
import { listPasswordRules } from '../password-rules.ts'
import type { FormProblem } from '../session/login-state.ts'
import type { RequiredAction } from './action.ts'

/** The user chooses a new password. Triggered by a password that has expired. */
export const updatePassword: RequiredAction = {
  events: ['UPDATE_PASSWORD', 'UPDATE_CREDENTIAL'],
  details: { credential_type: 'password' },
  isTriggered({ user, realm }) {
    const policy = parsePasswordPolicy(realm.settings.passwordPolicy ?? '')
    const password = user?.credentials.find(({ type }) => type === 'password')
    return password !== undefined && isPasswordExpired(policy, new Date(Number(password.createdDate)), realm.now)
  },
  challenge: (login) => ({
    page: updatePasswordPage({
      username: getLoginUser(login).username,
      rules: listPasswordRules(login.realm.settings),
    }),
  }),
  async handleForm(login, form) {
    const { id, live } = getLoginUser(login)
    const hash = await readRealm(login, (context) => createUserPasswordHasher(context, live))
    const result = await createPasswordCredential(form, ['password-new', 'password-confirm'], hash)
    if ('key' in result) return result
    await login.service.write(getCaller(login), login.realm.name, (context) =>
      resetPassword(context, id, result.credential),
    )
    if (form['logout-sessions'] === 'on') {
      const filter = { user: id, offline: false, except: login.state.session }
      await writeRuntime(login, (context) => endSessions(context, filter))
    }
    return 'done'
  },
}

/** Creates a credential for the password of two fields with the same value, or returns the problem of the form. */
export async function createPasswordCredential(
  form: FormFields,
  [name, confirmationName]: readonly [string, string],
  hash: PasswordHasher,
): Promise<{ readonly credential: Representation } | FormProblem> {
  const password = form[name] ?? ''
  if (password === '') return { key: 'missingPasswordMessage', field: name, error: 'password_missing' }
  if (password !== form[confirmationName])
    return { key: 'notMatchPasswordMessage', field: confirmationName, error: 'password_confirm_error' }
  try {
    return { credential: await hash(password) }
  } catch (error) {
    if (!(error instanceof ServiceError) || !error.pageText) throw error
    const { key, params } = error.pageText
    return { key, params: [...params], field: name, error: 'password_rejected' }
  }
}
