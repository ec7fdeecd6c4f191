// The rules of user profiles: role may view and edit an attribute of a user, and which values are valid.
import type { Json, Representation } from '../../kinds/json.ts'
import type { ProfileAttribute, UserProfile } from '../../kinds/user-profile.ts'
import { failure, type ServiceError } from '../context/errors.ts'
import { DISABLED_REASON } from './lockout.ts'
import { runValidator, type ValidationProblem } from './user-validators.ts'

/** Keycloak: the attributes that every user has, with their default display names. */
const BUILT_IN_ATTRIBUTES: Readonly<Record<string, string>> = { username: '${username}', email: '${email}' }

/** The profile of service accounts, which allows every attribute. */
export const unrestrictedProfile: UserProfile = { groups: [], unmanagedAttributePolicy: 'ENABLED' }

/** Whether an attribute is defined by the profile, or built in. */
export function isManagedAttribute(profile: UserProfile, name: string): boolean {
  return isBuiltIn(name) || findAttribute(profile, name) !== undefined
}

/** The roles in profiles: administrators, and users role view or edit their own account. */
export type ProfileRole = 'admin' | 'user'

/** The values of `unmanagedAttributePolicy` that allow a role to view or edit unmanaged attributes. */
const UNMANAGED: Readonly<Record<ProfileRole, { readonly view: readonly string[]; readonly edit: readonly string[] }>> =
  {
    admin: { view: ['ENABLED', 'ADMIN_EDIT', 'ADMIN_VIEW'], edit: ['ENABLED', 'ADMIN_EDIT'] },
    user: { view: ['ENABLED'], edit: ['ENABLED'] },
  }

/** Whether a role may view an attribute of users. */
export function canView(profile: UserProfile, name: string, role: ProfileRole = 'admin'): boolean {
  // Keycloak: administrators may view this attribute, which the server itself sets.
  if (name === DISABLED_REASON && role === 'admin') return true
  if (!isManagedAttribute(profile, name)) return UNMANAGED[role].view.includes(profile.unmanagedAttributePolicy ?? '')
  const { view = [], edit = [] } = findAttribute(profile, name)?.permissions ?? {}
  return isBuiltIn(name) || [...view, ...edit].includes(role)
}

/** Whether administrators may view attributes that the profile does not define. */
export function canViewUnmanaged({ unmanagedAttributePolicy = '' }: UserProfile): boolean {
  return UNMANAGED.admin.view.includes(unmanagedAttributePolicy)
}

/** Whether a role may edit an attribute of users. */
export function canEdit(profile: UserProfile, name: string, role: ProfileRole = 'admin'): boolean {
  if (!isManagedAttribute(profile, name)) return UNMANAGED[role].edit.includes(profile.unmanagedAttributePolicy ?? '')
  const permissions = findAttribute(profile, name)?.permissions
  return permissions ? permissions.edit.includes(role) : isBuiltIn(name)
}

/**
 * Returns the problems of attribute values, by name; null: no value. Attributes that the role may not edit are ignored.
 * `language` decides the format of dates.
 */
export function findAttributeProblems(
  profile: UserProfile,
  values: Readonly<Record<string, Json>>,
  { role = 'admin', language = 'en' }: { readonly role?: ProfileRole; readonly language?: string | undefined } = {},
): ServiceError[] {
  return (profile.attributes ?? []).flatMap((attribute) => {
    const { name, validations = {} } = attribute
    if (!Object.hasOwn(values, name) || !canEdit(profile, name, role)) return []
    const texts = [values[name]!].flat().map((value) => String(value ?? ''))
    const present = texts.filter((text) => text.trim() !== '')
    const isMandatory = isRequired(attribute, role)
    if (!present.length) return isMandatory ? [createAttributeError(name, 'error-user-attribute-required')] : []
    const problems = [
      ...findSizeProblems(attribute, present.length, isMandatory),
      ...Object.entries(validations).flatMap(([id, config]) => runValidator(id, present, { config, language })),
    ]
    return problems.map(({ message, params }) => createAttributeError(name, message, params))
  })
}

/** Returns the errors for changed attributes that administrators may not edit. */
export function findReadOnlyProblems(profile: UserProfile, changed: Readonly<Record<string, Json>>): ServiceError[] {
  return Object.keys(changed)
    .filter((name) => isManagedAttribute(profile, name) && !canEdit(profile, name))
    .map((name) => createAttributeError(name, 'error-user-attribute-read-only'))
}

