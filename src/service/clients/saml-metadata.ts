// What the SAML metadata of another server say of it.
import type { Representation } from '../../kinds/json.ts'
import { children, type Element, readXml } from '../../lib/xml.ts'
import { failure } from '../context/errors.ts'

const METADATA = 'urn:oasis:names:tc:SAML:2.0:metadata'
const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const POST = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST'
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'
const ENTITY_CATEGORY = 'http://macedir.org/entity-category'
const HIDDEN = 'http://refeds.org/category/hide-from-discovery'

/**
 * The settings of a provider that its metadata make; none where they describe no identity provider. Throws invalid where
 * the text is no metadata. Keycloak: of several keys for encryption the last counts, of several addresses the first.
 */
export function settingsInMetadata(text: string): Representation {
  const root = readXml(text)
  const roots = ['EntityDescriptor', 'EntitiesDescriptor']
  if (root?.namespaceURI !== METADATA || !roots.includes(root.localName ?? ''))
    throw failure('invalid', 'The text is no SAML metadata')
  const [provider] = children(root, METADATA, 'IDPSSODescriptor')
  if (!provider) return {}
  const wanted = ['true', '1'].includes(provider.getAttribute('WantAuthnRequestsSigned') ?? '')
  const { signing, encryption, keyed } = keysOf(provider)
  const logIn = addressOf(provider, 'SingleSignOnService')
  const logOut = addressOf(provider, 'SingleLogoutService')
  const [artifacts] = children(provider, METADATA, 'ArtifactResolutionService')
  const [format] = children(provider, METADATA, 'NameIDFormat')
  const settings = {
    idpEntityId: root.getAttribute('entityID') ?? undefined,
    singleSignOnServiceUrl: logIn?.address,
    singleLogoutServiceUrl: logOut?.address,
    artifactResolutionServiceUrl: artifacts?.getAttribute('Location') ?? undefined,
    nameIDPolicyFormat: format?.textContent?.trim(),
    signingCertificate: signing.join(',') || undefined,
    encryptionPublicKey: encryption,
    ...(isHidden(root) && { hideOnLoginPage: 'true' }),
    wantAuthnRequestsSigned: String(wanted),
    validateSignature: String(wanted || keyed),
    postBindingAuthnRequest: String(logIn?.post === true),
    postBindingResponse: String(logIn?.post === true),
    postBindingLogout: String(logOut?.post === true),
    artifactBindingResponse: 'false',
    addExtensionsElementWithKeyInfo: 'false',
    loginHint: 'false',
    enabledFromMetadata: 'true',
  }
  return JSON.parse(JSON.stringify(settings))
}

/** Where one service is: posted to if that can be, otherwise redirected to. */
function addressOf(provider: Element, service: string): { address: string; post: boolean } | undefined {
  const all = children(provider, METADATA, service)
  const found = [POST, REDIRECT].flatMap((binding) => all.filter((one) => one.getAttribute('Binding') === binding))[0]
  if (!found) return undefined
  return { address: found.getAttribute('Location') ?? '', post: found.getAttribute('Binding') === POST }
}

function keysOf(provider: Element): { signing: string[]; encryption: string | undefined; keyed: boolean } {
  const descriptors = children(provider, METADATA, 'KeyDescriptor')
  const certificates = (use: string) =>
    descriptors
      .filter((one) => (one.getAttribute('use') ?? '') === use)
      .flatMap((one) => [...one.getElementsByTagNameNS(SIGNATURE, 'X509Certificate')])
      .map((one) => (one.textContent ?? '').replace(/\s/g, ''))
  const signing = certificates('signing')
  const forBoth = certificates('')
  return {
    signing: signing.length ? signing : forBoth.slice(-1),
    encryption: certificates('encryption').at(-1) ?? forBoth.at(-1),
    keyed: descriptors.length > 0,
  }
}

function isHidden(root: Element): boolean {
  return [...root.getElementsByTagNameNS(ASSERTION, 'Attribute')]
    .filter((one) => one.getAttribute('Name') === ENTITY_CATEGORY)
    .some((one) => [...one.getElementsByTagNameNS(ASSERTION, 'AttributeValue')].some((v) => v.textContent === HIDDEN))
}
