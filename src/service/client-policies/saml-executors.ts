// The executors of client policies about SAML clients.
import { type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { isSet } from './policy-conditions.ts'
import type { ClientViolation } from './policy-event.ts'

const isSaml = ({ protocol }: Representation): boolean => protocol === 'saml'
const violation = (message: string, field: string): ClientViolation => ({
  error: 'invalid_client_metadata',
  message,
  field,
})

/** Checks that a SAML client sends and gets its messages by POST. */
export function checkSamlBinding(client: Representation): ClientViolation | undefined {
  const isForced = isSet(readObject(client.attributes)['saml.force.post.binding'])
  return isForced || !isSaml(client)
    ? undefined
    : violation('Force POST binding is not enabled', 'attributes.saml.force.post.binding')
}

/** Checks that a SAML client signs its requests, and gets signed documents or assertions. */
export function checkSamlSignatures(client: Representation): ClientViolation | undefined {
  if (!isSaml(client)) return undefined
  const attributes = readObject(client.attributes)
  const isSigned = ['saml.server.signature', 'saml.assertion.signature'].some((name) => isSet(attributes[name]))
  if (isSigned && isSet(attributes['saml.client.signature'])) return undefined
  return violation(
    'Signatures not ensured for the client. Ensure Client signature required and Sign documents or Sign assertions are ON',
    isSigned ? 'attributes.saml.client.signature' : 'attributes.saml.server.signature',
  )
}

// With the names that Keycloak's errors have for them.
const urls: readonly (readonly [field: string, label: string])[] = [
  ['rootUrl', 'Root URL'],
  ['adminUrl', 'Master SAML Processing URL'],
  ['baseUrl', 'Home URL'],
  ['attributes.saml_assertion_consumer_url_post', 'Assertion Consumer Service POST Binding URL'],
  ['attributes.saml_assertion_consumer_url_redirect', 'Assertion Consumer Service Redirect Binding URL'],
  ['attributes.saml_artifact_binding_url', 'Artifact Binding URL'],
  ['attributes.saml_single_logout_service_url_post', 'Logout Service POST Binding URL'],
  ['attributes.saml_single_logout_service_url_artifact', 'Logout Service ARTIFACT Binding URL'],
  ['attributes.saml_single_logout_service_url_redirect', 'Logout Service Redirect Binding URL'],
  ['attributes.saml_single_logout_service_url_soap', 'Logout Service SOAP Binding URL'],
  ['attributes.saml_artifact_resolution_service_url', 'Artifact Resolution Service'],
]

/** Checks that the URLs of a SAML client are HTTPS, and that no redirect URI has a wildcard, unless those are allowed. */
export function checkSamlUris(configuration: Representation, client: Representation): ClientViolation | undefined {
  if (!isSaml(client)) return undefined
  const attributes = readObject(client.attributes)
  for (const [field, label] of urls) {
    const url = client[field] ?? attributes[field.slice('attributes.'.length)] ?? ''
    if (url !== '' && !isHttps(String(url))) return violation(`Non secure scheme for ${label}`, field)
  }
  for (const uri of readTexts(client.redirectUris)) {
    if (!uri.startsWith('/') && !isHttps(uri))
      return violation('Non secure scheme for Valid redirect URIs', 'redirectUris')
    if (uri.includes('*') && !isSet(configuration['allow-wildcard-redirects']))
      return violation(`Unsecure wildcard redirect ${uri} for Valid redirect URIs`, 'redirectUris')
  }
  return undefined
}

const isHttps = (uri: string): boolean => /^https:\/\//i.test(uri)
