// What the profile of a realm says of its people: what administrators see and change, and what each value must look like.
import type { Json, Representation } from '../../kinds/json.ts'
import type { ProfileAttribute, UserProfile } from '../../kinds/user-profile.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import { REASON } from './lockout.ts'
import { type Finding, validate } from './user-validators.ts'

/** Keycloak: everybody has these, whoever may see them. */
const USUAL_NAMES: Readonly<Record<string, string>> = { username: '${username}', email: '${email}' }

/** What holds for accounts of clients: everything goes. */
export const openProfile: UserProfile = { groups: [], unmanagedAttributePolicy: 'ENABLED' }

/** Whether the profile knows an attribute. */
export function isManaged(profile: UserProfile, name: string): boolean {
  return isUsual(name) || findAttribute(profile, name) !== undefined
}

/** Who asks: administrators, or people for themselves. */
export type Reader = 'admin' | 'user'

/** What of attributes that the profile does not know each sees and changes, by its policy. */
const UNMANAGED: Readonly<Record<Reader, { readonly view: readonly string[]; readonly edit: readonly string[] }>> = {
  admin: { view: ['ENABLED', 'ADMIN_EDIT', 'ADMIN_VIEW'], edit: ['ENABLED', 'ADMIN_EDIT'] },
  user: { view: ['ENABLED'], edit: ['ENABLED'] },
}

/** Whether somebody sees what people have under that name. */
export function isSeen(profile: UserProfile, name: string, who: Reader = 'admin'): boolean {
  // Keycloak: administrators see what the server itself notes, whatever the profile says.
  if (name === REASON && who === 'admin') return true
  if (!isManaged(profile, name)) return UNMANAGED[who].view.includes(profile.unmanagedAttributePolicy ?? '')
  const { view = [], edit = [] } = findAttribute(profile, name)?.permissions ?? {}
  return isUsual(name) || [...view, ...edit].includes(who)
}

/** Whether somebody changes what people have under that name. */
export function isChangeable(profile: UserProfile, name: string, who: Reader = 'admin'): boolean {
  if (!isManaged(profile, name)) return UNMANAGED[who].edit.includes(profile.unmanagedAttributePolicy ?? '')
  const permissions = findAttribute(profile, name)?.permissions
  return permissions ? permissions.edit.includes(who) : isUsual(name)
}

/** What is wrong with the stated values, by field; null: there is none. `language`: the one whose dates are meant. */
export function problemsOf(
  profile: UserProfile,
  values: Readonly<Record<string, Json>>,
  who: Reader = 'admin',
  language = 'en',
): ServiceError[] {
  return (profile.attributes ?? []).flatMap((attribute) => {
    const { name, validations = {} } = attribute
    if (!Object.hasOwn(values, name) || !isChangeable(profile, name, who)) return []
    const all = [values[name]!].flat().map((one) => String(one ?? ''))
    const stated = all.filter((one) => one.trim() !== '')
    const needed = isNeeded(attribute, who)
    if (!stated.length) return needed ? [problem(name, 'error-user-attribute-required')] : []
    const found = Object.entries(validations).flatMap(([id, config]) => validate(id, stated, config, language))
    return [...sizeProblems(attribute, stated.length, needed), ...found].map(({ says, about }) =>
      problem(name, says, about),
    )
  })
}

/** What administrators may not change, among values that differ from what a person has. */
export function readOnlyProblems(profile: UserProfile, changed: Readonly<Record<string, Json>>): ServiceError[] {
  return Object.keys(changed)
    .filter((name) => isManaged(profile, name) && !isChangeable(profile, name))
    .map((name) => problem(name, 'error-user-attribute-read-only'))
}

/** A field that is wrong, in the words of the reference server's validators. */
export function problem(field: string, says: string, about: readonly (string | number | null)[] = []): ServiceError {
  return failure('invalid', says, { params: [field, ...about] })
}

/** Throws what is wrong, be it one thing or several. */
export function refuseAll(problems: readonly ServiceError[]): void {
  const [one, ...others] = problems
  if (!one) return
  if (!others.length) throw one
  throw failure('invalid', problems.map(({ message }) => message).join(', '), { all: problems })
}

/** Keycloak: the profile, as far as administrators see it; what cannot be changed besides is named. */
export function profileMetadata(profile: UserProfile, readOnly: readonly string[]) {
  const seen = (profile.attributes ?? []).filter(({ name }) => isSeen(profile, name))
  return {
    attributes: seen.map((one) => metadataOf(one, readOnly.includes(one.name) || !isChangeable(profile, one.name))),
    groups: [...profile.groups],
  }
}

function metadataOf(attribute: ProfileAttribute, readOnly: boolean): Representation {
  const { name, displayName, validations = {}, multivalued, annotations, group, defaultValue } = attribute
  const validators = Object.entries(validations).map(([id, config]) => [id, { ...config, 'ignore.empty.value': true }])
  return {
    name,
    displayName: displayName ?? (isUsual(name) ? USUAL_NAMES[name]! : name),
    required: isNeeded(attribute, 'admin'),
    readOnly,
    ...(annotations && { annotations }),
    validators: { ...Object.fromEntries(validators), ...(!multivalued && { multivalued: { max: '1' } }) },
    ...(group !== undefined && { group }),
    multivalued,
    ...(defaultValue !== undefined && { defaultValue }),
  }
}

/** Whether there must be a value, whatever an application asks for. */
export function isNeeded({ required }: ProfileAttribute, who: Reader): boolean {
  const { roles = [], scopes = [] } = required ?? {}
  return required !== undefined && (roles.includes(who) || (!roles.length && !scopes.length))
}

function sizeProblems({ multivalued, validations }: ProfileAttribute, size: number, needed: boolean): Finding[] {
  const { min = needed ? 1 : 0, max = null } = multivalued ? (validations?.multivalued ?? {}) : { max: 1 }
  if (size >= Number(min) && (max === null || size <= Number(max))) return []
  return [{ says: 'error-invalid-multivalued-size', about: [Number(min), max === null ? null : Number(max)] }]
}

function isUsual(name: string): boolean {
  return Object.hasOwn(USUAL_NAMES, name)
}

function findAttribute({ attributes }: UserProfile, name: string): ProfileAttribute | undefined {
  return attributes?.find((one) => one.name === name)
}
