// What a request contains to show that its sender may use a token.
import type { FastifyRequest } from 'fastify'
import type { PresentedToken } from '../../oidc/sender-constraints/check-sender.ts'
import type { SenderEvidence } from '../../oidc/sender-constraints/confirmation.ts'
import { certificateOf } from './client-certificates.ts'

/** Returns the evidence of the sender's key. A repeated header is none that is valid. */
export function evidenceOf(request: FastifyRequest): SenderEvidence {
  const { dpop } = request.headers
  return { dpop: dpop === undefined ? undefined : String(dpop), certificate: certificateOf(request) }
}

/** Returns the access token of the Authorization header. */
export function accessTokenOf({ headers }: FastifyRequest): Pick<PresentedToken, 'scheme' | 'accessToken'> | undefined {
  const [, scheme, accessToken] = /^(Bearer|DPoP) +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  if (scheme === undefined || accessToken === undefined) return undefined
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'DPoP' : 'Bearer', accessToken }
}
