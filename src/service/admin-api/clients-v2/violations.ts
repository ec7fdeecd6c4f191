// The rules for clients in the API of version 2, with the messages of Keycloak. Pure.
import { clientAuthenticators } from '../../../kinds/authentication-providers.ts'
import { type Json, type Representation, readObject, readText, readTexts } from '../../../kinds/json.ts'

const NOT_BLANK = 'must not be blank'
const ELEMENT = '[].<iterable element>'

/** A rule for the length of a text or a list. */
interface Size {
  readonly min?: number
  readonly max: number
}

/** Returns the violations by a client, each as field and message. `live`: the client that it replaces. */
export function listViolations(client: Representation, live?: Representation): string[] {
  const violations = [
    ...checkText('clientId', client.clientId, { min: 1, max: 255 }),
    ...(isBlank(client.clientId) ? [`clientId: ${NOT_BLANK}`] : []),
    ...['displayName', 'description', 'appUrl'].flatMap((name) => checkText(name, client[name], { max: 255 })),
    ...(readText(client.appUrl) && !URL_PATTERN.test(String(client.appUrl)) ? ['appUrl: must be a valid URL'] : []),
    ...checkTexts('redirectUris', client.redirectUris, 100),
    ...readTexts(client.redirectUris).flatMap(findRedirectUriProblem),
    ...checkTexts('roles', client.roles, 300),
    ...checkOidcFields(client),
    ...checkSamlFields(client),
    ...(live ? checkUpdate(client, live) : []),
  ]
  return [...new Set(violations)]
}

const URL_PATTERN = /^(?:https?|ftp|file|mailto|jar):/i
const ABSOLUTE_URI = /^[a-z][a-z\d+.-]*:\/\//i
const WEB_ORIGIN = /^(?:[+*]|[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+)$/i

function findRedirectUriProblem(uri: string): string[] {
  const problems = [
    ...(uri.trim() === '' ? ['Redirect URI cannot be empty'] : []),
    ...(uri === '*' || ABSOLUTE_URI.test(uri)
      ? []
      : uri.trim() === ''
        ? []
        : ['Redirect URI must be an absolute URI (include scheme like https://) when Root URL is not set']),
  ]
  return problems.map((problem) => `redirectUris: ${problem}`)
}

function checkOidcFields(client: Representation): string[] {
  const { auth = null, serviceAccountRoles } = client
  const flows = readTexts(client.loginFlows)
  const browserFlow = ['STANDARD', 'IMPLICIT'].find((flow) => flows.includes(flow))
  const confidentialFlow = ['SERVICE_ACCOUNT', 'TOKEN_EXCHANGE'].find((flow) => flows.includes(flow))
  return [
    ...checkTexts('webOrigins', client.webOrigins, 100),
    ...(readTexts(client.webOrigins).every((origin) => WEB_ORIGIN.test(origin))
      ? []
      : [
          `webOrigins${ELEMENT}: must be a valid web origin (scheme://host[:port]), or '+' to derive from redirect URIs, or '*' to allow all`,
        ]),
    ...(browserFlow && !readTexts(client.redirectUris).length
      ? [`redirectUris: ${browserFlow} requires at least one redirect URI`]
      : []),
    ...(confidentialFlow && auth === null
      ? [`loginFlows: ${confidentialFlow} requires a confidential client (auth must be specified)`]
      : []),
    ...checkTexts('serviceAccountRoles', serviceAccountRoles, 300),
    ...(readTexts(serviceAccountRoles).length && !flows.includes('SERVICE_ACCOUNT')
      ? ['serviceAccountRoles: serviceAccountRoles can only be set when SERVICE_ACCOUNT flow is enabled']
      : []),
    ...(auth === null ? [] : checkAuth(readObject(auth))),
  ]
}

function checkAuth({ method, secret, certificate }: Representation): string[] {
  const isKnown = clientAuthenticators.has(String(method ?? ''))
  return [
    ...(isBlank(method) ? [`auth.method: ${NOT_BLANK}`] : []),
    ...(isBlank(method) || isKnown ? [] : ['auth.method: valid client authenticator type is required']),
    ...checkText('auth.secret', secret, { min: 6, max: 255 }),
    ...checkText('auth.certificate', certificate, { max: 65_536 }),
  ]
}

const CANONICALIZATION_METHODS: ReadonlySet<string> = new Set([
  'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
  'http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments',
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
  'http://www.w3.org/2006/12/xml-c14n11',
  'http://www.w3.org/2006/12/xml-c14n11#WithComments',
])

function checkSamlFields({ signatureCanonicalizationMethod: method, signingCertificate }: Representation): string[] {
  return [
    ...checkText('signingCertificate', signingCertificate, { max: 65_536 }),
    ...(typeof method === 'string' && !CANONICALIZATION_METHODS.has(method)
      ? [
          'signatureCanonicalizationMethod: must be a valid XML canonicalization method URI (see javax.xml.crypto.dsig.CanonicalizationMethod constants)',
        ]
      : []),
  ]
}

function checkUpdate({ protocol, uuid = null }: Representation, live: Representation): string[] {
  return [
    ...(protocol === live.protocol ? [] : ['protocol: protocol cannot be changed for an existing client']),
    ...(uuid === null || uuid === live.uuid ? [] : ['uuid: UUID is server-managed and must not be user-specified']),
  ]
}

function isBlank(value: Json | undefined): boolean {
  return (readText(value) ?? '').trim() === ''
}

function checkText(field: string, value: Json | undefined, { min = 0, max }: Size): string[] {
  const text = readText(value)
  if (text === undefined || (text.length >= min && text.length <= max)) return []
  return [`${field}: size must be between ${min} and ${max}`]
}

function checkTexts(field: string, value: Json | undefined, max: number): string[] {
  const texts = readTexts(value)
  return [
    ...(texts.length > max ? [`${field}: size must be between 0 and ${max}`] : []),
    ...texts.flatMap((text) => [
      ...(isBlank(text) ? [`${field}${ELEMENT}: ${NOT_BLANK}`] : []),
      ...checkText(`${field}${ELEMENT}`, text, { max: 255 }),
    ]),
  ]
}
