// The SAML metadata of service providers, converted to clients. Keycloak: EntityDescriptorDescriptionConverter.
import type { Representation } from '../../kinds/json.ts'
import { type Element, listChildElements, parseXml } from '../../lib/xml.ts'
import { failure } from '../context/errors.ts'

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const BINDINGS = 'urn:oasis:names:tc:SAML:2.0:bindings:'

/** The attributes that hold the addresses of services, by service and binding. */
const serviceAttributes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SingleLogoutService: {
    'HTTP-POST': 'saml_single_logout_service_url_post',
    'HTTP-Redirect': 'saml_single_logout_service_url_redirect',
    SOAP: 'saml_single_logout_service_url_soap',
  },
  AssertionConsumerService: {
    'HTTP-POST': 'saml_assertion_consumer_url_post',
    'HTTP-Redirect': 'saml_assertion_consumer_url_redirect',
    'HTTP-Artifact': 'saml_artifact_binding_url',
  },
  ArtifactResolutionService: { SOAP: 'saml_artifact_resolution_service_url' },
}

/** The names of the formats of subject identifiers, by the last part of their URNs. */
const nameFormats: Readonly<Record<string, string>> = {
  emailAddress: 'email',
  persistent: 'persistent',
  transient: 'transient',
  unspecified: 'username',
}

/** The names of the formats of attributes, by the last part of their URNs. */
const attributeFormats: Readonly<Record<string, string>> = {
  basic: 'Basic',
  uri: 'URI Reference',
  unspecified: 'Unspecified',
}

/** Returns the client that the metadata of a service provider describe. Throws invalid. */
export async function parseClientMetadata(text: string): Promise<Representation> {
  const root = await parseXml(text)
  if (root?.namespaceURI !== METADATA || root.localName !== 'EntityDescriptor')
    throw failure('invalid', 'HTTP 400 Bad Request', { form: 'error' })
  const [provider] = listChildElements(root, METADATA, 'SPSSODescriptor')
  if (!provider)
    throw failure('invalid', 'No SPSSODescriptorType defined in the entity descriptor file', { form: 'error' })
  const mappers = listChildElements(provider, METADATA, 'AttributeConsumingService')
    .flatMap((service) => listChildElements(service, METADATA, 'RequestedAttribute'))
    .map(toMapper)
  return {
    clientId: root.getAttribute('entityID') ?? '',
    protocol: 'saml',
    redirectUris: listChildElements(provider, METADATA, 'AssertionConsumerService').map(getLocation),
    attributes: {
      ...getServices(provider),
      ...getKeys(provider),
      ...(isTrue(provider, 'WantAssertionsSigned') && { 'saml.assertion.signature': 'true' }),
      ...(isTrue(provider, 'AuthnRequestsSigned') && { 'saml.client.signature': 'true' }),
      'saml.authnstatement': 'true',
      'saml.server.signature': 'true',
      'saml.server.signature.keyinfo.ext': 'false',
      'saml.signature.algorithm': 'RSA_SHA256',
      saml_name_id_format: getNameFormat(provider),
    },
    fullScopeAllowed: true,
    protocolMappers: mappers,
  }
}

const getLocation = (service: Element): string => service.getAttribute('Location') ?? ''

const isTrue = (element: Element, attribute: string): boolean =>
  ['true', '1'].includes(element.getAttribute(attribute) ?? '')

/** Returns the addresses of services; of several with one binding, that of the first. */
function getServices(provider: Element): Record<string, string> {
  const entries = Object.entries(serviceAttributes).flatMap(([service, attributes]) =>
    listChildElements(provider, METADATA, service).flatMap((element): [string, string][] => {
      const attribute = attributes[(element.getAttribute('Binding') ?? '').replace(BINDINGS, '')]
      return attribute === undefined ? [] : [[attribute, getLocation(element)]]
    }),
  )
  return Object.fromEntries(entries.reverse())
}

/** Returns the certificates. Keycloak: keys without a use are ignored. */
function getKeys(provider: Element): Record<string, string> {
  const find = (use: string) =>
    listChildElements(provider, METADATA, 'KeyDescriptor')
      .filter((descriptor) => descriptor.getAttribute('use') === use)
      .flatMap((descriptor) => [...descriptor.getElementsByTagNameNS(SIGNATURE, 'X509Certificate')])
      .map((certificate) => (certificate.textContent ?? '').replace(/\s/g, ''))[0]
  const [signing, encryption] = [find('signing'), find('encryption')]
  return {
    ...(signing && { 'saml.signing.certificate': signing }),
    ...(encryption && { 'saml.encrypt': 'true', 'saml.encryption.certificate': encryption }),
  }
}

function getNameFormat(provider: Element): string {
  const [format] = listChildElements(provider, METADATA, 'NameIDFormat')
  return nameFormats[format?.textContent?.trim().split(':').at(-1) ?? ''] ?? 'username'
}

function toMapper(attribute: Element): Representation {
  const name = attribute.getAttribute('Name') ?? ''
  const friendlyName = attribute.getAttribute('FriendlyName')
  const format = attribute.getAttribute('NameFormat')?.split(':').at(-1) ?? ''
  return {
    name,
    protocol: 'saml',
    protocolMapper: 'saml-user-attribute-mapper',
    config: {
      'attribute.name': name,
      ...(friendlyName && { 'friendly.name': friendlyName }),
      'attribute.nameformat': attributeFormats[format] ?? 'Basic',
    },
  }
}
