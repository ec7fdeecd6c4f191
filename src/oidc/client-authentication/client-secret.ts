// A client's id with its secret, in the form or as Basic. RFC 6749, section 2.3.1. Public clients have none, and say who they are.
import { type Method, notProved, type TokenRequest, unknownClient } from './method.ts'
import { sameSecret, secretsOf } from './secrets.ts'

/** Keycloak: client-secret. */
export const byClientSecret: Method = async (attempt) => {
  const { id, secret } = statedCredentials(attempt.request)
  const client = id === undefined ? undefined : attempt.clients.get(id)
  if (client?.representation.enabled !== true) return { client, problem: unknownClient(client) }
  if (client.representation.publicClient === true) return { client }
  const right = secret !== undefined && secretsOf(attempt, client).some((one) => sameSecret(one, secret))
  return right ? { client } : { client, problem: notProved() }
}

/** What the request says of itself. Keycloak: the form counts before the header, each part by itself. */
export function statedCredentials({ form, authorization }: TokenRequest) {
  const basic = basicCredentials(authorization)
  return { id: form.client_id ?? basic?.id, secret: form.client_secret ?? basic?.secret }
}

function basicCredentials(authorization = ''): { id: string; secret: string } | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(authorization)?.[1]
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon < 0 ? undefined : { id: unescaped(text.slice(0, colon)), secret: unescaped(text.slice(colon + 1)) }
}

/** Both parts are form-encoded; many clients send them as they are. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