/** Keycloak: the attributes that user federation sets, in lower case. Administrators may only remove them. */
const FEDERATION_ATTRIBUTES = new Set([
  'created_timestamp',
  'createtimestamp',
  'kerberos_principal',
  'ldap_entry_dn',
  'ldap_id',
  'modifytimestamp',
])

/** Returns the errors for changed attributes that user federation sets. Keycloak: where unmanaged attributes are disabled, they are ignored. */
export function findFederationProblems(
  profile: UserProfile,
  changed: Readonly<Record<string, Json>>,
  isFederated = false,
): ServiceError[] {
  const isIgnored = (name: string) =>
    !isFederated && profile.unmanagedAttributePolicy === undefined && !isManagedAttribute(profile, name)
  const hasValue = (value: Json) => [value].flat().some((text) => String(text ?? '').trim() !== '')
  return Object.entries(changed)
    .filter(([name, value]) => FEDERATION_ATTRIBUTES.has(name.toLowerCase()) && !isIgnored(name) && hasValue(value))
    .map(([name]) => createAttributeError(name, 'updateReadOnlyAttributesRejectedMessage'))
}

/** Returns the error for an attribute. `message` is the key of a message of Keycloak's validators. */
export function createAttributeError(
  attribute: string,
  message: string,
  params: readonly (string | number | null)[] = [],
): ServiceError {
  return failure('invalid', message, { params: [attribute, ...params] })
}

/** Throws the problems, if any, as one error. */
export function throwProblems(problems: readonly ServiceError[]): void {
  const [first, ...remaining] = problems
  if (!first) return
  if (!remaining.length) throw first
  throw failure('invalid', problems.map(({ message }) => message).join(', '), { errors: problems })
}

/**
 * Returns the metadata of the attributes that administrators may view. `readOnly` are names of attributes that cannot be
 * edited for another reason. Keycloak: UserProfileMetadata.
 */
export function toProfileMetadata(profile: UserProfile, readOnly: readonly string[]) {
  const visible = (profile.attributes ?? []).filter(({ name }) => canView(profile, name))
  return {
    attributes: visible.map((attribute) =>
      toAttributeMetadata(attribute, readOnly.includes(attribute.name) || !canEdit(profile, attribute.name)),
    ),
    groups: [...profile.groups],
  }
}

/** Keycloak: users of an internationalized realm have this attribute, even if the profile does not contain it. */
export const UNDECLARED_LOCALE: ProfileAttribute = {
  name: 'locale',
  displayName: 'locale',
  permissions: { view: ['admin', 'user'], edit: ['admin', 'user'] },
  multivalued: false,
}

/** Whether an attribute has at most one value. Keycloak: the number is not limited for a language that the profile does not declare. */
const hasOneValue = (attribute: ProfileAttribute): boolean => !attribute.multivalued && attribute !== UNDECLARED_LOCALE

function toAttributeMetadata(attribute: ProfileAttribute, readOnly: boolean): Representation {
  const { name, displayName, validations = {}, multivalued, annotations, group, defaultValue } = attribute
  const validators = Object.entries(validations).map(([id, config]) => [id, { ...config, 'ignore.empty.value': true }])
  return {
    name,
    displayName: displayName ?? (isBuiltIn(name) ? BUILT_IN_ATTRIBUTES[name]! : name),
    required: isRequired(attribute, 'admin'),
    readOnly,
    ...(annotations && { annotations }),
    validators: { ...Object.fromEntries(validators), ...(hasOneValue(attribute) && { multivalued: { max: '1' } }) },
    ...(group !== undefined && { group }),
    multivalued,
    ...(defaultValue !== undefined && { defaultValue }),
  }
}

/** Whether a role must provide a value, whichever scopes a client requests. */
export function isRequired({ required }: ProfileAttribute, role: ProfileRole): boolean {
  const { roles = [], scopes = [] } = required ?? {}
  return required !== undefined && (roles.includes(role) || (!roles.length && !scopes.length))
}

function findSizeProblems(attribute: ProfileAttribute, size: number, isMandatory: boolean): ValidationProblem[] {
  const limits = hasOneValue(attribute) ? { max: 1 } : (attribute.validations?.multivalued ?? {})
  const { min = isMandatory ? 1 : 0, max = null } = limits
  if (size >= Number(min) && (max === null || size <= Number(max))) return []
  return [{ message: 'error-invalid-multivalued-size', params: [Number(min), max === null ? null : Number(max)] }]
}

function isBuiltIn(name: string): boolean {
  return Object.hasOwn(BUILT_IN_ATTRIBUTES, name)
}

function findAttribute({ attributes }: UserProfile, name: string): ProfileAttribute | undefined {
  return attributes?.find((attribute) => attribute.name === name)
}
