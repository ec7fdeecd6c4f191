// The SAML metadata of identity providers.
import type { Representation } from '../../kinds/json.ts'
import { type Element, listChildElements, parseXml } from '../../lib/xml.ts'
import { failure } from '../context/errors.ts'

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
const ENTITY_CATEGORY = 'http://macedir.org/entity-category'
const HIDDEN = 'http://refeds.org/category/hide-from-discovery'

/**
 * Returns the config of an identity provider from its metadata; empty if they do not describe one. Keycloak: of several
 * encryption keys the last is used, of several services the first.
 *
 * @throws invalid where the text is not SAML metadata.
 */
export async function parseIdentityProviderMetadata(text: string): Promise<Representation> {
  const root = await parseXml(text)
  const roots = ['EntityDescriptor', 'EntitiesDescriptor']
  if (root?.namespaceURI !== METADATA || !roots.includes(root.localName ?? ''))
    throw failure('invalid', 'The text is not SAML metadata')
  const [provider] = listChildElements(root, METADATA, 'IDPSSODescriptor')
  if (!provider) return {}
  const wantsSignedRequests = ['true', '1'].includes(provider.getAttribute('WantAuthnRequestsSigned') ?? '')
  const { signing, encryption, hasKeys } = getKeys(provider)
  const signOn = findService(provider, 'SingleSignOnService')
  const logout = findService(provider, 'SingleLogoutService')
  const [artifacts] = listChildElements(provider, METADATA, 'ArtifactResolutionService')
  const [format] = listChildElements(provider, METADATA, 'NameIDFormat')
  const config = {
    idpEntityId: root.getAttribute('entityID') ?? undefined,
    singleSignOnServiceUrl: signOn?.location,
    singleLogoutServiceUrl: logout?.location,
    artifactResolutionServiceUrl: artifacts?.getAttribute('Location') ?? undefined,
    nameIDPolicyFormat: format?.textContent?.trim(),
    signingCertificate: signing.join(',') || undefined,
    encryptionPublicKey: encryption,
    ...(isHidden(root) && { hideOnLoginPage: 'true' }),
    wantAuthnRequestsSigned: String(wantsSignedRequests),
    validateSignature: String(wantsSignedRequests || hasKeys),
    postBindingAuthnRequest: String(signOn?.usesPost === true),
    postBindingResponse: String(signOn?.usesPost === true),
    postBindingLogout: String(logout?.usesPost === true),
    artifactBindingResponse: 'false',
    addExtensionsElementWithKeyInfo: 'false',
    loginHint: 'false',
    enabledFromMetadata: 'true',
  }
  return JSON.parse(JSON.stringify(config))
}

/** Returns the location of a service, with the POST binding if it has one, otherwise with the redirect binding. */
function findService(provider: Element, name: string): { location: string; usesPost: boolean } | undefined {
  const services = listChildElements(provider, METADATA, name)
  const [service] = [POST, REDIRECT].flatMap((binding) =>
    services.filter((element) => element.getAttribute('Binding') === binding),
  )
  if (!service) return undefined
  return { location: service.getAttribute('Location') ?? '', usesPost: service.getAttribute('Binding') === POST }
}

function getKeys(provider: Element): { signing: string[]; encryption: string | undefined; hasKeys: boolean } {
  const descriptors = listChildElements(provider, METADATA, 'KeyDescriptor')
  const certificates = (use: string) =>
    descriptors
      .filter((descriptor) => (descriptor.getAttribute('use') ?? '') === use)
      .flatMap((descriptor) => [...descriptor.getElementsByTagNameNS(SIGNATURE, 'X509Certificate')])
      .map((certificate) => (certificate.textContent ?? '').replace(/\s/g, ''))
  const signing = certificates('signing')
  const forBoth = certificates('')
  return {
    signing: signing.length ? signing : forBoth.slice(-1),
    encryption: certificates('encryption').at(-1) ?? forBoth.at(-1),
    hasKeys: descriptors.length > 0,
  }
}

function isHidden(root: Element): boolean {
  return [...root.getElementsByTagNameNS(ASSERTION, 'Attribute')]
    .filter((attribute) => attribute.getAttribute('Name') === ENTITY_CATEGORY)
    .flatMap((attribute) => [...attribute.getElementsByTagNameNS(ASSERTION, 'AttributeValue')])
    .some((value) => value.textContent === HIDDEN)
}
