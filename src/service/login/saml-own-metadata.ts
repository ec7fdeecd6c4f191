// The SAML metadata of a realm, by which another server knows it.
import { randomUUID } from 'node:crypto'
import { escaped, xml } from '../../lib/xml.ts'

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion'
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const BINDING = 'urn:oasis:names:tc:SAML:2.0:bindings:'
const [POST, REDIRECT, ARTIFACT] = [`${BINDING}HTTP-POST`, `${BINDING}HTTP-Redirect`, `${BINDING}HTTP-Artifact`]

/** What the other server must know of the realm. */
export interface OwnMetadata {
  /** The address of the realm. */
  readonly issuer: string
  /** Name of the realm, and alias of the provider in it. */
  readonly realm: string
  readonly alias: string
  readonly settings: Readonly<Record<string, string | undefined>>
  /** The attributes that mappers of the provider ask for: their settings. */
  readonly attributes: readonly Readonly<Record<string, string | undefined>>[]
  /** Certificates in base64, by what they are used for. */
  readonly keys: readonly {
    readonly kid: string
    readonly use: 'signing' | 'encryption'
    readonly certificate: string
  }[]
}

/** The metadata of the realm as a service provider, for one identity provider. */
export function metadataOf(own: OwnMetadata): string {
  const { issuer, alias, settings, keys } = own
  const endpoint = `${issuer}/broker/${alias}/endpoint`
  const isOn = (setting: string) => settings[setting] === 'true'
  const service = (name: string, Binding: string, more: Record<string, string> = {}) =>
    xml(`md:${name}`, { Binding, Location: endpoint, ...more })
  const first = (posted: boolean) => (posted ? [POST, REDIRECT] : [REDIRECT, POST])
  const used = { signing: isOn('wantAuthnRequestsSigned'), encryption: isOn('wantAssertionsEncrypted') }
  const content = [
    ...keys.filter(({ use }) => used[use]).map(keyDescriptor),
    ...first(isOn('postBindingLogout')).map((binding) => service('SingleLogoutService', binding)),
    xml('md:NameIDFormat', {}, [escaped(settings.nameIDPolicyFormat ?? '')]),
    ...[...first(isOn('postBindingResponse')), ARTIFACT].map((binding, at) =>
      service('AssertionConsumerService', binding, { ...(at === 0 && { isDefault: 'true' }), index: String(at + 1) }),
    ),
    ...(own.attributes.length ? [attributeService(own)] : []),
  ]
  const namespaces = { xmlns: METADATA, 'xmlns:md': METADATA, 'xmlns:saml': ASSERTION, 'xmlns:ds': SIGNATURE }
  const descriptor = xml(
    'md:SPSSODescriptor',
    {
      protocolSupportEnumeration: PROTOCOL,
      AuthnRequestsSigned: String(used.signing),
      WantAssertionsSigned: String(isOn('wantAssertionsSigned')),
    },
    content,
  )
  const identity = { entityID: settings.entityId || issuer, ID: `ID_${randomUUID()}` }
  return xml('md:EntityDescriptor', { ...namespaces, ...identity }, [descriptor])
}

function keyDescriptor({ kid, use, certificate }: OwnMetadata['keys'][number]): string {
  const data = xml('ds:X509Data', {}, [xml('ds:X509Certificate', {}, [certificate])])
  const info = xml('ds:KeyInfo', {}, [xml('ds:KeyName', {}, [escaped(kid)]), data])
  const methods = ['http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p', 'http://www.w3.org/2009/xmlenc11#rsa-oaep']
  const taken = use === 'encryption' ? methods.map((Algorithm) => xml('md:EncryptionMethod', { Algorithm })) : []
  return xml('md:KeyDescriptor', { use }, [info, ...taken])
}

function attributeService({ settings, realm, attributes }: OwnMetadata): string {
  const index = settings.attributeConsumingServiceIndex || '1'
  return xml('md:AttributeConsumingService', { isDefault: 'true', index }, [
    xml('md:ServiceName', { 'xml:lang': 'en' }, [escaped(settings.attributeConsumingServiceName || realm)]),
    ...attributes.map((one) =>
      xml('md:RequestedAttribute', {
        Name: one['attribute.name'],
        FriendlyName: one['attribute.friendly.name'],
        NameFormat: FORMATS[one['attribute.name.format'] ?? ''] ?? FORMATS.ATTRIBUTE_FORMAT_BASIC,
      }),
    ),
  ])
}

const FORMATS: Readonly<Record<string, string>> = {
  ATTRIBUTE_FORMAT_BASIC: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic',
  ATTRIBUTE_FORMAT_URI: 'urn:oasis:names:tc:SAML:2.0:attrname-format:uri',
  ATTRIBUTE_FORMAT_UNSPECIFIED: 'urn:oasis:names:tc:SAML:2.0:attrname-format:unspecified',
}
