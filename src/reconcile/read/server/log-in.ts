// Logging in at a server that speaks OpenID Connect: as an administrator, or as a client with an account of its own.
import { jsonIn, redirectOf, sendRequest } from '../../../lib/http/http-request.ts'
import { ANYWHERE } from '../../../lib/http/outbound.ts'
import { ServerError, unreachable } from './server-error.ts'

/** Who asks: whoever has the token, a person, or a client. */
export type LogIn =
  | { readonly token: string }
  | {
      readonly realm: string
      readonly client: string
      readonly clientSecret?: string | undefined
      /** Absent: the client itself. */
      readonly person?: { readonly user: string; readonly password: string } | undefined
    }

/** Milliseconds in which an answer must be there, and the bytes that it may have. */
const PATIENCE = 60_000
const LONGEST = 1024 * 1024

/** A new access token. Throws ServerError. */
export async function logIn(base: string, how: LogIn): Promise<string> {
  if ('token' in how) return how.token
  const { realm, client, clientSecret, person } = how
  const body = new URLSearchParams({
    client_id: client,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    ...(person
      ? { grant_type: 'password', username: person.user, password: person.password }
      : { grant_type: 'client_credentials' }),
  })
  const url = `${base}/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`
  const request = { method: 'POST', body, timeout: PATIENCE, limit: LONGEST } as const
  const answer = await sendRequest(ANYWHERE, url, request).catch((error: Error) => {
    throw unreachable(base, error)
  })
  const said = (jsonIn(answer.text) ?? {}) as Record<string, string>
  if (answer.ok && said.access_token) return said.access_token
  const redirect = redirectOf(answer)
  const status = redirect === undefined ? `it answers ${answer.status}` : `it redirects to ${redirect}`
  const why = said.error_description ?? said.error ?? status
  throw new ServerError(
    `${person?.user ?? client} cannot log in at ${base}, realm ${realm} (${why}): ` +
      'look at the name, the secret, the realm, and the path of the address (/auth of old versions)',
    answer.status,
  )
}
