// The SAML metadata that describes a realm as a service provider to an identity provider.
import { randomUUID } from 'node:crypto'
import { escapeXml, renderElement } from '../../lib/xml.ts'

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion'
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:'
const [POST, REDIRECT, ARTIFACT] = [`${BINDING}HTTP-POST`, `${BINDING}HTTP-Redirect`, `${BINDING}HTTP-Artifact`]

/** The values in the SAML metadata of a realm as a service provider of an identity provider. */
export interface ServiceProviderMetadata {
  /** The issuer URL of the realm. */
  readonly issuer: string
  /** The name of the realm. */
  readonly realm: string
  /** The alias of the identity provider in the realm. */
  readonly alias: string
  /** The config of the identity provider. */
  readonly settings: Readonly<Record<string, string | undefined>>
  /** The config of the mappers that request attributes. */
  readonly attributes: readonly Readonly<Record<string, string | undefined>>[]
  /** The certificates of the realm, in base64. */
  readonly keys: readonly {
    readonly kid: string
    readonly use: 'signing' | 'encryption'
    readonly certificate: string
  }[]
}

/** Renders the metadata of the realm as a service provider for one identity provider. */
export function renderServiceProviderMetadata(metadata: ServiceProviderMetadata): string {
  const { issuer, alias, settings, keys } = metadata
  const endpoint = `${issuer}/broker/${alias}/endpoint`
  const isOn = (setting: string) => settings[setting] === 'true'
  const service = (name: string, Binding: string, attributes: Record<string, string> = {}) =>
    renderElement(`md:${name}`, { Binding, Location: endpoint, ...attributes })
  const bindings = (prefersPost: boolean) => (prefersPost ? [POST, REDIRECT] : [REDIRECT, POST])
  const isUsed = { signing: isOn('wantAuthnRequestsSigned'), encryption: isOn('wantAssertionsEncrypted') }
  const content = [
    ...keys.filter(({ use }) => isUsed[use]).map(keyDescriptor),
    ...bindings(isOn('postBindingLogout')).map((binding) => service('SingleLogoutService', binding)),
    renderElement('md:NameIDFormat', {}, [escapeXml(settings.nameIDPolicyFormat ?? '')]),
    ...[...bindings(isOn('postBindingResponse')), ARTIFACT].map((binding, at) =>
      service('AssertionConsumerService', binding, { ...(at === 0 && { isDefault: 'true' }), index: String(at + 1) }),
    ),
    ...(metadata.attributes.length ? [attributeService(metadata)] : []),
  ]
  const namespaces = { xmlns: METADATA, 'xmlns:md': METADATA, 'xmlns:saml': ASSERTION, 'xmlns:ds': SIGNATURE }
  const descriptor = renderElement(
    'md:SPSSODescriptor',
    {
      protocolSupportEnumeration: PROTOCOL,
      AuthnRequestsSigned: String(isUsed.signing),
      WantAssertionsSigned: String(isOn('wantAssertionsSigned')),
    },
    content,
  )
  const identity = { entityID: settings.entityId || issuer, ID: `ID_${randomUUID()}` }
  return renderElement('md:EntityDescriptor', { ...namespaces, ...identity }, [descriptor])
}

function keyDescriptor({ kid, use, certificate }: ServiceProviderMetadata['keys'][number]): string {
  const data = renderElement('ds:X509Data', {}, [renderElement('ds:X509Certificate', {}, [certificate])])
  const info = renderElement('ds:KeyInfo', {}, [renderElement('ds:KeyName', {}, [escapeXml(kid)]), data])
  const encryptionMethods = [
    'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p',
    'http://www.w3.org/2009/xmlenc11#rsa-oaep',
  ]
  const methods =
    use === 'encryption'
      ? encryptionMethods.map((Algorithm) => renderElement('md:EncryptionMethod', { Algorithm }))
      : []
  return renderElement('md:KeyDescriptor', { use }, [info, ...methods])
}

function attributeService({ settings, realm, attributes }: ServiceProviderMetadata): string {
  const index = settings.attributeConsumingServiceIndex || '1'
  return renderElement('md:AttributeConsumingService', { isDefault: 'true', index }, [
    renderElement('md:ServiceName', { 'xml:lang': 'en' }, [escapeXml(settings.attributeConsumingServiceName || realm)]),
    ...attributes.map((config) =>
      renderElement('md:RequestedAttribute', {
        Name: config['attribute.name'],
        FriendlyName: config['attribute.friendly.name'],
        NameFormat: FORMATS[config['attribute.name.format'] ?? ''] ?? FORMATS.ATTRIBUTE_FORMAT_BASIC,
      }),
    ),
  ])
}

const FORMATS: Readonly<Record<string, string>> = {
  ATTRIBUTE_FORMAT_BASIC: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
  ATTRIBUTE_FORMAT_URI: 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri',
  ATTRIBUTE_FORMAT_UNSPECIFIED: 'urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified',
}
