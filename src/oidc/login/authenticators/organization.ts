// Log-in that begins with the mail address: it says which organization somebody belongs to.

import { writers } from '../../../service/kinds/index.ts'
import { type Authenticator, type Login, personOf, reading } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { loginPage, rememberMe } from './password.ts'

/**
 * Asks for the name, in a realm with organizations, and leaves the rest to the steps that follow. Who would be sent to an
 * identity provider of their organization cannot log in: there are none yet.
 */
export const organization: Authenticator = {
  configured: ({ realm }) => realm.settings.organizationsEnabled === true,
  async begin(login, { config }) {
    if (config.requiresUserMembership === 'true') {
      throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', ['requiresUserMembership'])
    }
    const [any] = await reading(login, (context) => writers.organization.list(context, { max: 1 }))
    if (!any) return 'attempted'
    const email = login.person?.live.representation.email ?? login.state.username
    if (email === undefined) return { page: loginPage(login, { username: true, password: false }) }
    await demandNoProvider(login, String(email))
    return 'attempted'
  },
  async answer(login, _step, form) {
    const name = (form.username ?? '').trim()
    if (name === '') return { key: 'missingUsernameMessage', field: 'username' }
    rememberMe(login, form)
    login.state.username = name
    login.state.values = { username: name }
    // Whether there is such a user is not looked up: the next page is the same for anybody.
    login.state.notes.named = name
    await demandNoProvider(login, name)
    return 'attempted'
  },
}

/** Throws where the user, who began with a name, would be sent to an identity provider: after the proof, since it tells of the account. */
export async function demandOwnPassword(login: Login): Promise<void> {
  const { email } = personOf(login).live.representation
  if (login.state.notes.named !== undefined && typeof email === 'string') await demandNoProvider(login, email)
}

/** Throws where the domain of the address is that of an organization that has identity providers. */
async function demandNoProvider(login: Login, email: string): Promise<void> {
  const domain = email.split('@')[1]?.toLowerCase()
  if (domain === undefined) return
  const { organizations, providers } = await reading(login, async (context) => ({
    organizations: await writers.organization.list(context, {}),
    providers: await writers.identityProvider.list(context, {}),
  }))
  const meant = organizations.find(
    ({ representation: { domains = [], enabled } }) =>
      enabled !== false && (domains as { name: string }[]).some(({ name }) => name.toLowerCase() === domain),
  )
  const provider = providers.find(
    ({ representation }) => representation.organization === meant?.key[0] && representation.enabled !== false,
  )
  if (meant && provider) {
    throw new LoginError('unsupportedStepMessage', 'identity_provider_not_found', [provider.key[0]!])
  }
}
