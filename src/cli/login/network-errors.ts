// Explains why a request to a server fails: what the network or TLS reports, and what to do.
import { getErrorCode } from '../../lib/error-code.ts'
import { getFailureReason } from '../../lib/http/http-request.ts'

/** Returns the message for the failure of a request. */
export function describeNetworkError(url: string, error: Error): string {
  const { origin, host, hostname, protocol } = new URL(url)
  const code = getErrorCode(error.cause) ?? ''
  if (hasNoTls.test(code)) return `${origin} responds without TLS. Use http://${host}.`
  if (isClosed.test(code) && protocol === 'http:')
    return `${origin} does not respond with HTTP (${code}). If it uses TLS, use https://${host}.`
  if (isUntrusted.test(code))
    return `The certificate of ${origin} is not from a known certificate authority (${code}). Set NODE_EXTRA_CA_CERTS to the file of its authority.`
  return (
    messages[code]?.({ origin, hostname }) ??
    `No server responds at ${origin} (${getFailureReason(error)}). Start it with "regent serve".`
  )
}

/** The server does not begin with a TLS record. */
const hasNoTls = /^(EPROTO|ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE))$/
/** The server closes the connection, or sends something else than HTTP, as a server with TLS does. */
const isClosed = /^(ECONNRESET|HPE_\w+)$/
const isUntrusted =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?)$/

type DescribeFailure = (server: { readonly origin: string; readonly hostname: string }) => string

/** The messages for other codes of the system and of OpenSSL. */
const messages: Readonly<Record<string, DescribeFailure>> = {
  ENOTFOUND: ({ hostname }) => `The host name ${hostname} cannot be resolved. Check the URL.`,
  EAI_AGAIN: ({ hostname }) => `The host name ${hostname} cannot be resolved at the moment. Check the network.`,
  EHOSTUNREACH: ({ origin }) => `There is no route to ${origin}. Check the network.`,
  ENETUNREACH: ({ origin }) => `There is no route to ${origin}. Check the network.`,
  CERT_HAS_EXPIRED: ({ origin }) => `The certificate of ${origin} has expired. Renew it on the server.`,
  CERT_NOT_YET_VALID: ({ origin }) => `The certificate of ${origin} is not valid yet. Check the clock of this machine.`,
  ERR_TLS_CERT_ALTNAME_INVALID: ({ origin }) =>
    `The certificate of ${origin} is for another host name. Use the name in the certificate.`,
}
