import { secondsOf } from '../../../lib/seconds.ts'
import { changeOwnAccount } from '../../../service/login/own-account.ts'
import { termsPage } from '../../pages/actions.ts'
import { callerOf, personOf } from '../login.ts'
import { LoginError } from '../login-error.ts'
import type { RequiredAction } from './action.ts'

/** Keycloak: where it is kept when somebody agreed, in seconds since 1970. */
const AGREED = 'attributes.terms_and_conditions'

/** Somebody agrees to the terms of the realm, which are its text `termsText`. Who does not, does not come in. */
export const termsAndConditions: RequiredAction = {
  events: ['CUSTOM_REQUIRED_ACTION'],
  begin: () => ({ page: termsPage }),
  async answer(login, form) {
    if (form.accept !== 'true') throw new LoginError('termsAcceptanceRequired', 'rejected_by_user')
    const { id } = personOf(login).live
    const at = String(secondsOf(login.realm.now))
    await login.service.write(callerOf(login), login.realm.name, (context) =>
      changeOwnAccount(context, id, { [AGREED]: [at] }),
    )
    return 'done'
  },
}
