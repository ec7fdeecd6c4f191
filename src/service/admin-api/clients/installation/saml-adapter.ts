// The settings of Keycloak's SAML adapters, in their three formats. Keycloak: KeycloakSamlClientInstallation and its siblings.
import { readText } from '../../../../kinds/json.ts'
import { escapeXml } from '../../../../lib/xml.ts'
import { getRealmAddress, type InstalledClient, joinLines } from './installed-client.ts'

/** A key in the settings: without a private key, the text says that it is missing. */
interface AdapterKey {
  readonly use: 'signing' | 'encryption'
  readonly privateKey: string
  readonly certificate: string | undefined
}

/** A service of the realm, with its settings in order. */
type ServiceSettings = Readonly<Record<string, string>>

/** The settings of an adapter. */
interface AdapterSettings {
  readonly entityId: string
  readonly sslPolicy: string
  readonly logoutPage: string
  readonly keys: readonly AdapterKey[]
  /** The algorithms of signatures; none if requests are not signed. */
  readonly signatures: Readonly<Record<string, string>>
  readonly signOn: ServiceSettings
  readonly logout: ServiceSettings
}

function getSettings(installed: InstalledClient): AdapterSettings {
  const { client, attributes, sslRequired } = installed
  const isOn = (name: string) => attributes[name] === 'true'
  const endpoint = `${getRealmAddress(installed)}/protocol/saml`
  const [signRequest, isSigned] = [isOn('saml.client.signature'), String(isOn('saml.server.signature'))]
  const getKey = (use: AdapterKey['use']): AdapterKey => ({
    use,
    privateKey: attributes[`saml.${use}.private.key`] ?? 'PRIVATE KEY NOT SET UP OR KNOWN',
    certificate: attributes[`saml.${use}.certificate`],
  })
  const { 'saml.signature.algorithm': algorithm, saml_signature_canonicalization_method: method } = attributes
  return {
    entityId: readText(client.baseUrl) ?? 'SPECIFY YOUR entityID!',
    sslPolicy: sslRequired.toUpperCase(),
    logoutPage: 'SPECIFY YOUR LOGOUT PAGE!',
    keys: [...(signRequest ? [getKey('signing')] : []), ...(isOn('saml.encrypt') ? [getKey('encryption')] : [])],
    signatures: {
      ...(signRequest && algorithm !== undefined && { signatureAlgorithm: algorithm }),
      ...(signRequest && method !== undefined && { signatureCanonicalizationMethod: method }),
    },
    signOn: {
      signRequest: String(signRequest),
      validateResponseSignature: isSigned,
      validateAssertionSignature: String(isOn('saml.assertion.signature')),
      requestBinding: 'POST',
      bindingUrl: endpoint,
    },
    logout: {
      signRequest: String(signRequest),
      signResponse: String(signRequest),
      validateRequestSignature: isSigned,
      validateResponseSignature: isSigned,
      requestBinding: 'POST',
      responseBinding: 'POST',
      postBindingUrl: endpoint,
      redirectBindingUrl: endpoint,
    },
  }
}

/** Returns the file `keycloak-saml.xml`. */
export function renderSamlAdapterXml(installed: InstalledClient): string {
  return joinLines(['<keycloak-saml-adapter>', ...renderProvider(getSettings(installed)), '</keycloak-saml-adapter>'])
}

/** Returns the element for the configuration of a WildFly server. */
export function renderSamlSubsystemXml(installed: InstalledClient): string {
  const content = renderProvider(getSettings(installed))
  return joinLines(['<secure-deployment name="YOUR-WAR.war">', ...content, '</secure-deployment>'])
}

function renderProvider({
  entityId,
  sslPolicy,
  logoutPage,
  keys,
  signatures,
  signOn,
  logout,
}: AdapterSettings): string[] {
  return [
    ...renderStart('    ', 'SP', { entityID: entityId, sslPolicy, logoutPage }, '>'),
    ...(keys.length ? ['        <Keys>', ...keys.flatMap(renderKey), '        </Keys>'] : []),
    ...renderStart('        ', 'IDP', { entityID: 'idp', ...signatures }, '>'),
    ...renderStart('            ', 'SingleSignOnService', signOn, '/>'),
    ...renderStart('            ', 'SingleLogoutService', logout, '/>'),
    '        </IDP>',
    '    </SP>',
  ]
}

/** Renders a start tag with one attribute per line. */
function renderStart(
  indent: string,
  name: string,
  attributes: Readonly<Record<string, string>>,
  end: string,
): string[] {
  const separator = `\n${indent}${' '.repeat(name.length + 2)}`
  const texts = Object.entries(attributes).map(([key, value]) => `${key}="${escapeXml(value)}"`)
  return [`${indent}<${name} ${texts.join(separator)}${end}`]
}

function renderKey({ use, privateKey, certificate }: AdapterKey): string[] {
  const pem = (name: string, text: string) => [
    `                <${name}>`,
    `                    ${escapeXml(text)}`,
    `                </${name}>`,
  ]
  return [
    `            <Key ${use}="true">`,
    ...pem('PrivateKeyPem', privateKey),
    ...(certificate === undefined ? [] : pem('CertificatePem', certificate)),
    '            </Key>',
  ]
}

/** Returns the commands that configure a WildFly server. */
export function renderSamlSubsystemCommands(installed: InstalledClient): string {
  const { entityId, sslPolicy, logoutPage, keys, signatures, signOn, logout } = getSettings(installed)
  const deployment = '/subsystem=keycloak-saml/secure-deployment=YOUR-WAR.war'
  const provider = `${deployment}/SP="${quote(entityId)}"`
  const renderService = (name: string, service: ServiceSettings, end: string) => {
    const entries = Object.entries(service).map(([key, value]) => `        ${key}=${value}`)
    return `    ${name}={ \\\n${entries.join(', \\\n')}}${end} \\`
  }
  return [
    `${deployment}/:add`,
    `${provider}/:add(sslPolicy=${sslPolicy},logoutPage="${logoutPage}")`,
    ...keys.map((key, at) => `${provider}/Key=KEY${at + 1}:add(${toKeySettings(key)})`),
    [
      `${provider}/IDP=idp/:add( \\`,
      renderService('SingleSignOnService', signOn, ','),
      renderService('SingleLogoutService', logout, ''),
      ')',
    ].join('\n'),
    ...Object.entries(signatures).map(
      ([name, value]) => `${provider}/IDP=idp/:write-attribute(name=${name},value=${value})`,
    ),
  ]
    .map((command) => `${command}\n\n`)
    .join('')
}

function toKeySettings({ use, privateKey, certificate }: AdapterKey): string {
  const keySetting = `PrivateKeyPem="${quote(privateKey)}"`
  if (certificate === undefined) return `${use}=true,${keySetting}`
  return `${use}=true, \\\n${keySetting}, \\\nCertificatePem="${quote(certificate)}"`
}

/** Escapes a text in a command. A line break would begin another command. */
const quote = (text: string): string => text.replace(/[\\"]/g, '\\$&').replace(/[\r\n]/g, ' ')
