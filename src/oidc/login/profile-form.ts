// The fields of the registration form and the profile form, which the user profile of the realm defines.
import { type FlatFields, lowerCaseTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, readTexts } from '../../kinds/json.ts'
import { isUserField } from '../../kinds/user.ts'
import type { ProfileAttribute, UserProfile } from '../../kinds/user-profile.ts'
import { ServiceError } from '../../service/context/errors.ts'
import { getUserProfile } from '../../service/users/user-profile.ts'
import { canEdit, canView, findAttributeProblems, isRequired } from '../../service/users/user-profile-rules.ts'
import type { ProfileField } from '../pages/profile.ts'
import { parseScope } from '../tokens/scopes.ts'
import { listUserValues } from '../views.ts'
import type { FormFields } from './form.ts'
import { getPageLanguage, listPreferredLanguages } from './language.ts'
import { type Login, type LoginUser, readRealm } from './login.ts'
import type { FormProblem } from './session/login-state.ts'

/** Returns the user profile of the realm, for the scope of the login. */
export async function loadProfile(login: Login): Promise<UserProfile> {
  const profile = await readRealm(login, getUserProfile)
  const requested = parseScope(login.state.parameters.scope)
  const isRequested = (scopes: readonly string[] | undefined) =>
    scopes?.some((scope) => requested.includes(scope)) === true
  const attributes = (profile.attributes ?? [])
    .filter(({ selector }) => !selector?.scopes?.length || isRequested(selector.scopes))
    .map((attribute) => (isRequested(attribute.required?.scopes) ? { ...attribute, required: {} } : attribute))
  return { ...profile, attributes }
}

/** Returns the fields of the form for a user, or for a registration. */
export function listProfileFields(login: Login, profile: UserProfile, user?: LoginUser): ProfileField[] {
  const { registrationEmailAsUsername } = login.realm.settings
  const attributes = (profile.attributes ?? []).filter(
    ({ name }) => canView(profile, name, 'user') && !(name === 'username' && registrationEmailAsUsername === true),
  )
  return attributes.map((attribute) => ({
    name: attribute.name,
    label: attribute.displayName ?? attribute.name,
    required: attribute.name === 'username' || isRequired(attribute, 'user'),
    readonly: !canChange(login, { profile, user }, attribute.name),
    value: user ? listUserValues(user.fields, attribute.name).join('\n') : attribute.defaultValue,
    ...getInputType(attribute),
  }))
}

/** Returns the values of a submitted profile form; if any is invalid, no values and the first problem. */
export function readProfile(
  login: Login,
  profile: UserProfile,
  { form, user }: { readonly form: FormFields; readonly user?: LoginUser },
): { readonly set: FlatFields; readonly problem?: FormProblem } {
  const { settings } = login.realm
  const entries = (profile.attributes ?? []).flatMap((attribute): [string, Json][] => {
    if (!canChange(login, { profile, user }, attribute.name)) return []
    return [[attribute.name, parseValue(attribute, form[attribute.name])]]
  })
  const values: Record<string, Json> = Object.fromEntries(entries)
  if (settings.registrationEmailAsUsername === true && 'email' in values) values.username = values.email!
  const [problem] = findProblems(login, profile, values)
  if (problem) return { set: {}, problem: toFormProblem(problem, profile) }
  if ('username' in values && values.username === null) {
    const params = [{ name: getLabel(profile, 'username') }]
    return { set: {}, problem: { key: 'error-user-attribute-required', params, field: 'username' } }
  }
  const set = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [isUserField(name) ? name : `attributes.${name}`, value]),
  )
  return { set: lowerCaseTexts(kinds.user, set) }
}

/** Whether a user satisfies the profile. */
export function isProfileValid(login: Login, profile: UserProfile, user: LoginUser): boolean {
  const entries = (profile.attributes ?? []).flatMap(({ name }): [string, Json][] => {
    const values = listUserValues(user.fields, name)
    return [[name, values.length ? (isUserField(name) ? values[0]! : values) : null]]
  })
  const values: Record<string, Json> = Object.fromEntries(entries)
  // The user could not correct a username that may not be changed.
  if (!canChange(login, { profile, user }, 'username')) delete values.username
  return findProblems(login, profile, values).length === 0
}

function findProblems(login: Login, profile: UserProfile, values: Readonly<Record<string, Json>>): ServiceError[] {
  const language = getPageLanguage(login, listPreferredLanguages(login))
  return findAttributeProblems(profile, values, { role: 'user', language })
}

/** Returns the form problem of an error of the service. Throws errors that are not about a field. */
export function toFormProblem(error: unknown, profile: UserProfile): FormProblem {
  if (!(error instanceof ServiceError)) throw error
  if (error.code === 'conflict') {
    const field = error.message.includes('email') ? 'email' : 'username'
    return { key: `${field}ExistsMessage`, field }
  }
  const [field, ...params] = (error.errors?.[0] ?? error).params ?? []
  if (typeof field !== 'string') throw error
  return {
    key: (error.errors?.[0] ?? error).message,
    params: [{ name: getLabel(profile, field) }, ...params],
    field,
  }
}

function getLabel({ attributes }: UserProfile, name: string): string {
  return attributes?.find((attribute) => attribute.name === name)?.displayName ?? name
}

/** Whether the user may change an attribute. */
function canChange(
  { realm: { settings } }: Login,
  { profile, user }: { readonly profile: UserProfile; readonly user: LoginUser | undefined },
  name: string,
): boolean {
  const isFixed = name === 'username' && user !== undefined && settings.editUsernameAllowed !== true
  return !isFixed && canEdit(profile, name, 'user')
}

/** Parses the value of a field; a field with several values has one per line. */
function parseValue({ name, multivalued }: ProfileAttribute, text = ''): Json {
  const lines = (multivalued ? text.split(/\r?\n/) : [text]).map((line) => line.trim()).filter(Boolean)
  if (!lines.length) return null
  return isUserField(name) ? lines[0]! : lines
}

/** Returns the input of a field. Keycloak: the annotation `inputType`, and the options of the validator. */
function getInputType({
  multivalued,
  validations = {},
  annotations = {},
  name,
}: ProfileAttribute): Partial<ProfileField> {
  const inputType = String(annotations.inputType ?? '')
  if (multivalued || inputType === 'textarea') return { isMultiline: true }
  const options = validations.options?.options
  const type = name === 'email' ? 'email' : /^html5-(email|tel|url|number|date|time)$/.exec(inputType)?.[1]
  return { ...(options !== undefined && { options: readTexts(options) }), ...(type && { type }) }
}
