// The parameters of a request for permissions. User-Managed Access 2.0, section 3.3.1, with the extensions of Keycloak.
import * as z from 'zod'
import type { Attributes } from '../../service/policy-evaluation/attributes.ts'
import type { PermissionFormat, RequestedPermission } from '../../service/policy-evaluation/permission-requests.ts'
import type { TokenRequest } from '../client-authentication/authenticate-client.ts'
import { OAuthError } from '../oauth-error.ts'

/** The formats of claims that an application sends: JSON in base64, or a token that identifies the user. */
const CLAIMS_FORMAT = 'urn:ietf:params:oauth:token-type:jwt'
const TOKEN_FORMAT = 'http://openid.net/specs/openid-connect-core-1_0.html#IDToken'

/** The parts of a response that an application requests. */
export interface PermissionResponse {
  /** A token with the permissions, whether access is granted, or the permissions alone. */
  readonly mode: 'token' | 'decision' | 'permissions'
  readonly includesNames: boolean
}

/** Creates the error for an invalid request for permissions. */
export function createInvalidError(
  error: string,
  description: string,
  { status = 400, event = 'invalid_request' }: { readonly status?: number; readonly event?: string } = {},
): OAuthError {
  return new OAuthError(status, error, { description, event: { error: event, reason: description } })
}

/** Returns the requested permissions; undefined if none are named. Keycloak: with an unknown format of names, they are ignored. */
export function parsePermissions({ permissions = [], form }: TokenRequest): readonly RequestedPermission[] | undefined {
  const { permission_resource_format: format } = form
  if (!permissions.length || !['', 'id', 'uri', undefined].includes(format)) return undefined
  return permissions.map((permission) => {
    const [resource = '', scopes = ''] = permission.split('#')
    return { ...(resource && { resource }), scopes: scopes.split(',').filter(Boolean) }
  })
}

/** Returns how the requested permissions name resources. */
export const parsePermissionFormat = ({ form }: TokenRequest): PermissionFormat => ({
  isUri: form.permission_resource_format === 'uri',
  matchesPatterns: form.permission_resource_matching_uri?.toLowerCase() === 'true',
})

/** Returns the most permissions to return; undefined if there is no limit. Throws OAuthError. */
export function parsePermissionLimit({ form }: TokenRequest): number | undefined {
  const { response_permissions_limit: limit } = form
  if (limit === undefined) return undefined
  if (!/^-?\d{1,9}$/.test(limit))
    throw createInvalidError('invalid_request', 'The parameter response_permissions_limit is not a number')
  return Math.max(Number(limit), 0)
}

/** Returns the requested response. Throws OAuthError. */
export function parsePermissionResponse({ form }: TokenRequest): PermissionResponse {
  const { response_mode: mode, response_include_resource_name: names = 'true' } = form
  if (mode !== undefined && mode !== 'decision' && mode !== 'permissions')
    throw createInvalidError('invalid_request', 'Invalid response_mode')
  return { mode: mode ?? 'token', includesNames: names.toLowerCase() === 'true' }
}

const pushedClaims = z.record(z.string(), z.array(z.string()))

/** Claims that an application sends: claims that policies see, or a token that identifies the user. */
export interface PushedClaims {
  readonly claims: Attributes
  readonly token?: string
}

/** Returns the claims that a request contains. Throws OAuthError. */
export function parsePushedClaims({ form }: TokenRequest): PushedClaims {
  const { claim_token: token, claim_token_format: format = TOKEN_FORMAT } = form
  const claims: Attributes = new Map()
  if (format === TOKEN_FORMAT) return { claims, ...(token !== undefined && { token }) }
  if (format !== CLAIMS_FORMAT)
    throw createInvalidError('invalid_request', `Claim token format [${format}] not supported`)
  return { claims: token === undefined ? claims : new Map(Object.entries(parseClaims(token))) }
}

function parseClaims(text: string): Record<string, string[]> {
  try {
    return pushedClaims.parse(JSON.parse(Buffer.from(text, 'base64').toString('utf8')))
  } catch {
    throw createInvalidError('invalid_request', 'Invalid claims')
  }
}
