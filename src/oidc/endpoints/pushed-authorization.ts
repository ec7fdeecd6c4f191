// The endpoint to which clients push authorization requests. RFC 9126, section 2.

import { SYSTEM } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { InvalidRequestObject } from '../authorization-requests/invalid-request-object.ts'
import { type PushedRequest, storePushedRequest } from '../authorization-requests/pushed-requests.ts'
import { type ResolvedRequest, resolvePushedRequest } from '../authorization-requests/resolve-request.ts'
import type { TokenRequest } from '../client-authentication/authenticate-client.ts'
import type { ClientCall, RealmEndpoint } from '../client-call.ts'
import { applyRequestPolicies } from '../client-policies/apply-request-policies.ts'
import { handleClientRequest } from '../client-request.ts'
import {
  AuthorizationError,
  readAuthorizationParameters,
  readRedirectUri,
  requireBrowserClient,
} from '../login/authorization-request.ts'
import { LoginError } from '../login/login-error.ts'
import { OAuthError } from '../oauth-error.ts'
import { getIssuer } from '../oidc-realm.ts'
import { checkRequestedKey, confirmByProof } from '../sender-constraints/confirmation.ts'
import { resolveScopes } from '../tokens/scopes.ts'

/** The parameters that authenticate the client, which are not part of the authorization request. */
const CREDENTIALS = ['client_secret', 'client_assertion', 'client_assertion_type']

/** Checks and stores an authorization request of an authenticated client, and returns its address. Throws OAuthError. */
export async function pushAuthorizationRequest(endpoint: RealmEndpoint, request: TokenRequest): Promise<PushedRequest> {
  const { service } = endpoint
  const event = { type: 'PUSHED_AUTHORIZATION_REQUEST', details: {} } as const
  return handleClientRequest(endpoint, { request, event }, async (authenticated) => {
    if (request.form.request_uri !== undefined)
      throw createError('invalid_request', 'It is not allowed to include request_uri to PAR.')
    const resolved = await readParameters(endpoint, authenticated, request)
    const call = { ...authenticated, client: await applyPolicies(endpoint, authenticated, { request, resolved }) }
    const { query } = resolved
    await addProofKey(endpoint, call, { query, dpop: request.dpop })
    await checkRequest(endpoint, call, query)
    return storePushedRequest({ service, realm: call.realm }, call.client, query)
  })
}

/** Returns the request with its parameters, or those of the request object that it contains. Throws OAuthError. */
async function readParameters(
  { service, base }: RealmEndpoint,
  { realm, client }: ClientCall,
  { form }: TokenRequest,
): Promise<ResolvedRequest> {
  const query = new URLSearchParams({ ...form, client_id: client.key[0]! })
  for (const name of CREDENTIALS) query.delete(name)
  try {
    return await resolvePushedRequest({ service, realm, base }, client, query)
  } catch (error) {
    if (!(error instanceof InvalidRequestObject)) throw error
    const reason = error.message
    throw new OAuthError(400, 'invalid_request_object', {
      description: reason,
      event: { error: 'invalid_request', reason },
    })
  }
}

/** Returns the client with the attributes that client policies require. Throws OAuthError where one refuses the request. */
function applyPolicies(
  { service, base }: RealmEndpoint,
  { realm, client }: ClientCall,
  { request, resolved }: { readonly request: TokenRequest; readonly resolved: ResolvedRequest },
): Promise<LiveObject> {
  const { client_assertion } = request.form
  const parameters = {
    ...Object.fromEntries(resolved.query),
    ...(client_assertion !== undefined && { client_assertion }),
  }
  const { origin, object } = resolved
  const policed = { name: 'pushed authorization', client, parameters, origin, object } as const
  return applyRequestPolicies({ service, base, realm }, policed)
}

/** Adds the key of a DPoP proof to an authorization request, so that only this key redeems the code. RFC 9449, section 10.1. */
async function addProofKey(
  { service, base }: RealmEndpoint,
  { realm, client }: ClientCall,
  { query, dpop }: { readonly query: URLSearchParams; readonly dpop: string | undefined },
): Promise<void> {
  if (dpop === undefined) return
  const url = `${getIssuer(base, realm)}/protocol/openid-connect/ext/par/request`
  const confirmation = await confirmByProof({ service, realm }, client, { method: 'POST', url, dpop })
  checkRequestedKey(query.get('dpop_jkt') ?? undefined, confirmation)
  query.set('dpop_jkt', confirmation!.jkt!)
}

/** Throws OAuthError where the authorization endpoint would refuse the request. */
async function checkRequest(
  { service, base }: RealmEndpoint,
  { realm, client }: ClientCall,
  query: URLSearchParams,
): Promise<void> {
  try {
    requireBrowserClient(client)
    readAuthorizationParameters(client, query, readRedirectUri(client, query, base))
    await service.read(SYSTEM, realm, (context) => resolveScopes(context, client, query.get('scope') ?? ''))
  } catch (error) {
    if (error instanceof AuthorizationError) throw createError(error.error, error.description ?? error.error)
    if (error instanceof OAuthError) throw createError('invalid_request', error.message)
    if (error instanceof LoginError) throw createError('invalid_request', describe(error))
    throw error
  }
}

function describe({ error, params }: LoginError): string {
  return params.length ? `Invalid parameter: ${params.join(', ')}` : error
}

/** Keycloak: a client that may not use the flow gets 401, and every other error is `invalid_request`. */
function createError(error: string, reason: string): OAuthError {
  const isUnauthorized = error === 'unauthorized_client'
  return new OAuthError(isUnauthorized ? 401 : 400, isUnauthorized ? error : 'invalid_request', {
    description: reason,
    event: { error: isUnauthorized ? 'not_allowed' : 'invalid_request', reason },
  })
}
