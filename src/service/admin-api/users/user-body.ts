// Reads the body of a user as Keycloak does.
import { isDeepStrictEqual } from 'node:util'
import { requiredActionProviders } from '../../../kinds/authentication-providers.ts'
import {
  type Json,
  omitUndefined,
  type Representation,
  readObject,
  readObjects,
  readTextListMap,
  readTexts,
} from '../../../kinds/json.ts'
import type { UserProfile } from '../../../kinds/user-profile.ts'
import { selectKeys } from '../../../store/objects.ts'
import type { Context } from '../../context/context.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { canEdit } from '../../users/user-profile-rules.ts'

const NAMES: readonly string[] = ['username', 'email', 'firstName', 'lastName']

/** Returns the names and email that a body declares; null: none. Keycloak: first and last name may be among the attributes. */
export function readNames({ attributes, ...body }: Representation): Record<string, Json> {
  const { firstName, lastName } = readTextListMap(attributes)
  const declared = omitUndefined({ firstName: firstName?.[0], lastName: lastName?.[0], ...omitNulls(body) })
  const names = NAMES.flatMap((name): [string, Json][] => {
    const value = declared[name]
    return value === undefined ? [] : [[name, String(value).trim() === '' ? null : value]]
  })
  return Object.fromEntries(names)
}

/** Returns the user name and the email address that a body declares, in lower case. */
export function listLoginNames(body: Representation): string[] {
  const { username, email } = readNames(body)
  return [username, email].flatMap((name) => (name == null ? [] : [String(name).toLowerCase()]))
}

/** Keycloak: a body with attributes clears the names and the email that it does not declare. */
export function getClearedNames({ attributes }: Representation): Record<string, Json> {
  return attributes == null ? {} : { email: null, firstName: null, lastName: null }
}

/** Returns the names of a live user. */
export function getLiveNames({ representation }: LiveObject): Record<string, Json> {
  return Object.fromEntries(NAMES.map((name) => [name, representation[name] ?? null]))
}

/** Returns no value for each attribute of a user profile. */
export function getNoValues({ attributes = [] }: UserProfile): Record<string, Json> {
  return Object.fromEntries(attributes.map(({ name }) => [name, null]))
}

/** Returns the names and attributes among the values that differ from those of the user. Keycloak: an imported empty name stays. */
export function filterChanged({ representation }: LiveObject, values: Record<string, Json>): Record<string, Json> {
  const attributes = readObject(representation.attributes)
  const getLive = (name: string) => (NAMES.includes(name) ? representation : attributes)[name] || null
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => !isDeepStrictEqual(value, getLive(name))))
}

/** Returns the fields that a body declares besides names and attributes. Keycloak: unknown required actions are ignored. */
export function readState(body: Representation): Representation {
  const { enabled, emailVerified, requiredActions, credentials } = omitNulls(body)
  return {
    ...(enabled !== undefined && { enabled }),
    ...(emailVerified !== undefined && { emailVerified }),
    ...(requiredActions !== undefined && {
      requiredActions: readTexts(requiredActions).filter((action) => requiredActionProviders.has(action)),
    }),
    ...(credentials !== undefined && { credentials }),
  }
}

/** Returns the attributes with values that a body declares, without names and email. */
export function readAttributes({ attributes }: Representation): Record<string, readonly string[]> {
  const withValues = Object.entries(readTextListMap(attributes)).filter(
    ([name, values]) => !NAMES.includes(name) && values.some((value) => value.trim() !== ''),
  )
  return Object.fromEntries(withValues)
}

/** Returns the attributes of a user after a change. Keycloak: those that administrators may not edit stay as they are. */
export function mergeAttributes(profile: UserProfile, live: Representation, declared: Representation): Representation {
  const defaults = (profile.attributes ?? []).flatMap(({ name, defaultValue }): [string, Json][] =>
    defaultValue === undefined || NAMES.includes(name) ? [] : [[name, [defaultValue]]],
  )
  const retained = Object.entries(live).filter(([name]) => !canEdit(profile, name))
  return { ...Object.fromEntries([...defaults, ...retained]), ...filterEditable(profile, declared) }
}

/** Returns the attributes that administrators may edit according to the user profile. */
export function filterEditable(profile: UserProfile, values: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => canEdit(profile, name)))
}

/** Whether the user is a service account: the account of a client. */
export function isServiceAccount({ representation }: LiveObject): boolean {
  return representation.serviceAccountClientId !== undefined
}

/** Keycloak: federated identities of providers that the realm does not have are ignored. One statement, or none. */
export async function filterKnownIdentities(
  context: Context,
  declared: Json | undefined,
): Promise<readonly Representation[]> {
  const identities = readObjects(declared)
  if (!identities.length) return []
  const keys = identities.map(({ identityProvider }) => [String(identityProvider)])
  const providers = await selectKeys(context.tx, context.realm.number, { kind: 'identityProvider', filter: { keys } })
  const aliases = new Set(providers.map(({ key }) => key[0]))
  return identities.filter(({ identityProvider }) => aliases.has(String(identityProvider)))
}
