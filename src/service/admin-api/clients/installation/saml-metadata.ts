// The SAML metadata of clients and of realms. SAML 2.0 Metadata, sections 2.3 and 2.4.
import { randomUUID } from 'node:crypto'
import { renderElement } from '../../../../lib/xml.ts'
import { getRealmAddress, type InstalledClient } from './installed-client.ts'

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
const BINDINGS = 'urn:oasis:names:tc:SAML:2.0:bindings:'
const NAMESPACES = {
  xmlns: METADATA,
  'xmlns:md': METADATA,
  'xmlns:saml': 'urn:oasis:names:tc:SAML:2.0:assertion',
  'xmlns:ds': 'http://www.w3.org/2000/09/xmldsig#',
}
/** The formats of subject identifiers, by their names in Keycloak. */
const NAME_FORMATS: Readonly<Record<string, string>> = {
  persistent: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
  transient: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient',
  username: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  email: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
}
/** Keycloak: the address of a service that a client lacks. */
const NOT_SET = 'ERROR:ENDPOINT_NOT_SET'

/** Returns the metadata of a client as a service provider. */
export function renderClientMetadata({ client, attributes }: InstalledClient): string {
  const isOn = (name: string) => attributes[name] === 'true'
  const binding = isOn('saml.force.post.binding') ? 'HTTP-POST' : 'HTTP-Redirect'
  const usesArtifacts = isOn('saml.artifact.binding')
  const suffix = binding === 'HTTP-POST' ? 'post' : 'redirect'
  const getAddress = (name: string) => attributes[name] ?? client.adminUrl ?? NOT_SET
  const consumer = usesArtifacts ? 'saml_artifact_binding_url' : `saml_assertion_consumer_url_${suffix}`
  const content = [
    ...(isOn('saml.client.signature') ? [renderKey('signing', attributes['saml.signing.certificate'])] : []),
    ...(isOn('saml.encrypt') ? [renderKey('encryption', attributes['saml.encryption.certificate'])] : []),
    renderService('SingleLogoutService', binding, String(getAddress(`saml_single_logout_service_url_${suffix}`))),
    renderElement('md:NameIDFormat', {}, [
      NAME_FORMATS[attributes.saml_name_id_format ?? ''] ?? NAME_FORMATS.username!,
    ]),
    renderService('AssertionConsumerService', usesArtifacts ? 'HTTP-Artifact' : binding, String(getAddress(consumer)), {
      isDefault: 'true',
      index: '1',
    }),
  ]
  const description = renderElement(
    'md:SPSSODescriptor',
    {
      protocolSupportEnumeration: PROTOCOL,
      AuthnRequestsSigned: String(isOn('saml.client.signature')),
      WantAssertionsSigned: String(isOn('saml.assertion.signature')),
    },
    content,
  )
  const identity = { entityID: String(client.clientId), ID: `ID_${randomUUID()}` }
  return renderElement('md:EntityDescriptor', { ...NAMESPACES, ...identity }, [description])
}

/** Returns the metadata of a realm as an identity provider. */
export function renderRealmMetadata(installed: InstalledClient): string {
  const address = getRealmAddress(installed)
  const endpoint = `${address}/protocol/saml`
  const services = (name: string, bindings: readonly string[]) =>
    bindings.map((binding) => renderService(name, binding, endpoint))
  const content = [
    ...installed.certificates.map(({ kid, certificate }) => renderKey('signing', certificate, kid)),
    renderService('ArtifactResolutionService', 'SOAP', `${endpoint}/resolve`, { index: '0' }),
    ...services('SingleLogoutService', ['HTTP-POST', 'HTTP-Redirect', 'HTTP-Artifact', 'SOAP']),
    ...Object.values(NAME_FORMATS).map((format) => renderElement('md:NameIDFormat', {}, [format])),
    ...services('SingleSignOnService', ['HTTP-POST', 'HTTP-Redirect', 'SOAP', 'HTTP-Artifact']),
  ]
  const description = renderElement(
    'md:IDPSSODescriptor',
    { WantAuthnRequestsSigned: 'true', protocolSupportEnumeration: PROTOCOL },
    content,
  )
  return renderElement('md:EntityDescriptor', { ...NAMESPACES, entityID: address }, [description])
}

function renderService(
  name: string,
  binding: string,
  location: string,
  attributes: Record<string, string> = {},
): string {
  return renderElement(`md:${name}`, { Binding: `${BINDINGS}${binding}`, Location: location, ...attributes })
}

function renderKey(use: 'signing' | 'encryption', certificate = '', name?: string): string {
  const data = renderElement('ds:X509Data', {}, [renderElement('ds:X509Certificate', {}, [certificate])])
  const names = name === undefined ? [] : [renderElement('ds:KeyName', {}, [name])]
  return renderElement('md:KeyDescriptor', { use }, [renderElement('ds:KeyInfo', {}, [...names, data])])
}
