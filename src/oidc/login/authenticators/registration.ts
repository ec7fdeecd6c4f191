// The registration form. Its subflow defines what the form asks for.
import { type Representation, readText } from '../../../kinds/json.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import { refuseNamesOfDirectories } from '../../../service/federation/directory-login.ts'
import { INVITATION_TOKEN } from '../../../service/messages/action-tokens.ts'
import { createNewPasswordHasher } from '../../../service/users/credentials.ts'
import { getUserNameSettings } from '../../../service/users/user-profile.ts'
import { registerUser } from '../../../service/users/users.ts'
import { type ProfileField, registrationPage } from '../../pages/profile.ts'
import { TERMS_ATTRIBUTE } from '../actions/terms.ts'
import { createPasswordCredential } from '../actions/update-password.ts'
import type { FlowStep } from '../flow.ts'
import type { FormFields } from '../form.ts'
import { getLoginInvitation, type OpenInvitation, useInvitation } from '../invitations/open-invitation.ts'
import { type Authenticator, getCaller, type Login, readRealm, recordLoginEvent, setLoginUser } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { listPasswordRules } from '../password-rules.ts'
import { listProfileFields, loadProfile, readProfile, toFormProblem } from '../profile-form.ts'
import type { FormProblem } from '../session/login-state.ts'

const CREATION = 'registration-user-creation'
const PASSWORD = 'registration-password-action'
const TERMS = 'registration-terms-and-conditions'
const PASSWORD_FIELDS = ['password', 'password-confirm'] as const

/** Shows the form, and creates the user. Keycloak: registration-page-form. */
export const registrationForm: Authenticator = {
  async authenticate(login, step) {
    const { hasPassword, hasTerms } = readInputs(step)
    const passwordRules = hasPassword ? listPasswordRules(login.realm.settings, { isNewUser: true }) : undefined
    const invitation = await getLoginInvitation(login)
    const fields = listProfileFields(login, await loadProfile(login)).map((field) => prefillField(field, invitation))
    const { organization } = login.state.notes.invitation ?? {}
    return { page: registrationPage(fields, { passwordRules, hasTerms, organization }) }
  },
  async handleForm(login, step, form) {
    const { hasPassword, hasTerms } = readInputs(step)
    const profile = await loadProfile(login)
    const invitation = await getLoginInvitation(login)
    const { set, problem } = readProfile(login, profile, { form })
    if (problem) return addError(problem)
    if (invitation && 'email' in set && set.email !== invitation.invitation.email)
      return { key: 'invitationEmailMessage', field: 'email', error: 'invalid_token' }
    if (hasTerms && form.termsAccepted !== 'on')
      return addError({ key: 'termsAcceptanceRequired', field: 'termsAccepted' })
    const password = hasPassword ? await createCredential(login, set, form) : undefined
    if (password && 'key' in password) return addError(password)
    const acceptance = hasTerms && { [TERMS_ATTRIBUTE]: [String(toEpochSeconds(login.realm.now))] }
    try {
      await createUser(login, toRepresentation({ ...set, ...acceptance }, password?.credential), invitation)
    } catch (error) {
      return addError(toFormProblem(error, profile))
    }
    if (password) login.state.usedCredentialTypes.push('password')
    return 'success'
  },
}

/** Keycloak: the error codes of the user event. */
const errorCodes: Readonly<Record<string, string>> = {
  usernameExistsMessage: 'username_in_use',
  emailExistsMessage: 'email_in_use',
}

const addError = (problem: FormProblem): FormProblem => ({
  ...problem,
  error: errorCodes[problem.key] ?? 'invalid_registration',
})

/** Returns the inputs that the subflow adds. Throws LoginError for an unsupported step, or without a step that creates the user. */
function readInputs({ steps }: FlowStep): { readonly hasPassword: boolean; readonly hasTerms: boolean } {
  const providers = steps
    .filter(({ requirement }) => requirement !== 'DISABLED')
    .map(({ authenticator }) => authenticator ?? '')
  const unsupported = providers.find((provider) => ![CREATION, PASSWORD, TERMS].includes(provider))
  if (unsupported !== undefined || !providers.includes(CREATION)) {
    const params = [unsupported ?? CREATION]
    throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', { params })
  }
  return { hasPassword: providers.includes(PASSWORD), hasTerms: providers.includes(TERMS) }
}

async function createCredential(login: Login, { username, email }: Representation, form: FormFields) {
  const owner = { username: String(username), email: readText(email) }
  const hash = await readRealm(login, (context) => createNewPasswordHasher(context, owner, { isRegistration: true }))
  return createPasswordCredential(form, PASSWORD_FIELDS, hash)
}

/** Returns the representation of a user from flat fields such as `attributes.locale`. */
function toRepresentation(fields: Representation, credential: Representation | undefined): Representation {
  const present = Object.entries(fields).filter(([, value]) => value !== null)
  const attributes = present.flatMap(([path, value]) =>
    path.startsWith('attributes.') ? [[path.slice('attributes.'.length), value]] : [],
  )
  return {
    ...Object.fromEntries(present.filter(([path]) => !path.startsWith('attributes.'))),
    ...(attributes.length && { attributes: Object.fromEntries(attributes) }),
    ...(credential && { credentials: [credential] }),
    enabled: true,
  }
}

/** Returns a field with the value of the invitation. The email address cannot be changed, since the link was sent to it. */
function prefillField(field: ProfileField, open: OpenInvitation | undefined): ProfileField {
  if (!open) return field
  const { email, firstName, lastName } = open.invitation
  const value = { email, firstName, lastName }[field.name]
  return { ...field, ...(value && { value }), ...(field.name === 'email' && { readonly: true }) }
}

/** Creates the user. Keycloak: an organization manages the user who accepts its invitation. */
async function createUser(login: Login, user: Representation, open: OpenInvitation | undefined): Promise<void> {
  const { service, realm, state } = login
  const organizations = open ? [open.organization.key[0]!] : []
  const membership = open && { email: open.invitation.email, organizations, managedBy: organizations }
  await refuseNamesOfDirectories(service, realm.name, { names: user, checkAccess: async () => {} })
  const id = await service.write(getCaller(login), realm.name, async (context) => {
    if (open) await useInvitation(context, open.invitation.id)
    const { defaultRequiredActions: requiredActions } = await getUserNameSettings(context)
    const representation = { ...user, ...membership, ...(requiredActions.length && { requiredActions }) }
    return (await registerUser(context, { representation })).id
  })
  await setLoginUser(login, id)
  state.notes.createdUser = id
  state.username = String(user.username)
  const [email, first_name, last_name] = [user.email, user.firstName, user.lastName].map(readText)
  const details = { register_method: 'form', email, first_name, last_name }
  await recordLoginEvent(login, 'REGISTER', { details })
  if (!open) return
  const { id: token_id, organization: org_id } = open.invitation
  await recordLoginEvent(login, 'INVITE_ORG', { details: { ...details, token_id, org_id, action: INVITATION_TOKEN } })
}
