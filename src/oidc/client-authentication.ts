// Which client asks, and whether it is the one that it says.
import { timingSafeEqual } from 'node:crypto'
import { isStorable } from '../kinds/fields.ts'
import type { Context } from '../service/context.ts'
import { writers } from '../service/index.ts'
import type { LiveObject } from '../service/live.ts'
import type { EventNotes } from './events.ts'
import { OAuthError } from './oauth-error.ts'
import type { Transport } from './realm.ts'

/** What a request of a client says: its form, its Authorization header, and how it came. */
export interface TokenRequest extends Transport {
  readonly form: Readonly<Record<string, string>>
  readonly authorization?: string | undefined
  /** Of the page that asks, where it is one. */
  readonly origin?: string | undefined
}

const WRONG = 'Invalid client or Invalid client credentials'

/** The client that the request comes from, by form or Basic. Throws invalid_client or unauthorized_client. One statement. */
export async function authenticateClient(
  context: Context,
  request: TokenRequest,
  notes: EventNotes,
): Promise<LiveObject> {
  const { id, secret } = credentials(request)
  notes.client = id
  const [client] = id && isStorable(id) ? await writers.client.list(context, { keys: [[id]] }) : []
  if (client?.representation.enabled !== true) {
    throw new OAuthError(401, 'invalid_client', WRONG, { error: client ? 'client_disabled' : 'client_not_found' })
  }
  if (client.representation.publicClient !== true && !hasSecret(context, client, secret)) {
    throw new OAuthError(401, 'unauthorized_client', WRONG, { error: 'invalid_client_credentials' })
  }
  if (client.representation.bearerOnly === true) throw new OAuthError(400, 'invalid_client', 'Bearer-only not allowed')
  notes.details.client_auth_method = 'client-secret'
  return client
}

function hasSecret({ vault }: Context, { representation }: LiveObject, given: string | undefined): boolean {
  const { secret, clientAuthenticatorType } = representation
  if (typeof secret !== 'string' || given === undefined || clientAuthenticatorType !== 'client-secret') return false
  const [expected, shown] = [vault.open(secret), given].map((text) => Buffer.from(text))
  return expected!.length === shown!.length && timingSafeEqual(expected!, shown!)
}

function credentials({ form, authorization }: TokenRequest): { id: string | undefined; secret: string | undefined } {
  const basic = /^Basic +(\S+)$/i.exec(authorization ?? '')?.[1]
  if (!basic) return { id: form.client_id, secret: form.client_secret }
  const text = Buffer.from(basic, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) throw new OAuthError(401, 'invalid_client', WRONG)
  return { id: unescaped(text.slice(0, colon)), secret: unescaped(text.slice(colon + 1)) }
}

/** RFC 6749, section 2.3.1: both parts are form-encoded; many clients send them as they are. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
