// What proxies say of requests: who asks, and by which address. Fastify knows X-Forwarded-*, and whom to believe.
import type { FastifyRequest } from 'fastify'
import { parseForwarded } from '../../lib/http/headers.ts'

/** Which proxies are believed, and in which headers they speak. */
export interface Proxies {
  readonly headers: 'forwarded' | 'xforwarded'
  /** Addresses and networks. Absent: this machine and private networks. */
  readonly trusted?: readonly string[] | undefined
}

const NEAR = ['loopback', 'linklocal', 'uniquelocal']

/** The addresses from which fastify believes X-Forwarded-*. */
export function trustedBy(proxies: Proxies | undefined): string[] | false {
  return proxies ? [...(proxies.trusted ?? NEAR)] : false
}

/** A hook that says in X-Forwarded-* what is to be believed, if its sender is: nothing of the headers that are not named. */
export function forwardedBy({ headers: form }: Proxies): (request: FastifyRequest) => Promise<void> {
  return async ({ raw: { headers } }) => {
    if (form === 'forwarded') Object.assign(headers, fromForwarded(headers.forwarded))
    const { 'x-forwarded-host': host, 'x-forwarded-port': port } = headers
    if (typeof host === 'string' && typeof port === 'string' && /^\d+$/.test(port) && !/:\d+$/.test(host))
      headers['x-forwarded-host'] = `${host}:${port}`
  }
}

/** RFC 7239: who asks stands in each element, the nearest proxy last; what was asked, in the last that says so. */
function fromForwarded(header: string | undefined): Record<string, string | undefined> {
  const elements = header === undefined ? [] : parseForwarded(header)
  const last = (name: string) => elements.findLast((element) => element.has(name))?.get(name)
  return {
    'x-forwarded-for': elements.map((element) => bare(element.get('for') ?? 'unknown')).join(', ') || undefined,
    'x-forwarded-host': last('host'),
    'x-forwarded-proto': last('proto')?.toLowerCase(),
    'x-forwarded-port': undefined,
  }
}

/** The address without its port, and without the brackets of IPv6. */
function bare(node: string): string {
  return /^\[(.*)\](:\d+)?$/.exec(node)?.[1] ?? node.replace(/:\d+$/, '')
}
