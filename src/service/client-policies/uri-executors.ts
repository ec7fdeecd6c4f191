// The executors of client policies about the URIs of clients.
import { readProperty } from '../../kinds/client-types.ts'
import { isList, type Representation, readTexts } from '../../kinds/json.ts'
import { isLoopback } from '../../lib/http/loopback.ts'
import { compileJavaPattern } from '../../lib/keycloak/java-pattern.ts'
import { matchTexts } from '../../lib/match-texts.ts'
import { isSet } from './policy-conditions.ts'
import type { ClientViolation } from './policy-event.ts'

/** A field of clients with URIs. */
interface UriField {
  /** Keycloak: the name in `client-uri-fields` and in errors. */
  readonly name: string
  readonly path: string
  /** Keycloak: the name in errors of `secure-client-uris`, if it differs; false if that executor does not check it. */
  readonly secureName?: string | false
}

const attribute = (name: string, path = name, secureName?: string | false): UriField => ({
  name,
  path: `attributes.${path}`,
  ...(secureName !== undefined && { secureName }),
})

// In the order in which Keycloak checks them.
const uriFields: readonly UriField[] = [
  ...['rootUrl', 'adminUrl', 'baseUrl', 'redirectUris', 'webOrigins'].map((name) => ({ name, path: name })),
  attribute('jwksUri', 'jwks.url'),
  attribute('requestUris', 'request.uris'),
  attribute('backchannelLogoutUrl', 'backchannel.logout.url', 'logoutUrl'),
  attribute('postLogoutRedirectUris', 'post.logout.redirect.uris', 'postLogoutUris'),
  attribute('cibaClientNotificationEndpoint', 'ciba.backchannel.client.notification.endpoint'),
  attribute('logoUri'),
  attribute('policyUri'),
  attribute('tosUri'),
  attribute('sectorIdentifierUri', 'sectorIdentifierUri', false),
  ...[
    'saml_assertion_consumer_url_post',
    'saml_assertion_consumer_url_redirect',
    'saml_artifact_binding_url',
    'saml_single_logout_service_url_post',
    'saml_single_logout_service_url_artifact',
    'saml_single_logout_service_url_redirect',
    'saml_single_logout_service_url_soap',
    'saml_artifact_resolution_service_url',
    'saml.metadataDescriptorUrl',
  ].map((name) => attribute(name, name, false)),
]

/** Keycloak: several URIs in one attribute are joined by this text. */
const SEPARATOR = '##'

function listUris(client: Representation, { path }: UriField): string[] {
  const value = readProperty(client, path) ?? ''
  return (isList(value) ? readTexts(value) : String(value).split(SEPARATOR)).filter((uri) => uri.trim() !== '')
}

const invalidUri = (name: string, { path }: UriField): ClientViolation => ({
  error: 'invalid_client_metadata',
  message: `Invalid ${name}`,
  field: path,
})

/** Checks that all URIs of a client are HTTPS, and that none has a wildcard. */
export function checkSecureUris(client: Representation): ClientViolation | undefined {
  for (const field of uriFields) {
    if (field.secureName === false) continue
    const mayDerive = ['webOrigins', 'post.logout.redirect.uris'].some((name) => field.path.endsWith(name))
    const uris = listUris(client, field)
      .filter((uri) => !(mayDerive && uri === '+'))
      .map((uri) => (field.path === 'redirectUris' ? resolveUri(client, uri) : uri))
    if (!uris.every(isSecureUri)) return invalidUri(field.secureName ?? field.name, field)
  }
  return undefined
}

/** Whether a URI is HTTPS, without a wildcard. */
export const isSecureUri = (uri: string): boolean => /^https:/i.test(uri) && URL.canParse(uri) && !uri.includes('*')

/** Returns the URI, or the root URL with a path. Without a root URL, a path is one of the server itself. */
function resolveUri({ rootUrl }: Representation, uri: string): string {
  if (!uri.startsWith('/')) return uri
  return typeof rootUrl === 'string' && rootUrl !== '' ? `${rootUrl}${uri}` : `https://server.invalid${uri}`
}

