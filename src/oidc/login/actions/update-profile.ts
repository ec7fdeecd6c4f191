import { changeOwnAccount } from '../../../service/login/own-account.ts'
import { profilePage } from '../../pages/profile.ts'
import { callerOf, type Form, type Login, personOf } from '../login.ts'
import { fieldsOf, fits, problemFrom, profileFor, readProfile } from '../profile-form.ts'
import type { Problem } from '../session/state.ts'
import { changesOf } from '../told.ts'
import type { RequiredAction } from './action.ts'

/** Somebody checks their details. */
export const updateProfile: RequiredAction = {
  events: ['UPDATE_PROFILE'],
  details: { context: 'UPDATE_PROFILE' },
  changes: changesOf,
  async begin(login) {
    const profile = await profileFor(login)
    const fields = fieldsOf(login, profile, personOf(login).live)
    return { page: profilePage(fields, login.state.parameters.action === 'UPDATE_PROFILE') }
  },
  answer,
}

/** Somebody whose details do not fit the profile must mend them. */
export const verifyProfile: RequiredAction = {
  events: ['VERIFY_PROFILE'],
  due: async (login) => !fits(login, await profileFor(login), personOf(login).live),
  async begin(login) {
    const profile = await profileFor(login)
    const { live } = personOf(login)
    return fits(login, profile, live) ? undefined : { page: profilePage(fieldsOf(login, profile, live), false) }
  },
  answer,
}

async function answer(login: Login, form: Form): Promise<'done' | Problem> {
  const profile = await profileFor(login)
  const { live } = personOf(login)
  const { set, problem } = readProfile(login, profile, form, live)
  if (problem) return problem
  try {
    await login.service.write(callerOf(login), login.realm.name, (context) => changeOwnAccount(context, live.id, set))
    return 'done'
  } catch (error) {
    return problemFrom(error, profile)
  }
}
