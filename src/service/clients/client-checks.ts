// Checks of a client's ID, protocol, URLs and timeouts. Keycloak: the messages are its own.
import { type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { isLoginProtocol, OIDC } from '../../kinds/login-protocols.ts'
import { areLevels } from '../../kinds/setting-texts.ts'
import { isJavaUri } from '../../lib/keycloak/java-uri.ts'
import type { Context } from '../context/context.ts'
import type { ObjectProblem } from '../context/errors.ts'
import { findLiveRealm } from '../objects/live-objects.ts'

/** The attribute with the levels of authentication. */
const LEVELS = 'acr.loa.map'

/** Returns the problems of a complete client, with the messages joined by semicolons and the first field; undefined if it has none. */
export function findClientProblem(client: Representation): ObjectProblem | undefined {
  const { clientId, protocol = OIDC } = client
  const problems: ObjectProblem[] = [
    ...(typeof clientId === 'string' && isBlank(clientId)
      ? [{ message: 'Client ID cannot be blank', field: 'clientId' }]
      : []),
    ...(isLoginProtocol(protocol) ? [] : [{ message: `Invalid protocol: ${protocol}`, field: 'protocol' }]),
    ...(areLevels(String(readObject(client.attributes)[LEVELS] || '{}'))
      ? []
      : [{ message: 'Invalid client configuration (ACR-LOA map) for client', field: `attributes.${LEVELS}` }]),
    ...[...addresses, ...(protocol === 'saml' ? samlAddresses : oidcAddresses)].flatMap((address) =>
      address
        .read(client)
        .flatMap((value) => findAddressProblems(address, value))
        .map((message) => ({ message, field: address.field })),
    ),
  ]
  const [first] = problems
  return first && { ...first, message: [...new Set(problems.map(({ message }) => message))].join('; ') }
}

/** A URL setting of clients, and the rules for its values. */
interface Address {
  /** Path of the setting. */
  readonly field: string
  readonly read: (client: Representation) => readonly string[]
  readonly label: string
  /** The messages for a malformed value, and for one whose scheme runs scripts. */
  readonly invalid?: string
  readonly illegal?: string
  /** Accepts any URI reference; otherwise the value must be a URL that a server can open. */
  readonly anyUri?: true
  /** Accepts values that begin with a slash: `any` unchecked, `checked` as the path of a URL. */
  readonly relative?: 'any' | 'checked'
  readonly fragment?: 'refused'
  readonly data?: 'allowed'
  /** Accepts placeholders in braces. */
  readonly templates?: true
}

const field = (name: string) => ({
  field: name,
  read: (client: Representation) => readTextOrTexts(client[name]),
})
const attribute = (name: string) => ({
  field: `attributes.${name}`,
  read: (client: Representation) =>
    readTextOrTexts(readObject(client.attributes)[name])
      .flatMap((value) => value.split('##'))
      .filter((value) => !isBlank(value)),
})
const anyUri = { anyUri: true, relative: 'any' } as const
const returnUri = { ...anyUri, fragment: 'refused', invalid: 'is not a valid URI' } as const

// In the order in which Keycloak lists several problems.
const addresses: readonly Address[] = [
  { ...attribute('logoUri'), label: 'Logo URL', anyUri: true, data: 'allowed' },
  { ...field('baseUrl'), label: 'Base URL', relative: 'checked' },
  { ...attribute('backchannel.logout.url'), label: 'Backchannel logout URL', relative: 'checked', templates: true },
  {
    ...attribute('request.uris'),
    label: 'Valid request URIs',
    ...anyUri,
    invalid: 'has an invalid value',
    illegal: 'has a value with illegal scheme',
  },
  { ...attribute('post.logout.redirect.uris'), label: 'A post-logout redirect URI', ...returnUri },
  {
    field: 'rootUrl',
    read: ({ rootUrl }) =>
      readTextOrTexts(rootUrl).filter((url) => url !== '${authBaseUrl}' && url !== '${authAdminUrl}'),
    label: 'Root URL',
    fragment: 'refused',
  },
  { ...attribute('policyUri'), label: 'Policy URL' },
  { ...attribute('tosUri'), label: 'Terms of service URL' },
  {
    field: 'redirectUris',
    read: ({ redirectUris }) => readTextOrTexts(redirectUris).filter((uri) => !isBlank(uri)),
    label: 'A redirect URI',
    ...returnUri,
  },
  { ...attribute('jwks.url'), label: 'JWKS URL', relative: 'any' },
  { ...attribute('frontchannel.logout.url'), label: 'Front-channel logout URL', relative: 'any' },
]
const oidcAddresses: readonly Address[] = [{ ...field('adminUrl'), label: 'Admin URL', relative: 'any' }]
const samlAddresses: readonly Address[] = [
  { ...field('adminUrl'), label: 'Master SAML Processing URL' },
  { ...attribute('saml_assertion_consumer_url_post'), label: 'Assertion Consumer Service POST Binding URL' },
  { ...attribute('saml_assertion_consumer_url_redirect'), label: 'Assertion Consumer Service Redirect Binding URL' },
  { ...attribute('saml_single_logout_service_url_artifact'), label: 'Logout Service ARTIFACT Binding URL' },
  { ...attribute('saml_single_logout_service_url_redirect'), label: 'Logout Service Redirect Binding URL' },
  { ...attribute('saml_artifact_resolution_service_url'), label: 'Artifact Resolution Service' },
  { ...attribute('saml_single_logout_service_url_post'), label: 'Logout Service POST Binding URL' },
  { ...attribute('saml_single_logout_service_url_soap'), label: 'Logout Service SOAP Binding URL' },
]

function findAddressProblems(address: Address, value: string): string[] {
  const { label, invalid = 'is not a valid URL', illegal = 'uses an illegal scheme' } = address
  const template = /\{[^{}]+\}/g
  const filled = address.templates ? value.replace(template, 'x') : value
  if (filled.startsWith('/') && address.relative === 'any')
    return filled.search(template) < 0 ? [] : [`${label} ${invalid}`]
  const full = filled.startsWith('/') && address.relative === 'checked' ? `http://localhost${filled}` : filled
  if (!isJavaUri(full)) return [`${label} ${invalid}`]
  const scheme = /^[^:/?#]+(?=:)/.exec(full)?.[0].toLowerCase()
  const problems = [
    ...(scheme === 'javascript' || (scheme === 'data' && address.data === undefined) ? [illegal] : []),
    ...(full.includes('#') && address.fragment === 'refused' ? ['must not contain an URL fragment'] : []),
  ]
  if (!problems.length && !address.anyUri && (!url.test(full) || badPort.test(full))) problems.push(invalid)
  return problems.map((problem) => `${label} ${problem}`)
}

const url = /^(?:https?|ftp|file|mailto|jrt|jmod|jar(?=:.*!\/)):/i
const badPort = /^[a-z]+:\/\/(?:[^/?#]*[\]@])?[^/?#\]@:]*:(?!\d*(?:[/?#]|$))[^/?#\]@]*(?:[/?#]|$)/i

function readTextOrTexts(value: Json | undefined): readonly string[] {
  return (typeof value === 'string' ? [value] : readTexts(value)).filter((text) => text !== '')
}

function isBlank(value: string): boolean {
  return value.trim() === ''
}

/** The timeouts that attributes of clients set, and the settings of the realm that limit them. Keycloak: a later change of the realm is not checked. */
const timeouts = [
  {
    attribute: 'client.session.idle.timeout',
    setting: 'ssoSessionIdleTimeout',
    rememberMeSetting: 'ssoSessionIdleTimeoutRememberMe',
    message: 'Client session idle timeout cannot exceed realm SSO session idle timeout',
    rememberMeMessage: ' and RememberMe idle timeout',
  },
  {
    attribute: 'client.session.max.lifespan',
    setting: 'ssoSessionMaxLifespan',
    rememberMeSetting: 'ssoSessionMaxLifespanRememberMe',
    message: 'Client session max lifespan cannot exceed realm SSO session max lifespan',
    rememberMeMessage: ' and RememberMe Max span',
  },
]

/** A timeout of a client that exceeds that of its realm. */
interface TimeoutProblem {
  readonly attribute: string
  readonly message: string
}

/** Returns the settings of the realm if one of the clients has a timeout, to check it against them. One statement, or none. */
export async function findTimeoutLimits(
  context: Context,
  clients: readonly Representation[],
): Promise<Representation | undefined> {
  const hasTimeout = clients.some(({ attributes }) =>
    timeouts.some(({ attribute }) => readObject(attributes)[attribute]),
  )
  return hasTimeout ? (await findLiveRealm(context))?.representation : undefined
}

/** Returns the timeouts of a client that exceed those of its realm. */
export function listTimeoutProblems(client: Representation, realm: Representation): TimeoutProblem[] {
  const remembers = realm.rememberMe === true
  return timeouts.flatMap(({ attribute, setting, rememberMeSetting, message, rememberMeMessage }) => {
    const limit = Math.max(Number(realm[setting] ?? 0), remembers ? Number(realm[rememberMeSetting] ?? 0) : 0)
    if (!(Number(readObject(client.attributes)[attribute] ?? 0) > limit)) return []
    return [{ attribute, message: `${message}${remembers ? rememberMeMessage : ''}.` }]
  })
}