/** Checks that the URIs in the configured fields match one of the configured patterns. */
export function checkUriPatterns(configuration: Representation, client: Representation): ClientViolation | undefined {
  const names = readTexts(configuration['client-uri-fields'])
  const patterns = readTexts(configuration['allowed-patterns']).flatMap((pattern) => compilePattern(pattern))
  const field = uriFields.find((candidate) => {
    if (names.length > 0 && !names.includes(candidate.name)) return false
    return !matchesAny(patterns, listUris(client, candidate))
  })
  return field && invalidUri(field.name, field)
}

/** Whether each text matches one of the patterns. */
function matchesAny(patterns: readonly RegExp[], texts: readonly string[]): boolean {
  const matches = patterns.map((pattern) => matchTexts(pattern, texts))
  return texts.every((_, index) => matches.some((result) => result[index]))
}

/** Returns the pattern; none if it is invalid, so that it allows nothing. */
function compilePattern(pattern: string): RegExp[] {
  try {
    return [compileJavaPattern(pattern)]
  } catch {
    return []
  }
}

/** Checks the redirect URIs of a client. */
export function checkRedirectUris(configuration: Representation, client: Representation): ClientViolation | undefined {
  for (const uri of readTexts(client.redirectUris)) {
    const problem = findRedirectUriProblem(configuration, resolveUri(client, uri))
    if (problem) return { error: 'invalid_request', message: problem, field: 'redirectUris' }
  }
  return undefined
}

/** Returns the problem of a redirect URI; undefined if it is allowed. Keycloak: SecureRedirectUrisEnforcerExecutor. */
export function findRedirectUriProblem(configuration: Representation, uri: string): string | undefined {
  const rules = readRules(configuration)
  if (rules.allowsAll) return undefined
  // A wildcard may be the port or a part of the host, where it is no valid character.
  const url = URL.parse(uri.replaceAll(/:\*(?=[/?]|$)/g, ':1').replaceAll('*', 'x'))
  if (!url || uri === '*') return createProblem('uri')
  if (uri.includes('*') && !rules.allowsWildcard) return createProblem('uri')
  if (rules.isCompliant && uri.includes('#')) return createProblem('uri')
  if (!['http:', 'https:'].includes(url.protocol)) {
    const isAllowed = rules.allowsPrivateUse && !(rules.isVersion21 && !url.protocol.includes('.'))
    return isAllowed ? undefined : createProblem('private use scheme')
  }
  if (isLoopback(url.hostname)) return isAllowedLoopback(url, rules) ? undefined : createProblem('loopback address')
  if (url.protocol === 'http:' && (!rules.allowsHttp || rules.isVersion21)) return createProblem('uri')
  const isPermitted = !rules.domains || matchesAny(rules.domains, [url.hostname])
  return isPermitted ? undefined : createProblem('uri')
}

const createProblem = (part: string) => `Invalid Redirect Uri: invalid ${part}`

type RedirectUriRules = ReturnType<typeof readRules>

function readRules(configuration: Representation) {
  const isOn = (name: string) => isSet(configuration[name])
  const domains = readTexts(configuration['allow-permitted-domains'])
  const isVersion21 = isOn('oauth-2-1-compliant')
  return {
    allowsAll: isOn('allow-open-redirect'),
    allowsHttp: isOn('allow-http-scheme'),
    allowsPrivateUse: isOn('allow-private-use-uri-scheme'),
    allowsIpv4Loopback: isOn('allow-ipv4-loopback-address'),
    allowsIpv6Loopback: isOn('allow-ipv6-loopback-address'),
    isVersion21,
    isCompliant: isVersion21 || isOn('oauth-2-0-compliant'),
    allowsWildcard: isOn('allow-wildcard-context-path') && !isVersion21,
    domains: domains.length > 0 ? domains.flatMap(compilePattern) : undefined,
  }
}

function isAllowedLoopback({ protocol, hostname, port }: URL, rules: RedirectUriRules): boolean {
  const isAllowed = hostname === '[::1]' ? rules.allowsIpv6Loopback : rules.allowsIpv4Loopback
  if (!isAllowed || (protocol === 'http:' && !rules.allowsHttp)) return false
  return !rules.isVersion21 || (hostname !== 'localhost' && port === '')
}
