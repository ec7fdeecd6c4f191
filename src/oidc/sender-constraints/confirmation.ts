// The keys to which tokens are bound, so that only their sender can use them. RFC 7800; RFC 9449, section 6.

import { createHash, type X509Certificate } from 'node:crypto'
import { readFlag } from '../../kinds/json.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmCall } from '../client-call.ts'
import { OAuthError } from '../oauth-error.ts'
import { viewClient } from '../views.ts'
import { InvalidProof, type ProofRequest, verifyProof } from './dpop-proof.ts'

/** The `cnf` claim of a token. */
export interface Confirmation {
  /** The thumbprint of the DPoP key. */
  readonly jkt?: string
  /** The thumbprint of the TLS certificate. RFC 8705, section 3.1. */
  readonly 'x5t#S256'?: string
}

/** The evidence of a key in a request. */
export interface SenderEvidence {
  /** The DPoP header. */
  readonly dpop?: string | undefined
  /** The certificate with which the client authenticated to this server or a trusted proxy. */
  readonly certificate?: X509Certificate | undefined
}

/** Returns the key to which a token is bound; undefined if it is not bound. */
export function readConfirmation(claims: Readonly<Record<string, unknown>>): Confirmation | undefined {
  return claims.cnf === undefined ? undefined : Object(claims.cnf)
}

/** Returns the claim that binds a token to a key, if there is one. */
export const toClaim = (confirmation: Confirmation | undefined): { readonly cnf?: Confirmation } =>
  confirmation ? { cnf: confirmation } : {}

/** Whether the client requires that its access tokens are bound to a DPoP key. */
export const requiresDpop = (client: LiveObject): boolean =>
  readFlag(viewClient(client).attributes?.['dpop.bound.access.tokens'])

/** Whether the client requires that its access tokens are bound to its TLS certificate. */
export const requiresCertificate = (client: LiveObject): boolean =>
  readFlag(viewClient(client).attributes?.['tls.client.certificate.bound.access.tokens'])

/** Returns the thumbprint of a certificate. RFC 8705, section 3.1. */
export const getThumbprint = ({ raw }: X509Certificate): string => createHash('sha256').update(raw).digest('base64url')

/**
 * Returns the keys to which the tokens of a request are bound; undefined if the client neither sends a proof nor requires anything.
 * It must not be called inside a transaction.
 *
 * @throws OAuthError for an invalid proof, and without a proof or a certificate that the client requires
 */
export async function confirmSender(
  call: RealmCall,
  client: LiveObject,
  { certificate, ...request }: SenderEvidence & ProofRequest,
): Promise<Confirmation | undefined> {
  const proven = await confirmByProof(call, client, request)
  if (!requiresCertificate(client)) return proven
  if (certificate) return { ...proven, 'x5t#S256': getThumbprint(certificate) }
  const reason = 'Client Certification missing for MTLS HoK Token Binding'
  throw new OAuthError(400, 'invalid_request', { description: reason, event: { error: 'invalid_request', reason } })
}

/** Returns the key of the proof of a request; undefined if the client neither sends nor requires one. Throws OAuthError. */
export async function confirmByProof(
  call: RealmCall,
  client: LiveObject,
  { dpop, ...request }: SenderEvidence & ProofRequest,
): Promise<Confirmation | undefined> {
  if (dpop === undefined) {
    if (requiresDpop(client)) throw createProofError('DPoP proof is missing')
    return undefined
  }
  try {
    return { jkt: await verifyProof(call, dpop, request) }
  } catch (error) {
    if (error instanceof InvalidProof) throw createProofError(error.message)
    throw error
  }
}

/** Returns the keys to which the refresh token of a client is bound. Keycloak: a client with credentials needs no proof. */
export function getRefreshConfirmation(
  client: LiveObject,
  confirmation: Confirmation | undefined,
): Confirmation | undefined {
  if (!confirmation || viewClient(client).publicClient === true) return confirmation
  const { jkt: _, ...bound } = confirmation
  return Object.keys(bound).length ? bound : undefined
}

/** Throws OAuthError unless the request has the key of its refresh token. */
export function checkRefreshConfirmation(
  claims: Readonly<Record<string, unknown>>,
  confirmation: Confirmation | undefined,
): void {
  const { jkt, 'x5t#S256': thumbprint } = readConfirmation(claims) ?? {}
  if (thumbprint !== undefined && thumbprint !== confirmation?.['x5t#S256']) {
    const reason = 'Client certificate missing, or its thumbprint and one in the refresh token did NOT match'
    throw new OAuthError(400, 'unauthorized_client', { description: reason, event: { error: 'invalid_token', reason } })
  }
  if (jkt === undefined || jkt === confirmation?.jkt) return
  const reason = confirmation?.jkt ? "DPoP confirmation doesn't match DPoP proof" : 'DPoP proof is missing'
  throw new OAuthError(400, 'invalid_grant', { description: reason, event: { error: 'invalid_token', reason } })
}

/** Throws OAuthError unless the request has the key that the authorization request named. RFC 9449, section 10. */
export function checkRequestedKey(thumbprint: string | undefined, confirmation: Confirmation | undefined): void {
  if (thumbprint === undefined || thumbprint === confirmation?.jkt) return
  const reason = confirmation?.jkt ? 'DPoP Proof public key thumbprint does not match dpop_jkt' : 'DPoP Proof missing'
  throw new OAuthError(400, 'invalid_request', { description: reason, event: { error: 'invalid_request', reason } })
}

const createProofError = (reason: string): OAuthError =>
  new OAuthError(400, 'invalid_request', { description: reason, event: { error: 'invalid_dpop_proof', reason } })
