// What the body of a user says, as the reference server reads it.
import { isDeepStrictEqual } from 'node:util'
import { requiredActionProviders } from '../../../kinds/authentication-providers.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import type { UserProfile } from '../../../kinds/user-profile.ts'
import { selectKeys } from '../../../store/objects.ts'
import type { Context } from '../../context/context.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { canEdit } from '../../users/user-profile-rules.ts'

const NAMES: readonly string[] = ['username', 'email', 'firstName', 'lastName']

/** What a body says of names and address; null: there is none. Keycloak: first and last name may be among the attributes. */
export function valuesIn({ attributes, ...body }: Representation): Record<string, Json> {
  const among = (attributes ?? {}) as Record<string, string[] | null>
  const own = {
    firstName: among.firstName?.[0],
    lastName: among.lastName?.[0],
    ...omitNulls(body),
  } as Representation
  const named = NAMES.flatMap((name): [string, Json][] => {
    const value = own[name]
    return value === undefined ? [] : [[name, String(value).trim() === '' ? null : value]]
  })
  return Object.fromEntries(named)
}

/** Keycloak: who states attributes states names and address with them: what is not stated is gone. */
export function clearedBy({ attributes }: Representation): Record<string, Json> {
  return attributes == null ? {} : { email: null, firstName: null, lastName: null }
}

/** What of the values, attributes among them, differs from what the user has. */
export function changedIn({ representation }: LiveObject, values: Record<string, Json>): Record<string, Json> {
  const attributes = (representation.attributes ?? {}) as Representation
  const has = (name: string) => (NAMES.includes(name) ? representation : attributes)[name] ?? null
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => !isDeepStrictEqual(value, has(name))))
}

/** What a body says besides names. Keycloak: required actions that the server does not know are left out. */
export function stateIn(body: Representation): Representation {
  const { enabled, emailVerified, requiredActions, credentials } = omitNulls(body)
  const actions = (requiredActions ?? []) as string[]
  return {
    ...(enabled !== undefined && { enabled }),
    ...(emailVerified !== undefined && { emailVerified }),
    ...(requiredActions !== undefined && {
      requiredActions: actions.filter((one) => requiredActionProviders.has(one)),
    }),
    ...(credentials !== undefined && { credentials }),
  }
}

/** The attributes that a body states, besides names and address. */
export function attributesIn({ attributes }: Representation): Record<string, string[]> {
  const stated = Object.entries((attributes ?? {}) as Record<string, string[] | null>)
  const valued = stated.flatMap(([name, values]): [string, string[]][] =>
    !NAMES.includes(name) && values?.some((one) => one.trim() !== '') ? [[name, values]] : [],
  )
  return Object.fromEntries(valued)
}

/** The attributes that a user has afterwards. Keycloak: only what administrators may change is changed, the rest is left out. */
export function attributesAfter(profile: UserProfile, has: Representation, stated: Representation): Representation {
  const usual = (profile.attributes ?? []).flatMap(({ name, defaultValue }): [string, Json][] =>
    defaultValue === undefined || NAMES.includes(name) ? [] : [[name, [defaultValue]]],
  )
  const kept = Object.entries(has).filter(([name]) => !canEdit(profile, name))
  return { ...Object.fromEntries([...usual, ...kept]), ...changeable(profile, stated) }
}

/** What of the values administrators may change. */
export function changeable(profile: UserProfile, values: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => canEdit(profile, name)))
}

/** Whether the user is the account of a client. */
export function isAccountOfClient({ representation }: LiveObject): boolean {
  return representation.serviceAccountClientId !== undefined
}

/** Keycloak: accounts at identity providers that the realm does not have are left out. Statements: one, or none. */
export async function knownIdentities(context: Context, stated: Json | undefined): Promise<Representation[]> {
  const identities = (stated ?? []) as Representation[]
  if (!identities.length) return []
  const keys = identities.map(({ identityProvider }) => [String(identityProvider)])
  const found = await selectKeys(context.tx, context.realm.number, { kind: 'identityProvider', filter: { keys } })
  const known = new Set(found.map(({ key }) => key[0]))
  return identities.filter(({ identityProvider }) => known.has(String(identityProvider)))
}
