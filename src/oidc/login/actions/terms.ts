import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import { updateOwnAccount } from '../../../service/login/own-account.ts'
import { termsPage } from '../../pages/actions.ts'
import { getCaller, getLoginUser } from '../login.ts'
import { LoginError } from '../login-error.ts'
import type { RequiredAction } from './action.ts'

/** Keycloak: the attribute with the time of the user's agreement, in seconds since 1970. */
export const TERMS_ATTRIBUTE = 'attributes.terms_and_conditions'

/** The user accepts the terms of the realm, which are its text `termsText`. A login without acceptance fails. */
export const termsAndConditions: RequiredAction = {
  events: ['CUSTOM_REQUIRED_ACTION'],
  challenge: () => ({ page: termsPage }),
  async handleForm(login, form) {
    if (form.accept !== 'true') throw new LoginError('termsAcceptanceRequired', 'rejected_by_user')
    const { id } = getLoginUser(login)
    const set = { [TERMS_ATTRIBUTE]: [String(toEpochSeconds(login.realm.now))] }
    await login.service.write(getCaller(login), login.realm.name, (context) => updateOwnAccount(context, id, { set }))
    return 'done'
  },
}
