// The client scopes of a client, as far as its own body says them over REST.
import { SERVICE_ACCOUNT_SCOPE } from '../../../kinds/client-scope.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { Context } from '../../context/context.ts'
import { type LiveObject, listObjects } from '../../objects/live.ts'
import type { Update } from '../../objects/writers.ts'

/**
 * The body of a new client with the client scopes that it gets. Keycloak: those that the realm does not have, or that are of
 * another protocol, are passed over, and one that stands in both lists is given by default. Statements: one, or none.
 */
export async function withOwnScopes(context: Context, body: Representation): Promise<Representation> {
  const { protocol } = { ...kinds.client.defaults(body), ...body }
  const byDefault = (body.defaultClientScopes ?? []) as string[]
  const optional = (body.optionalClientScopes ?? []) as string[]
  const names = [...byDefault, ...optional]
  if (!names.length) return body
  const found = await listObjects(context, 'clientScope', { keys: names.map((name) => [name]) })
  const own = new Set(found.flatMap(({ key, representation }) => (representation.protocol === protocol ? key : [])))
  return {
    ...body,
    defaultClientScopes: byDefault.filter((name) => own.has(name)),
    optionalClientScopes: optional.filter((name) => own.has(name) && !byDefault.includes(name)),
  }
}

/**
 * What the body of an update does to the client scope of service accounts. Keycloak: it goes with the account, and comes back
 * with each update that states the account, also of a client that has one already. Statements: one, or none.
 */
export async function accountScope(
  context: Context,
  { representation }: LiveObject,
  { serviceAccountsEnabled: stated = null }: Representation,
): Promise<Pick<Update, 'relations'>> {
  const { defaultClientScopes = [], optionalClientScopes = [], serviceAccountsEnabled: has } = representation
  const key = [SERVICE_ACCOUNT_SCOPE]
  if (has !== true || stated === null) return {}
  if (stated === false)
    return { relations: { defaultClientScopes: { remove: [key] }, optionalClientScopes: { remove: [key] } } }
  if ([defaultClientScopes, optionalClientScopes].flat().includes(SERVICE_ACCOUNT_SCOPE)) return {}
  const there = await listObjects(context, 'clientScope', { keys: [key] })
  return there.length ? { relations: { defaultClientScopes: { add: [key] } } } : {}
}
