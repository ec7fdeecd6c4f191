// Which pages may use a client: the origins that it names, and its own addresses.
import type { Representation } from '../kinds/json.ts'
import { type Service, SYSTEM } from '../service/context/service.ts'
import { writers } from '../service/kinds/index.ts'
import { OriginRefused } from './oauth-error.ts'
import type { Verified } from './tokens/tokens.ts'

/** Keycloak: `+` stands for the origins of the addresses that the client returns to, and these are compared as texts. */
export function webOrigins(client: Representation, base: string): readonly string[] {
  const named = textsOf(client.webOrigins)
  const root = typeof client.rootUrl === 'string' && client.rootUrl ? client.rootUrl : base
  const own = named.includes('+') ? textsOf(client.redirectUris).flatMap((uri) => originOf(uri, root, base)) : []
  return [...new Set([...named.filter((origin) => origin !== '+'), ...own])]
}

/** Throws OriginRefused when a page asks that is neither ours nor of an origin that the client names. */
export function demandOrigin(client: Representation, base: string, origin: string | undefined): void {
  if (origin !== undefined && !isAllowed(webOrigins(client, base), base, origin)) throw new OriginRefused()
}

/** The same of the client that a token was given to. One statement where a page of elsewhere asks, else none. */
export async function demandOriginOf(
  service: Service,
  base: string,
  { realm, issuedTo }: Verified,
  origin: string | undefined,
): Promise<void> {
  if (origin === undefined || isAllowed([], base, origin)) return
  const [client] = await service.read(SYSTEM, realm.name, (context) =>
    writers.client.list(context, { ids: [issuedTo.client] }),
  )
  demandOrigin(client?.representation ?? {}, base, origin)
}

/** Whether a page of that origin may ask: one of ours, or of the list. */
export function isAllowed(origins: readonly string[], base: string, origin: string): boolean {
  return origin === new URL(base).origin || origins.includes('*') || origins.includes(origin)
}

function originOf(uri: string, root: string, base: string): string[] {
  const whole = uri.startsWith('/') ? root.replace(/^\$\{auth(Base|Admin)Url\}/, base) : uri
  return /^https?:\/\/[^/]+/.exec(whole)?.slice(0, 1) ?? []
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : []
}
