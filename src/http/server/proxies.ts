// Forwarded headers of proxies. Fastify reads X-Forwarded-* from trusted addresses.
import type { FastifyRequest } from 'fastify'
import { parseForwarded } from '../../lib/http/headers.ts'

/** A form in which a proxy passes on client certificates. */
export type CertificateHeader = 'rfc9440' | 'nginx' | 'haproxy'

/** The trusted proxies, and the headers that they set. */
export interface ProxySettings {
  readonly headers: 'forwarded' | 'xforwarded'
  /** Addresses and networks. Absent: this machine and private networks. */
  readonly trusted?: readonly string[] | undefined
  /** The header in which the proxy passes on client certificates. Absent: none is read. */
  readonly certificateHeader?: CertificateHeader | undefined
}

const DEFAULT_TRUSTED = ['loopback', 'linklocal', 'uniquelocal']

/** Returns the addresses from which fastify trusts X-Forwarded-*. */
export function toTrustedAddresses(proxies: ProxySettings | undefined): string[] | false {
  return proxies ? [...(proxies.trusted ?? DEFAULT_TRUSTED)] : false
}

/**
 * Returns a hook that prepares X-Forwarded-*, which fastify reads. With the setting `forwarded`, Forwarded replaces these headers. The port
 * of X-Forwarded-Port is added to the host.
 */
export function normalizeForwardedHeaders({
  headers: form,
}: ProxySettings): (request: FastifyRequest) => Promise<void> {
  return async ({ raw: { headers } }) => {
    if (form === 'forwarded') Object.assign(headers, toXForwarded(headers.forwarded))
    const { 'x-forwarded-host': host, 'x-forwarded-port': port } = headers
    if (typeof host === 'string' && typeof port === 'string' && /^\d+$/.test(port) && !/:\d+$/.test(host))
      headers['x-forwarded-host'] = `${host}:${port}`
  }
}

/** Converts Forwarded (RFC 7239): `for` of all elements, nearest proxy last; `host` and `proto` of the last that has them. */
function toXForwarded(header: string | undefined): Record<string, string | undefined> {
  const elements = header === undefined ? [] : parseForwarded(header)
  const last = (name: string) => elements.findLast((element) => element.has(name))?.get(name)
  return {
    'x-forwarded-for':
      elements.map((element) => toBareAddress(element.get('for') ?? 'unknown')).join(', ') || undefined,
    'x-forwarded-host': last('host'),
    'x-forwarded-proto': last('proto')?.toLowerCase(),
    'x-forwarded-port': undefined,
  }
}

/** Returns an address without port and IPv6 brackets. */
function toBareAddress(node: string): string {
  return /^\[(.*)\](:\d+)?$/.exec(node)?.[1] ?? node.replace(/:\d+$/, '')
}
