// Gets access tokens from a server that speaks OpenID Connect, for an administrator or for a client with a service account.
import { readText } from '../../../kinds/json.ts'
import { findRedirect, sendRequest } from '../../../lib/http/http-request.ts'
import { UNRESTRICTED } from '../../../lib/http/outbound.ts'
import { parseBody, ServerError, toUnreachableError } from './server-error.ts'

/** Credentials for the admin API: an access token, a user, or a client with a service account. */
export type ServerCredentials =
  | { readonly token: string }
  | {
      readonly realm: string
      readonly client: string
      readonly clientSecret?: string | undefined
      /** Default: the service account of the client. */
      readonly user?: { readonly username: string; readonly password: string } | undefined
    }

/** Timeout in milliseconds, and the largest response in bytes. */
const TIMEOUT = 60_000
const MAX_SIZE = 1024 * 1024

/** Returns the given access token, or requests a new one. Throws ServerError where the server rejects the credentials. */
export async function getAccessToken(baseUrl: string, credentials: ServerCredentials): Promise<string> {
  if ('token' in credentials) return credentials.token
  const { realm, client, clientSecret, user } = credentials
  const body = new URLSearchParams({
    client_id: client,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(user ? { grant_type: 'password', ...user } : { grant_type: 'client_credentials' }),
  })
  const url = `${baseUrl}/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`
  const request = { method: 'POST', body, timeout: TIMEOUT, limit: MAX_SIZE } as const
  const response = await sendRequest(UNRESTRICTED, url, request).catch((error: Error) => {
    throw toUnreachableError(baseUrl, error)
  })
  const { access_token, error_description, error } = parseBody(response.text)
  const token = readText(access_token)
  if (response.ok && token) return token
  const redirect = findRedirect(response)
  const status = redirect === undefined ? `status ${response.status}` : `redirect to ${redirect}`
  const reason = readText(error_description) ?? readText(error) ?? status
  throw new ServerError(
    `${user?.username ?? client} cannot log in at ${baseUrl}, realm ${realm} (${reason}). ` +
      'Check the name, the secret, the realm, and the path of the URL (/auth in old Keycloak versions).',
    response.status,
  )
}
