// What people say of themselves: which fields a form has by the profile of the realm, and what is wrong with what was typed.
import { type FlatFields, foldTexts } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { ProfileAttribute, UserProfile } from '../../kinds/user-profile.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { profileOf } from '../../service/users/profile.ts'
import { isChangeable, isNeeded, isSeen, problemsOf } from '../../service/users/user-profile.ts'
import { wordsOf } from '../grants/grant.ts'
import type { ProfileField } from '../pages/profile.ts'
import { languageFor, wishesOf } from './language.ts'
import { type Form, type Login, reading } from './login.ts'
import type { Problem } from './session/state.ts'

/** Fields of accounts; everything else is an attribute. */
const OWN: readonly string[] = ['username', 'email', 'firstName', 'lastName']

/** The profile of the realm, as far as the application of the log-in asks for it. */
export async function profileFor(login: Login): Promise<UserProfile> {
  const profile = await reading(login, profileOf)
  const asked = wordsOf(login.state.parameters.scope)
  const among = (scopes: readonly string[] | undefined) => scopes?.some((one) => asked.includes(one)) === true
  const attributes = (profile.attributes ?? [])
    .filter(({ selector }) => !selector?.scopes?.length || among(selector.scopes))
    .map((one) => (among(one.required?.scopes) ? { ...one, required: {} } : one))
  return { ...profile, attributes }
}

/** The fields of the form for a person, or for somebody new. */
export function fieldsOf({ realm: { settings } }: Login, profile: UserProfile, live?: LiveObject): ProfileField[] {
  const shown = (profile.attributes ?? []).filter(
    ({ name }) =>
      isSeen(profile, name, 'user') && !(name === 'username' && settings.registrationEmailAsUsername === true),
  )
  return shown.map((attribute) => ({
    name: attribute.name,
    label: attribute.displayName ?? attribute.name,
    required: attribute.name === 'username' || isNeeded(attribute, 'user'),
    readonly: !mayChange(settings, profile, attribute.name, live),
    value: live ? valuesOf(live, attribute.name).join('\n') : attribute.defaultValue,
    ...kindOf(attribute),
  }))
}

/** What was typed, as fields of an account; and what is wrong with it. */
export function readProfile(
  login: Login,
  profile: UserProfile,
  form: Form,
  live?: LiveObject,
): { readonly set: FlatFields; readonly problem?: Problem } {
  const { settings } = login.realm
  const stated = (profile.attributes ?? []).flatMap((attribute): [string, Json][] => {
    if (!mayChange(settings, profile, attribute.name, live)) return []
    return [[attribute.name, typed(attribute, form[attribute.name])]]
  })
  const values: Record<string, Json> = Object.fromEntries(stated)
  if (settings.registrationEmailAsUsername === true && 'email' in values) values.username = values.email!
  const [wrong] = problemsOf(profile, values, 'user', languageFor(login, wishesOf(login)))
  if (wrong) return { set: {}, problem: problemFrom(wrong, profile) }
  if ('username' in values && values.username === null) return { set: {}, problem: needed(profile, 'username') }
  const set = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [OWN.includes(name) ? name : `attributes.${name}`, value]),
  )
  return { set: foldTexts(kinds.user, set) }
}

/** Whether what is kept of a person fits the profile. */
export function fits(login: Login, profile: UserProfile, live: LiveObject): boolean {
  const kept = (profile.attributes ?? []).flatMap(({ name }): [string, Json][] => {
    const values = valuesOf(live, name)
    return [[name, values.length ? (OWN.includes(name) ? values[0]! : values) : null]]
  })
  const values: Record<string, Json> = Object.fromEntries(kept)
  // What people cannot change is not theirs to mend.
  if (!mayChange(login.realm.settings, profile, 'username', live)) delete values.username
  return problemsOf(profile, values, 'user', languageFor(login, wishesOf(login))).length === 0
}

/** What a refusal of the service says of a field. Throws what is not about what was typed. */
export function problemFrom(error: unknown, profile: UserProfile): Problem {
  if (!(error instanceof ServiceError)) throw error
  if (error.code === 'conflict' || error.code === 'duplicate') {
    const field = error.message.includes('email') ? 'email' : 'username'
    return { key: `${field}ExistsMessage`, field }
  }
  const [field, ...about] = (error.all?.[0] ?? error).params ?? []
  if (typeof field !== 'string') throw error
  return { key: (error.all?.[0] ?? error).message, about: [{ name: labelOf(profile, field) }, ...about], field }
}

function needed(profile: UserProfile, field: string): Problem {
  return { key: 'error-user-attribute-required', about: [{ name: labelOf(profile, field) }], field }
}

function labelOf({ attributes }: UserProfile, name: string): string {
  return attributes?.find((one) => one.name === name)?.displayName ?? name
}

function mayChange(
  settings: Representation,
  profile: UserProfile,
  name: string,
  live: LiveObject | undefined,
): boolean {
  const fixed = name === 'username' && live !== undefined && settings.editUsernameAllowed !== true
  return !fixed && isChangeable(profile, name, 'user')
}

function valuesOf({ representation }: LiveObject, name: string): string[] {
  const { attributes = {} } = representation
  const value = OWN.includes(name) ? representation[name] : (attributes as Record<string, string[]>)[name]
  return value === undefined || value === null ? [] : [value].flat().map(String)
}

/** Of several values each stands on a line of its own. */
function typed({ name, multivalued }: ProfileAttribute, text = ''): Json {
  const lines = (multivalued ? text.split(/\r?\n/) : [text]).map((line) => line.trim()).filter(Boolean)
  if (!lines.length) return null
  return OWN.includes(name) ? lines[0]! : lines
}

/** How a field is entered. Keycloak: the annotation inputType, and the options of the validator. */
function kindOf({ multivalued, validations = {}, annotations = {}, name }: ProfileAttribute): Partial<ProfileField> {
  const options = validations.options?.options as string[] | undefined
  const stated = String(annotations.inputType ?? '')
  const type = name === 'email' ? 'email' : /^html5-(email|tel|url|number|date|time)$/.exec(stated)?.[1]
  if (multivalued || stated === 'textarea') return { lines: true }
  return { ...(options && { options }), ...(type && { type }) }
}
