// What the body of a user says, as the reference server reads it.
import { requiredActionProviders } from '../../kinds/authentication-providers.ts'
import type { Json } from '../../kinds/fields.ts'
import type { Representation } from '../../kinds/kind.ts'
import { selectKeys } from '../../store/objects.ts'
import type { Context } from '../context.ts'
import type { LiveObject } from '../live.ts'
import { withoutNulls } from '../put.ts'

/** What a body says of names and address; null: there is none. Keycloak: first and last name may be among the attributes. */
export function valuesIn({ attributes, ...body }: Representation): Record<string, Json> {
  const among = (attributes ?? {}) as Record<string, string[] | null>
  const own = {
    firstName: among.firstName?.[0],
    lastName: among.lastName?.[0],
    ...withoutNulls(body),
  } as Representation
  const named = ['username', 'email', 'firstName', 'lastName'].flatMap((name): [string, Json][] => {
    const value = own[name]
    return value === undefined ? [] : [[name, String(value).trim() === '' ? null : value]]
  })
  return Object.fromEntries(named)
}

/** Keycloak: who states attributes states names and address with them: what is not stated is gone. */
export function clearedBy({ attributes }: Representation): Record<string, Json> {
  return attributes == null ? {} : { email: null, firstName: null, lastName: null }
}

/** What of the values differs from what the user has. */
export function changedIn({ representation }: LiveObject, values: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== (representation[name] ?? null)))
}

/** What a body says besides names. Keycloak: required actions that the server does not know are left out. */
export function stateIn(body: Representation): Representation {
  const { enabled, emailVerified, requiredActions, credentials } = withoutNulls(body)
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

/** Keycloak: attributes that the profile does not know are left out, but for the accounts of clients. */
export function attributesIn(live: LiveObject, { attributes }: Representation): Representation {
  if (attributes == null || !isAccountOfClient(live)) return {}
  const valued = Object.entries(attributes as Record<string, string[] | null>).filter(([, values]) => values?.length)
  return { attributes: Object.fromEntries(valued) }
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
  const found = await selectKeys(context.tx, context.realm.number, 'identityProvider', { keys })
  const known = new Set(found.map(({ key }) => key[0]))
  return identities.filter(({ identityProvider }) => known.has(String(identityProvider)))
}
