// Identity-first login: the email address selects the organization of the user. Keycloak: organization.
import { readFlag, readObjects } from '../../../kinds/json.ts'
import { writers } from '../../../service/kinds/index.ts'
import { type Authenticator, getLoginUser, type Login, readRealm } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { challengeLogin, storeRememberMe } from './password-forms.ts'

/**
 * Asks for the username in a realm with organizations; the next steps authenticate the user. The login fails for a user of
 * an organization with an identity provider, since identity brokering is not supported.
 */
export const organizationAuthenticator: Authenticator = {
  isConfigured: ({ realm }) => realm.settings.organizationsEnabled === true,
  async authenticate(login, { config }) {
    if (readFlag(config.requiresUserMembership)) {
      throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', {
        params: ['requiresUserMembership'],
      })
    }
    const [organization] = await readRealm(login, (context) => writers.organization.list(context, { max: 1 }))
    if (!organization) return 'attempted'
    const email = login.user?.fields.email ?? login.state.username
    if (email === undefined) return challengeLogin(login, { username: true, password: false })
    await rejectBrokeredEmail(login, email)
    return 'attempted'
  },
  async handleForm(login, _step, form) {
    const name = (form.username ?? '').trim()
    if (name === '') return { key: 'missingUsernameMessage', field: 'username' }
    storeRememberMe(login, form)
    login.state.username = name
    login.state.values = { username: name }
    // The user is not looked up: the next page is the same for every name.
    login.state.notes.enteredName = name
    await rejectBrokeredEmail(login, name)
    return 'attempted'
  },
}

/**
 * Throws LoginError where the user entered a username, and an identity provider is responsible for the email address of
 * the account. Checked after authentication, since the error reveals the email address.
 */
export async function rejectBrokeredUser(login: Login): Promise<void> {
  const { email } = getLoginUser(login).fields
  if (login.state.notes.enteredName !== undefined && email !== undefined) await rejectBrokeredEmail(login, email)
}

/** Throws LoginError where the domain of an email address belongs to an organization with an identity provider. */
async function rejectBrokeredEmail(login: Login, email: string): Promise<void> {
  const domain = email.split('@')[1]?.toLowerCase()
  if (domain === undefined) return
  const { organizations, providers } = await readRealm(login, async (context) => ({
    organizations: await writers.organization.list(context, {}),
    providers: await writers.identityProvider.list(context, {}),
  }))
  const organization = organizations.find(
    ({ representation: { domains, enabled } }) =>
      enabled !== false && readObjects(domains).some(({ name }) => String(name).toLowerCase() === domain),
  )
  const provider = providers.find(
    ({ representation }) => representation.organization === organization?.key[0] && representation.enabled !== false,
  )
  if (organization && provider) {
    throw new LoginError('unsupportedStepMessage', 'identity_provider_not_found', { params: [provider.key[0]!] })
  }
}
