// Whom tokens are about, as sessions and tokens themselves tell it.
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../../service/context/context.ts'
import { writers } from '../../service/kinds/index.ts'
import { findById } from '../../service/login/login.ts'
import type { PartBody } from '../../service/login/sessions.ts'
import type { SessionFacts, Subject } from '../mappers/mapper.ts'
import type { TokenRealm } from '../realm.ts'
import { withDefaults } from './scopes.ts'
import { baseOf, type GoodToken } from './tokens.ts'

/** What log-in noted in a session, and in the client's part of it what the client asked for. */
export function notedIn(
  { id, body }: { readonly id: string; readonly body: Representation },
  part: Representation | null | undefined,
): Pick<Subject, 'session' | 'claims' | 'acrValues'> {
  const { notes, methods } = body as Pick<SessionFacts, 'notes' | 'methods'>
  const { level, claims, acrValues } = (part ?? {}) as Partial<PartBody>
  return { session: { id, notes, methods, level }, claims, acrValues: acrValues?.split(' ') }
}

/** Whom a token is about that counts. Two statements. */
export async function subjectOf(
  context: Context,
  realm: TokenRealm,
  { claims, issuedTo, standing }: GoodToken,
): Promise<Subject> {
  const { user, session } = standing
  const [client] = await writers.client.list(context, { ids: [issuedTo.client] })
  const scopes = withDefaults(client!, (claims.scope ?? '').split(' '))
  const found = (await findById(context, user.id))!
  return {
    base: baseOf(claims),
    realm,
    client: client!,
    user: found,
    scopes,
    ...(session && notedIn(session, session.part)),
  }
}
