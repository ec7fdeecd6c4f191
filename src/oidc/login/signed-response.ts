// Signed and encrypted authorization responses: JWT Secured Authorization Response Mode (JARM).
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmCall } from '../client-call.ts'
import { CannotEncrypt, encryptForClient } from '../encryption/encrypt-for-client.ts'
import { getIssuer } from '../oidc-realm.ts'
import { getSignatureAlgorithm } from '../signature-algorithms.ts'
import { signToken } from '../tokens/tokens.ts'
import { LoginError } from './login-error.ts'
import type { BrowserRequest } from './session/browser-request.ts'

/** Returns the only parameter of a signed response, which the client may have encrypted. Throws LoginError where it has no key. */
export async function signResponse(
  { service, realm, request }: RealmCall & { readonly request: Pick<BrowserRequest, 'base'> },
  client: LiveObject | undefined,
  parameters: Readonly<Record<string, string>>,
): Promise<{ readonly response: string }> {
  if (!client) throw new LoginError('clientNotFoundMessage', 'client_not_found')
  const claims = {
    ...parameters,
    iss: getIssuer(request.base, realm),
    aud: client.key[0]!,
    exp: toEpochSeconds(realm.now) + realm.settings.accessCodeLifespan,
  }
  const algorithm = getSignatureAlgorithm(realm.settings, client.representation, 'authorization')
  const content = await signToken(service, realm, { claims, algorithm })
  try {
    return { response: await encryptForClient(service, client, { kind: 'authorization', content }) }
  } catch (error) {
    if (!(error instanceof CannotEncrypt)) throw error
    throw new LoginError('invalidRequestMessage', 'invalid_request', { params: [error.message] })
  }
}
