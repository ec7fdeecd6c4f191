// The settings of Keycloak's OpenID Connect adapters, in their three formats. Keycloak: KeycloakOIDCClientInstallation and its siblings.
import { type Representation, readText } from '../../../../kinds/json.ts'
import { UMA_PROTECTION } from '../../../../kinds/role.ts'
import { escapeXml } from '../../../../lib/xml.ts'
import { type InstalledClient, joinLines } from './installed-client.ts'

/** Keycloak: the name of the application's archive, to be replaced. */
const ARCHIVE = '"WAR MODULE NAME.war"'

/** The credentials of a client: a secret, or the settings of an authenticator. */
type Credentials = Readonly<Record<string, string | Readonly<Record<string, string | number>>>>

/** Returns the file `keycloak.json`. */
export function renderAdapterJson(installed: InstalledClient): string {
  const { client, roles, realm, sslRequired, base } = installed
  const { clientId, publicClient, bearerOnly, authorizationServicesEnabled } = client
  const config: Representation = {
    realm,
    ...(bearerOnly === true && { 'bearer-only': true }),
    'auth-server-url': `${base}/`,
    'ssl-required': sslRequired,
    resource: clientId!,
    ...(publicClient === true && { 'public-client': true }),
    ...(roles.length > 0 && { 'verify-token-audience': true }),
    ...(isConfidential(client) && { credentials: getCredentials(client) }),
    ...(roles.some((name) => name !== UMA_PROTECTION) && { 'use-resource-role-mappings': true }),
    'confidential-port': 0,
    ...(authorizationServicesEnabled === true && { 'policy-enforcer': { credentials: {} } }),
  }
  return JSON.stringify(config, undefined, 2)
}

/** Returns the element for the configuration of a WildFly server. */
export function renderSubsystemXml({ client, roles, realm, sslRequired, base }: InstalledClient): string {
  const hasRoles = roles.length > 0
  const element = (name: string, value: string | number) => `    <${name}>${escapeXml(String(value))}</${name}>`
  const credentials = Object.entries(isConfidential(client) ? getCredentials(client) : {}).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [`    <credential name="${name}">${escapeXml(value)}</credential>`]
      : [
          `    <credential name="${name}">`,
          ...Object.entries(value).map(([setting, text]) => `    ${element(setting, text)}`),
          '    </credential>',
        ],
  )
  return joinLines([
    `<secure-deployment name=${ARCHIVE}>`,
    element('realm', realm),
    element('auth-server-url', `${base}/`),
    ...(client.bearerOnly === true ? [element('bearer-only', 'true')] : []),
    ...(client.publicClient === true ? [element('public-client', 'true')] : []),
    element('ssl-required', sslRequired.toUpperCase()),
    element('resource', String(client.clientId)),
    ...(hasRoles ? [element('verify-token-audience', 'true')] : []),
    ...credentials,
    ...(hasRoles ? [element('use-resource-role-mappings', 'true')] : []),
    '</secure-deployment>',
  ])
}

/** Returns the commands that configure a WildFly server. */
export function renderSubsystemCommands({ client, roles, realm, sslRequired, base }: InstalledClient): string {
  const address = `/subsystem=keycloak/secure-deployment=${ARCHIVE}`
  const hasRoles = roles.length > 0
  const settings = [
    `realm=${quote(realm)}`,
    `resource=${quote(String(client.clientId))}`,
    `auth-server-url=${base}/`,
    ...(client.bearerOnly === true ? ['bearer-only=true'] : []),
    ...(client.publicClient === true ? ['public-client=true'] : []),
    ...(hasRoles ? ['verify-token-audience=true', 'use-resource-role-mappings=true'] : []),
    `ssl-required=${sslRequired.toUpperCase()}`,
  ]
  const credentials = Object.entries(isConfidential(client) ? getCredentials(client) : {}).map(([name, value]) => {
    const entries = Object.entries(typeof value === 'string' ? {} : value)
    const text =
      typeof value === 'string'
        ? toValue(value)
        : `{${entries.map(([key, of]) => `${key}=${toValue(String(of))}`).join(', ')}}`
    return `${address}/credential=${name}:add(value=${text})`
  })
  return joinLines([`${address}/:add( \\`, `    ${settings.join(', \\\n    ')})`, '', ...credentials])
}

const isConfidential = ({ publicClient, bearerOnly }: Representation): boolean =>
  publicClient !== true && bearerOnly !== true

function getCredentials({ clientId, clientAuthenticatorType, secret }: Representation): Credentials {
  const text = readText(secret) ?? ''
  if (clientAuthenticatorType === 'client-secret') return { secret: text }
  if (clientAuthenticatorType === 'client-secret-jwt') return { 'secret-jwt': { secret: text } }
  if (clientAuthenticatorType !== 'client-jwt') return {}
  return {
    jwt: {
      'client-key-password': 'REPLACE WITH THE KEY PASSWORD IN KEYSTORE',
      'client-keystore-file': 'REPLACE WITH THE LOCATION OF YOUR KEYSTORE FILE',
      'client-keystore-password': 'REPLACE WITH THE KEYSTORE PASSWORD',
      'client-key-alias': String(clientId),
      'token-timeout': 10,
      'client-keystore-type': 'jks',
    },
  }
}

/** Quotes a value of a command. A line break would begin another command. */
const quote = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replace(/[\r\n]/g, ' ')}"`

/** Returns a value of a command, quoted if it has characters with a meaning. Keycloak quotes none. */
const toValue = (text: string): string => (/^[\w .:/~+=-]*$/.test(text) ? text : quote(text))
