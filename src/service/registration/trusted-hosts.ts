// The hosts of clients that register themselves. Pure. Keycloak: TrustedHostClientRegistrationPolicy.
import { type Representation, readObject, readTexts } from '../../kinds/json.ts'

/** The attributes of clients that hold URLs; several are separated by `##`. */
const URL_ATTRIBUTES = [
  'backchannel.logout.url',
  'ciba.backchannel.client.notification.endpoint',
  'frontchannel.logout.url',
  'jwks.url',
  'logoUri',
  'policyUri',
  'post.logout.redirect.uris',
  'request.uris',
  'saml_artifact_binding_url',
  'saml_artifact_resolution_service_url',
  'saml_assertion_consumer_url_post',
  'saml_assertion_consumer_url_redirect',
  'saml_single_logout_service_url_artifact',
  'saml_single_logout_service_url_post',
  'saml_single_logout_service_url_redirect',
  'saml_single_logout_service_url_soap',
  'sectorIdentifierUri',
  'tosUri',
]

/** The prefix of a trusted domain. */
const WILDCARD = '*.'

/**
 * Returns the host of each URL of a client; an empty text for a URL without a host, such as one with a scheme of its own. URLs that are
 * relative to the client or to this server are left out. Keycloak: attributes and web origins are not checked.
 */
export function listClientHosts(client: Representation): string[] {
  const { rootUrl, baseUrl, adminUrl, redirectUris, webOrigins, attributes } = client
  const ofAttributes = URL_ATTRIBUTES.flatMap((name) => String(readObject(attributes)[name] ?? '').split('##'))
  const urls = [rootUrl, baseUrl, adminUrl, ...readTexts(redirectUris), ...readTexts(webOrigins), ...ofAttributes]
  return urls.flatMap((url) =>
    typeof url !== 'string' || url === '' || url === '+' || isRelative(url) ? [] : [getHost(url)],
  )
}

/** Whether a URL is a path of this server or of the client. `//` begins a host. */
const isRelative = (url: string): boolean => /^\/(?![/\\])/.test(url)

/** Returns the host that HTTP requests for a URL go to; an IPv6 address without brackets. Empty for other schemes. */
function getHost(url: string): string {
  const { protocol, hostname } = URL.parse(url) ?? {}
  return protocol === 'http:' || protocol === 'https:' ? hostname!.replace(/^\[|\]$/g, '') : ''
}

/** Whether a host is a trusted one, or in a trusted domain `*.example.org`, to which `example.org` belongs. */
export function matchesHost(trusted: string, host: string): boolean {
  const [entry, name] = [trusted.toLowerCase(), host.toLowerCase()]
  if (!entry.startsWith(WILDCARD)) return entry !== '' && entry === name
  const domain = entry.slice(WILDCARD.length)
  return domain !== '' && (name === domain || name.endsWith(`.${domain}`))
}

/** Whether an entry of the trusted hosts is a domain. */
export const isDomain = (trusted: string): boolean => trusted.startsWith(WILDCARD)
