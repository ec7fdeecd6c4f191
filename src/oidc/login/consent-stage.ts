// The last stage of a login: the consent of the user, where the client requires it.
import { type Representation, readTexts } from '../../kinds/json.ts'
import { updateOwnAccount } from '../../service/login/own-account.ts'
import { findConsentRequest } from '../consents.ts'
import { consentPage } from '../pages/actions.ts'
import { viewClient } from '../views.ts'
import { AuthorizationError } from './authorization-request.ts'
import { getCaller, getLoginUser, type LoginStage, readRealm } from './login.ts'

/** The name of the consent page in the state of a login. */
export const CONSENT = 'consent'

/** The last stage of a login: asks the user to consent to the client. */
export const consentStage: LoginStage = {
  async findPage(login) {
    const { client, state } = login
    // A user who carries out an action token is not logged in, so that the client gets no data.
    if (state.notes.isActionTokenOnly || state.completedActions.includes(CONSENT)) return undefined
    if (viewClient(client).consentRequired !== true) return undefined
    const { items, granted } = await readRealm(login, (context) =>
      findConsentRequest(context, { client, scope: state.parameters.scope, user: getLoginUser(login) }),
    )
    const missing = items.filter(({ name }) => !granted.includes(name))
    if (!missing.length && granted.length && !state.parameters.prompt.includes('consent')) return undefined
    const requested = missing.length ? missing : items
    state.currentPage = CONSENT
    state.notes.requestedConsents = requested.map(({ name }) => name)
    const texts = requested.map(({ text }) => text)
    return { page: consentPage(viewClient(client).name ?? client.key[0]!, texts) }
  },

  /** Stores the granted client scopes. Throws AuthorizationError where the user declines. */
  async submit(login, form) {
    const { client, state, realm, service } = login
    const { parameters, notes } = state
    if (form.accept !== 'true')
      throw new AuthorizationError(parameters, 'access_denied', { eventError: 'rejected_by_user' })
    const user = getLoginUser(login)
    const requested = notes.requestedConsents ?? []
    const isComplete = await service.write(getCaller(login), realm.name, async (context) => {
      // The consent may have changed since the page was shown. Client scopes that were not on the page are requested next.
      const { items, consent, otherConsents, granted } = await findConsentRequest(context, {
        client,
        scope: parameters.scope,
        user,
      })
      const names = items.map(({ name }) => name)
      const accepted = names.filter((name) => name !== client.key[0] && requested.includes(name))
      const now = realm.now.getTime()
      const updated: Representation = {
        createdDate: consent?.createdDate ?? now,
        lastUpdatedDate: now,
        clientId: client.key[0]!,
        grantedClientScopes: [...new Set([...readTexts(consent?.grantedClientScopes), ...accepted])],
      }
      await updateOwnAccount(context, user.id, { set: { clientConsents: [...otherConsents, updated] } })
      return names.every((name) => [...requested, ...granted].includes(name))
    })
    if (isComplete) state.completedActions.push(CONSENT)
  },
}
