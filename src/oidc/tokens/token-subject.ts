// The subject of tokens: the user, the client and the session that their claims describe.
import type { Context } from '../../service/context/context.ts'
import type { ClientSession, UserSession } from '../../service/context/store-types.ts'
import { writers } from '../../service/kinds/index.ts'
import { findRecentUser } from '../../service/login/find-user.ts'
import type { TokenSubject } from '../mappers/mapper.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import { readClientSessionData, readSessionData } from '../session-data.ts'
import { addDefaultScopes, parseScope } from './scopes.ts'
import { type ActiveToken, getIssuerBase } from './tokens.ts'

/** Returns the parts of a token subject that a login stored in the user session and the client session. */
export function readSessionSubject(
  session: Pick<UserSession, 'id' | 'body'>,
  clientSession: Pick<ClientSession, 'body'> | undefined,
): Pick<TokenSubject, 'session' | 'claims' | 'acrValues'> {
  const { notes, methods } = readSessionData(session)
  const { level, claims, acrValues } = readClientSessionData(clientSession)
  return { session: { id: session.id, notes, methods, level }, claims, acrValues: acrValues?.split(' ') }
}

/** Returns the subject of an active token. Two statements, or none. */
export async function getTokenSubject(
  context: Context,
  realm: OidcRealm,
  { claims, issuedTo, status }: ActiveToken,
): Promise<TokenSubject> {
  const { user, session } = status
  const [client] = await writers.client.list(context, { ids: [issuedTo.client] })
  const storedUser = (await findRecentUser(context, user.id))!
  return {
    base: getIssuerBase(claims),
    realm,
    client: client!,
    user: storedUser,
    scopes: addDefaultScopes(client!, parseScope(claims.scope)),
    ...(session && readSessionSubject(session, session.clientSession ? { body: session.clientSession } : undefined)),
  }
}
