// The certificates of clients: those of TLS connections to this server, or those that a trusted proxy passes on.
import type { X509Certificate } from 'node:crypto'
import { BlockList, isIP, isIPv4 } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { FastifyRequest } from 'fastify'
import { parseCertificate } from '../../service/realms/realm-keys.ts'
import type { CertificateHeader, ProxySettings } from './proxies.ts'

/** The headers of proxies, and how each encodes a certificate. Keycloak: the providers of spi-x509cert-lookup. */
const headers = {
  /** RFC 9440: base64 of DER between colons. */
  rfc9440: { name: 'client-cert', decode: (text: string) => /^:([^:]*):$/.exec(text)?.[1] },
  /** `$ssl_client_escaped_cert`: PEM with percent-encoding. */
  nginx: { name: 'ssl-client-cert', decode: decodePercent },
  /** `ssl_c_der,base64`: base64 of DER. */
  haproxy: { name: 'ssl-client-cert', decode: (text: string) => text },
} as const satisfies Record<CertificateHeader, unknown>

const certificates = new WeakMap<FastifyRequest, X509Certificate>()

/** Returns the certificate with which the client of a request authenticated to this server or to a trusted proxy. */
export const certificateOf = (request: FastifyRequest): X509Certificate | undefined => certificates.get(request)

/** Returns a hook that finds the certificate of each request. A certificate that no trusted CA has issued does not count. */
export function findCertificates(proxies: ProxySettings | undefined): (request: FastifyRequest) => Promise<void> {
  const isTrusted = createTrust(proxies?.trusted ?? DEFAULT_TRUSTED)
  const header = proxies?.certificateHeader && headers[proxies.certificateHeader]
  return async (request) => {
    const { socket } = request.raw
    // The proxy may have a certificate of its own, which is not that of the client.
    const isForwarded = header !== undefined && isTrusted(socket.remoteAddress ?? '')
    const certificate = isForwarded ? parse(header, request.headers[header.name]) : getPeerCertificate(socket)
    if (certificate) certificates.set(request, certificate)
  }
}

function parse(
  { decode }: { decode(text: string): string | undefined },
  value: string | string[] | undefined,
): X509Certificate | undefined {
  return typeof value === 'string' ? parseCertificate(decode(value) ?? '') : undefined
}

function getPeerCertificate(socket: unknown): X509Certificate | undefined {
  return socket instanceof TLSSocket && socket.authorized ? socket.getPeerX509Certificate() : undefined
}

/** The networks of the default trusted proxies: this machine and private networks. */
const DEFAULT_TRUSTED = [
  ...['127.0.0.0/8', '169.254.0.0/16', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  ...['::1/128', 'fe80::/10', 'fc00::/7'],
]

function createTrust(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = isIPv4(address) ? '32' : '128'] = network.split('/')
    list.addSubnet(address, Number(bits), isIPv4(address) ? 'ipv4' : 'ipv6')
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
