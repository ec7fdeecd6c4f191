import { updateOwnAccount } from '../../../service/login/own-account.ts'
import { profilePage } from '../../pages/profile.ts'
import { getProfileChanges } from '../event-details.ts'
import type { FormFields } from '../form.ts'
import { getCaller, getLoginUser, type Login } from '../login.ts'
import { isProfileValid, listProfileFields, loadProfile, readProfile, toFormProblem } from '../profile-form.ts'
import type { FormProblem } from '../session/login-state.ts'
import type { RequiredAction } from './action.ts'

/** The required action in which users review and change their profile. */
export const updateProfile: RequiredAction = {
  events: ['UPDATE_PROFILE'],
  details: { context: 'UPDATE_PROFILE' },
  listChanges: getProfileChanges,
  async challenge(login) {
    const fields = listProfileFields(login, await loadProfile(login), getLoginUser(login))
    return { page: profilePage(fields, { isCancellable: login.state.parameters.action === 'UPDATE_PROFILE' }) }
  },
  handleForm,
}

/** The user corrects a profile that does not satisfy the rules of the realm. */
export const verifyProfile: RequiredAction = {
  events: ['VERIFY_PROFILE'],
  isTriggered: async (login) => !isProfileValid(login, await loadProfile(login), getLoginUser(login)),
  async challenge(login) {
    const profile = await loadProfile(login)
    const user = getLoginUser(login)
    if (isProfileValid(login, profile, user)) return undefined
    return { page: profilePage(listProfileFields(login, profile, user), { isCancellable: false }) }
  },
  handleForm,
}

async function handleForm(login: Login, form: FormFields): Promise<'done' | FormProblem> {
  const profile = await loadProfile(login)
  const user = getLoginUser(login)
  const { set, problem } = readProfile(login, profile, { form, user })
  if (problem) return problem
  try {
    await login.service.write(getCaller(login), login.realm.name, (context) =>
      updateOwnAccount(context, user.id, { set }),
    )
    return 'done'
  } catch (error) {
    return toFormProblem(error, profile)
  }
}
