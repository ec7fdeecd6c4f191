// Somebody new signs up. The form is one step; what it asks for are steps of its own flow.
import type { Representation } from '../../../kinds/json.ts'
import { secondsOf } from '../../../lib/seconds.ts'
import { writers } from '../../../service/kinds/index.ts'
import { listObjects } from '../../../service/objects/live.ts'
import { passwordsOf } from '../../../service/users/credentials.ts'
import { registrationPage } from '../../pages/profile.ts'
import { newPassword } from '../actions/update-password.ts'
import type { Step } from '../flow.ts'
import { type Authenticator, callerOf, identify, type Login, reading, tell } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { fieldsOf, problemFrom, profileFor, readProfile } from '../profile-form.ts'
import type { Problem } from '../session/state.ts'

const CREATION = 'registration-user-creation'
const PASSWORD = 'registration-password-action'
const TERMS = 'registration-terms-and-conditions'
const PASSWORDS = ['password', 'password-confirm'] as const

/** The form, and the person that it makes. */
export const registration: Authenticator = {
  async begin(login, step) {
    const asks = demandedBy(step)
    return { page: registrationPage(fieldsOf(login, await profileFor(login)), asks) }
  },
  async answer(login, step, form) {
    const asks = demandedBy(step)
    const profile = await profileFor(login)
    const { set, problem } = readProfile(login, profile, form)
    if (problem) return told(problem)
    if (asks.terms && form.termsAccepted !== 'on')
      return told({ key: 'termsAcceptanceRequired', field: 'termsAccepted' })
    const make = await reading(login, async (context) =>
      passwordsOf(context, { username: String(set.username), email: set.email as string | null | undefined }),
    )
    const made = asks.password ? await newPassword(form, PASSWORDS, make) : undefined
    if (made && 'key' in made) return told(made)
    const agreed = asks.terms && {
      'attributes.terms_and_conditions': [String(secondsOf(login.realm.now))],
    }
    try {
      await create(login, accountOf({ ...set, ...agreed }, made?.credential))
    } catch (error) {
      return told(problemFrom(error, profile))
    }
    if (made) login.state.used.push('password')
    return 'success'
  },
}

/** The reference server's words for what is wrong. */
const WORDS: Readonly<Record<string, string>> = {
  usernameExistsMessage: 'username_in_use',
  emailExistsMessage: 'email_in_use',
}

const told = (problem: Problem): Problem => ({ ...problem, error: WORDS[problem.key] ?? 'invalid_registration' })

/** What the steps of the form demand. Throws where one is not executed here, or none makes an account. */
function demandedBy({ steps }: Step): { readonly password: boolean; readonly terms: boolean } {
  const demanded = steps
    .filter(({ requirement }) => requirement !== 'DISABLED')
    .map(({ authenticator }) => authenticator ?? '')
  const strange = demanded.find((one) => ![CREATION, PASSWORD, TERMS].includes(one))
  if (strange !== undefined || !demanded.includes(CREATION)) {
    throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', [strange ?? CREATION])
  }
  return { password: demanded.includes(PASSWORD), terms: demanded.includes(TERMS) }
}

/** An account from flat fields. */
function accountOf(set: Readonly<Record<string, unknown>>, credential: Representation | undefined): Representation {
  const stated = Object.entries(set).filter(([, value]) => value !== null)
  const attributes = stated.flatMap(([path, value]) =>
    path.startsWith('attributes.') ? [[path.slice('attributes.'.length), value]] : [],
  )
  return {
    ...Object.fromEntries(stated.filter(([path]) => !path.startsWith('attributes.'))),
    ...(attributes.length && { attributes: Object.fromEntries(attributes) }),
    ...(credential && { credentials: [credential] }),
    enabled: true,
  } as Representation
}

async function create(login: Login, account: Representation): Promise<void> {
  const { service, realm, state } = login
  const id = await service.write(callerOf(login), realm.name, async (context) => {
    const actions = await listObjects(context, 'requiredAction', { containing: { enabled: true, defaultAction: true } })
    const requiredActions = actions.map(({ key }) => key[0]!)
    const representation = { ...account, ...(requiredActions.length && { requiredActions }) }
    const [made] = await writers.user.create(context, [{ representation }])
    return made!.id
  })
  await identify(login, id)
  state.notes.created = id
  state.username = String(account.username)
  const email = account.email === undefined ? undefined : String(account.email)
  const { firstName: first_name, lastName: last_name } = account as Record<string, string | undefined>
  await tell(login, 'REGISTER', { details: { register_method: 'form', email, first_name, last_name } })
}
