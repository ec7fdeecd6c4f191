// Requests to the token endpoint and the discovery document of a realm.
import * as z from 'zod'
import { findRedirect, parseJsonOrNull, sendRequest } from '../../lib/http/http-request.ts'
import { UNRESTRICTED } from '../../lib/http/outbound.ts'
import { describeNetworkError } from './network-errors.ts'

/** A realm of a server. */
export interface ServerRealm {
  readonly server: string
  readonly realm: string
}

const tokens = z.object({
  access_token: z.string(),
  expires_in: z.number().default(60),
  refresh_token: z.string().optional(),
  id_token: z.string().optional(),
})
const refusal = z.object({ error: z.string().optional(), error_description: z.string().optional() })

/** The tokens in a response. RFC 6749, section 5.1. */
export type TokenResponse = z.output<typeof tokens>

/** The server refuses to issue a token. */
export class TokenRefused extends Error {}

/** Milliseconds until a response must be complete, and its largest size in bytes. */
const LIMITS = { timeout: 60_000, limit: 1024 * 1024 }

/** Returns the address of an endpoint of OpenID Connect. */
export const getEndpoint = ({ server, realm }: ServerRealm, name: string): string =>
  `${server}/realms/${encodeURIComponent(realm)}/protocol/openid-connect/${name}`

/** Requests tokens. @throws TokenRefused with the reason of the server; Error if it does not respond as one. */
export async function requestTokens(at: ServerRealm, form: Readonly<Record<string, string>>): Promise<TokenResponse> {
  const { ok, body, status } = await send(getEndpoint(at, 'token'), new URLSearchParams(form))
  const issued = tokens.safeParse(body)
  if (ok && issued.success) return issued.data
  const { error_description: description, error = `the server returned status ${status}` } =
    refusal.safeParse(body).data ?? {}
  if (status === 404) throw new Error(`${at.server} has no realm ${at.realm}. Check the URL and the realm.`)
  if (status < 500) throw new TokenRefused(description ?? error)
  throw new Error(`${at.server} issues no token: ${description ?? error}.`)
}

/** Ends the session of a refresh token. An ended session is no error. */
export async function endSession(at: ServerRealm, client: string, refreshToken: string): Promise<void> {
  await send(getEndpoint(at, 'logout'), new URLSearchParams({ client_id: client, refresh_token: refreshToken }))
}

/** Returns the issuer of the tokens of a realm, as its server names it. It may differ from the URL of the server behind a proxy. */
export async function findIssuer({ server, realm }: ServerRealm): Promise<string> {
  const url = `${server}/realms/${encodeURIComponent(realm)}/.well-known/openid-configuration`
  const { body, status } = await send(url)
  const { success, data } = z.object({ issuer: z.string() }).safeParse(body)
  if (success) return data.issuer
  throw new Error(
    status === 404
      ? `${server} has no realm ${realm}. Check the URL and the realm.`
      : `${url} returns no OpenID configuration (status ${status}). Check the URL.`,
  )
}

async function send(url: string, form?: URLSearchParams) {
  const request = form ? ({ method: 'POST', body: form, ...LIMITS } as const) : LIMITS
  // The user names the server, so any address is permitted.
  const response = await sendRequest(UNRESTRICTED, url, request).catch((error: Error) => {
    throw new Error(describeNetworkError(url, error), { cause: error })
  })
  const redirect = findRedirect(response)
  if (redirect !== undefined)
    throw new Error(`${new URL(url).origin} redirects to ${redirect}. Pass that URL with --server.`)
  return { ok: response.ok, status: response.status, body: parseJsonOrNull(response.text) }
}
